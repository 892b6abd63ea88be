#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An iSER target and its initiator in a virtual machine with Debian's own
# kernel 6.1, from the build of the module to its unloading.  Installs what it
# lacks, touches nothing else on this system, and keeps what takes long in a
# cache folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# "say" and "die", the cache and the checkout.
# shellcheck source=SCRIPTDIR/../lab/common.sh
. "$here/../lab/common.sh"
# shellcheck source=SCRIPTDIR/../lab/kernels.sh
. "$lab_dir/kernels.sh"

series=6.1
out=$cache/demo
log=$out/host.log
copy=$cache/build/$series

now()
{
	echo "${EPOCHREALTIME/./}"
}

# tenths SINCE: "12.3"
tenths()
{
	local took

	took=$((($(now) - $1) / 100000))
	echo $((took / 10)).$((took % 10))
}

# step WORDS COMMAND...: one line for it when it is done; its own lines of
# progress, on standard error, are shown as they come.
step()
{
	local words=$1 start status

	start=$(now)
	shift
	# Not as a condition: there bash does not stop at the first failure.
	set +e
	(set -e; "$@") > "$log"
	status=$?
	set -e
	if [ $status != 0 ]; then
		printf '  \xe2\x9c\x97 %-60s %6s s\n' "$words" "$(tenths "$start")"
		tail -n 30 "$log" | sed 's/^/    /'
		failed "$words"
	fi
	printf '  \xe2\x9c\x93 %-60s %6s s\n' "$words" "$(tenths "$start")" |
		tee -a "$out/host-steps"
}

failed()
{
	echo
	echo "The demo failed in this step: $1"
	echo "Everything that was said is in $out"
	exit 1
}

# A machine may never have asked its mirror what there is.
package_lists()
{
	[ ! -s "$cache/versions/$series" ] || return 0
	apt-cache policy linux-image-amd64 | grep -q 'Candidate: [0-9]' ||
		apt-get -q update
}

prepare()
{
	"$lab_dir/packages" make kmod
	package_lists
	"$lab_dir/prepare" "$series"
}

build()
{
	"$lab_dir/build" "$series" 2>&1
}

# "make install" for the guest: into a copy of its modules, because depmod
# takes a minute in an emulated machine and a second here.
stage()
{
	local release made tree=$out/stage

	release=$(stock_release "$series")
	made=$(kernel_folder "$series")
	rm -rf "$tree"
	mkdir -p "$tree/lib/modules"
	cp -al "$made/root/usr/lib/modules/$release" "$tree/lib/modules/"
	# Not the copies that share their bytes with the original.
	find "$tree/lib/modules/$release" -maxdepth 1 -type f \
		-name 'modules.*' -exec sh -c \
		'cp "$1" "$1.copy" && mv "$1.copy" "$1"' sh {} \;
	# The options of the build, or it would all be built again.
	with_lock "build-$series" make -C "$copy" W=1 KCFLAGS=-Werror \
		"KVER=$release" "DESTDIR=$tree" install 2>&1
}

run_guest()
{
	local status=0

	"$lab_dir/lab" "$series" --timeout 480 --out "$out" \
		-- tests/demo/guest.sh || status=$?
	[ $status = 0 ] || failed "in the virtual machine, exit code $status"
}

fact()
{
	sed -n "s/^$1=//p" "$out/facts"
}

rate()
{
	awk -v name="$1" -v words="$2" '$1 == name {
		printf "    %-14s %7d IOPS %9.2f MB/s\n", words, $2, $3 }' \
		"$out/rates"
}

last_screen()
{
	cat <<- END

	======================================================================
	lio_iser on Debian's kernel $(fact kernel): everything worked

	$(cat "$out/host-steps" "$out/steps")

	  Verified: $(fact files) files through ext4, $(fact verified_mib) MiB by fio with crc32c.

	  Throughput here, where every instruction of two processors is
	  emulated and RDMA is done in software (fio, 16 at once):
	$(rate 4k-read '4 KiB read')
	$(rate 4k-write '4 KiB write')
	$(rate 128k-read '128 KiB read')
	$(rate 128k-write '128 KiB write')

	  Memory per idle connection, the target's and the initiator's end
	  with what rxe keeps for both: $(fact session_kib) KiB

	On your own machine, as root (10.0.0.1: its address; eth0: its card)
	  apt-get install gcc g++ make linux-headers-amd64 targetcli-fb
	  make && make install
	  rdma link add rxe0 type rxe netdev eth0   # without an RDMA adapter
	  targetcli <<- TARGET
	    /backstores/block create disk /dev/sdX
	    /iscsi create $(fact iqn)
	    cd /iscsi/$(fact iqn)/tpg1
	    portals/ delete 0.0.0.0 3260
	    portals/ create 10.0.0.1
	    portals/10.0.0.1:3260 enable_iser true
	    luns/ create /backstores/block/disk
	    acls/ create INITIATOR-NAME
	  TARGET
	and on the machine that uses the disk
	  apt-get install open-iscsi rdma-core
	  cat /etc/iscsi/initiatorname.iscsi        # the INITIATOR-NAME above
	  iscsiadm -m discovery -t sendtargets -p 10.0.0.1 -I iser
	  iscsiadm -m node -T $(fact iqn) -p 10.0.0.1 --login
	======================================================================
	END
	printf 'The demo took %d s.\n' $((SECONDS - started))
}

# A function, so that the script may change while it runs.
main()
{
	[ "$(id -u)" = 0 ] || die "root is needed, to install packages"
	mkdir -p "$out"
	rm -f "$out"/{host-steps,steps,facts,rates,log,kernel}
	echo "lio_iser: an iSER target and its initiator in a virtual machine."
	echo "The first run fetches and makes what later runs find: 5 to 10" \
		"minutes, later 1 to 2."
	step "Debian's kernel $series and a root image" prepare
	step 'module built, warnings are errors' build
	step 'make install, for the virtual machine' stage
	echo '  starting the virtual machine, 15 to 30 s'
	run_guest
	last_screen
}

main "$@"
