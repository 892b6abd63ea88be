# SPDX-License-Identifier: GPL-2.0
# Makes the kernels of the lab.  Each is a folder of the cache with
#   root/usr/lib/modules/VERSION   its modules, siw among them
#   modules.ext4                   the same as a disk of the guest
#   linux                          User Mode Linux: the program, and its build
#                                  tree in build/
#   vmlinuz, initrd                Debian's kernels
# shellcheck shell=bash disable=SC2154 # lab_dir and cache: common.sh

# Raise them when the functions below make something else from the same input.
uml_recipe=3
stock_recipe=1

build_packages=(gcc g++ make bc bison flex libelf-dev libssl-dev rsync kmod
	e2fsprogs xz-utils)

# Debian's sources

newest() {
	apt-cache policy "$1" | sed -n 's/^  Candidate: //p'
}

newest_source() {
	newest "linux-source-$source_series"
}

source_version() {
	local source_series=$1
	pinned "source-$1" newest_source
}

unpack_source() {
	local series=$1 tree=$2 version=$3 work
	[ ! -e "$tree/.lab-done" ] || return 0
	"$lab_dir/packages" "linux-source-$series=$version" xz-utils
	if [ -d "$tree" ] &&
	   [ "$(make -s -C "$tree" kernelversion)" = "${version%%-*}" ]; then
		say "taking the Linux source that is unpacked already"
	else
		say "unpacking the Linux $series source, half a minute, once"
		work=$(mktemp -d "$cache/source.XXXXXX")
		tar -C "$work" -xf "/usr/src/linux-source-$series.tar.xz"
		rm -rf "$tree"
		mv "$work/linux-source-$series" "$tree"
		rmdir "$work"
	fi
	echo "$version" > "$tree/.lab-done"
}

# User Mode Linux

# change FILE FROM TO: replaces one line's text, once.
change() {
	grep -qF "$3" "$1" && return 0
	sed -i "s/$2/${3//&/\\&}/" "$1"
	grep -qF "$3" "$1" || die "$1 is not as expected"
}

adapt_source() {
	local um=$1/arch
	# The signal frame of a host with a large processor state (AMX) does
	# not fit.
	change "$um/x86/um/user-offsets.c" 'HOST_FP_SIZE, 2696' \
		'HOST_FP_SIZE, 12288'
	# The kernel's own mappings: tell the host about what changed, and not
	# about all of the vmalloc area at each vfree, which takes minutes once
	# it is large.
	change "$um/um/kernel/tlb.c" \
		'if (!pte_present(\*pte) || pte_newpage(\*pte)) {' \
		'if (pte_newpage(*pte)) { *pte = pte_mkuptodate(*pte);'
	change "$um/um/kernel/tlb.c" '^			if (pmd_newpage(\*pmd)) {' \
		'			if (pmd_newpage(*pmd)) { pmd_mkuptodate(*pmd);'
	change "$um/um/kernel/tlb.c" '^			if (pud_newpage(\*pud)) {' \
		'			if (pud_newpage(*pud)) { pud_mkuptodate(*pud);'
	# A fault maps the pages around it for the guest's process; tell the
	# host about all of them, because each fault costs four switches
	# between processes of the host.
	change "$um/um/kernel/trap.c" 'flush_tlb_page(vma, address);' \
		'flush_tlb_range(vma, max(vma->vm_start, address & ~0xffffUL), min(vma->vm_end, (address | 0xffffUL) + 1));'
}

fragments() {
	echo "$lab_dir/uml-fragment.config"
	[ "$1" = uml ] || echo "$lab_dir/$1-fragment.config"
}

configure_uml() {
	local name=$1 tree=$2 build=$3 files line
	mapfile -t files < <(fragments "$name")
	make -s -C "$tree" "O=$build" ARCH=um x86_64_defconfig
	"$tree/scripts/kconfig/merge_config.sh" -m -O "$build" \
		"$build/.config" "${files[@]}"
	make -s -C "$tree" "O=$build" ARCH=um olddefconfig
	# Kconfig drops silently what it cannot have.
	grep -h '^CONFIG_' "${files[@]}" |
		awk -F= '{ want[$1] = $0 } END { for (n in want) print want[n] }' |
		while read -r line; do
			case $line in
			*=n) ! grep -q "^${line%=n}=" "$build/.config" ;;
			*) grep -qx "$line" "$build/.config" ;;
			esac || die "the kernel's configuration lacks $line"
		done
}

build_uml() {
	local name=$1 tree=$2 folder=$3 log=$3/log
	say "building the $name kernel, about 10 minutes on two cores, once"
	mkdir -p "$folder/build"
	quietly "$log" configure_uml "$name" "$tree" "$folder/build"
	# Checking each object's exported symbols for being static is for who
	# changes the kernel; here it costs a tenth of the time.
	quietly "$log" make -s -C "$folder/build" ARCH=um "-j$(nproc)" \
		cmd_check_local_export=: linux modules
	quietly "$log" make -s -C "$folder/build" ARCH=um \
		"INSTALL_MOD_PATH=$folder/root/usr" modules_install
	rm -f "$folder"/root/usr/lib/modules/*/{build,source}
	ln -f "$folder/build/linux" "$folder/linux"
}

make_uml() {
	local name=$1 version=$2 folder=$3 tree=$cache/linux-source-6.1
	[ ! -e "$folder" ] || return 0
	"$lab_dir/packages" "${build_packages[@]}"
	with_lock source-6.1 unpack_source 6.1 "$tree" "$version"
	adapt_source "$tree"
	# An interrupted build goes on where it was.
	build_uml "$name" "$tree" "$folder.partial"
	modules_disk "$folder.partial"
	mv "$folder.partial" "$folder"
}

uml_folder() {
	local name=$1 version key files
	version=$(source_version 6.1)
	mapfile -t files < <(fragments "$name")
	key=$(digest $uml_recipe "$version" "$(gcc -dumpfullversion)" \
		"$(cat "${files[@]}")")
	with_lock "$name" make_uml "$name" "$version" "$cache/$name-$key"
	echo "$cache/$name-$key"
}

# Debian's kernels

newest_6_1() {
	apt-cache depends linux-image-amd64 |
		sed -n 's/.*Depends: linux-image-\(6\.1\..*\)/\1/p'
}

newest_6_12() {
	apt-cache search --names-only \
		'^linux-image-6\.12\..*deb12-amd64-unsigned$' |
		sed 's/^linux-image-\(.*\)-unsigned .*/\1/' | sort -V | tail -n 1
}

# The release (uname -r) that stands for a series.
stock_release() {
	pinned "$1" "newest_${1//./_}"
}

image_package() {
	case $1 in
	6.1.*) echo "linux-image-$1" ;;
	*) echo "linux-image-$1-unsigned" ;;
	esac
}

# siw is in the kernel's source but not in Debian's kernels.
build_siw() {
	local series=$1 release=$2 folder=$3 version siw
	version=$(source_version "$series")
	siw=drivers/infiniband/sw/siw
	mkdir -p "$folder/siw"
	if [ -e "$cache/linux-source-$series/.lab-done" ]; then
		cp -a "$cache/linux-source-$series/$siw/." "$folder/siw"
	else
		"$lab_dir/packages" "linux-source-$series=$version" xz-utils
		tar -C "$folder/siw" --strip-components=5 \
			-xf "/usr/src/linux-source-$series.tar.xz" \
			"linux-source-$series/$siw"
	fi
	make -s -C "/lib/modules/$release/build" "M=$folder/siw" \
		CONFIG_RDMA_SIW=m CONFIG_DEBUG_INFO_BTF_MODULES= modules
	install -D -m 644 -t "$folder/root/usr/lib/modules/$release/updates" \
		"$folder/siw/siw.ko"
}

# What it takes until the root is mounted and the command's output flows, what
# the guest's first program mounts, and the drivers of SCSI disks, which udev
# would load.
initrd_modules=(virtio_pci virtio_blk virtio_net virtio_rng virtio_console
	ext4 overlay 9pnet_virtio 9p configfs sd_mod sg)

build_initrd() {
	local release=$1 folder=$2 work=$2/initrd.d n=0 file name
	mkdir -p "$work/modules"
	for name in "${initrd_modules[@]}"; do
		modprobe -d "$folder/root/usr" -S "$release" \
			--show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r file; do
			n=$((n + 1))
			name=$(printf '%02d-%s' $n "$(basename "$file")")
			case $file in
			*.xz) xz -dc "$file" > "$work/modules/${name%.xz}" ;;
			*) cp "$file" "$work/modules/$name" ;;
			esac
		done
	pack_initrd "$work" "$folder/initrd"
	rm -rf "$work"
}

unpack_stock() {
	local release=$1 folder=$2
	(cd "$folder" && apt-get -q download "$(image_package "$release")")
	dpkg -x "$folder"/linux-image-*.deb "$folder/image"
	rm -f "$folder"/linux-image-*.deb
	mv "$folder/image/boot/vmlinuz-$release" "$folder/vmlinuz"
	mkdir -p "$folder/root/usr"
	mv "$folder/image/lib" "$folder/root/usr/lib"
	rm -rf "$folder/image"
}

make_stock() {
	local series=$1 release=$2 folder=$3
	[ ! -e "$folder" ] || return 0
	"$lab_dir/packages" "${build_packages[@]}" qemu-system-x86 seabios \
		cpio "linux-headers-$release"
	rm -rf "$folder.partial"
	mkdir "$folder.partial"
	say "fetching Debian's kernel $release, once"
	quietly "$folder.partial/log" unpack_stock "$release" "$folder.partial"
	say "building siw for it"
	quietly "$folder.partial/log" build_siw "$series" "$release" \
		"$folder.partial"
	depmod -b "$folder.partial/root/usr" "$release"
	quietly "$folder.partial/log" build_initrd "$release" "$folder.partial"
	modules_disk "$folder.partial"
	mv "$folder.partial" "$folder"
}

stock_folder() {
	local series=$1 release key
	release=$(stock_release "$series")
	key=$(digest $stock_recipe "${initrd_modules[@]}")
	with_lock "$series" make_stock "$series" "$release" \
		"$cache/$release-$key"
	echo "$cache/$release-$key"
}

# Any

modules_disk() {
	local folder=$1 size
	size=$(du -sm "$folder/root" | cut -f 1)
	quietly "$folder/log" mke2fs -q -t ext4 -m 0 -O ^has_journal \
		-d "$folder/root" "$folder/modules.ext4" \
		"$((size * 5 / 4 + 16))M"
}

# pack_initrd FOLDER FILE
pack_initrd() {
	(cd "$1" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) > "$2"
}

# The first program of every guest: root/init for User Mode Linux, which has
# that folder as its first root, and initrd for QEMU.
make_guest_init() {
	local folder=$1
	[ ! -e "$folder" ] || return 0
	"$lab_dir/packages" gcc libc6-dev cpio
	rm -rf "$folder.partial"
	mkdir -p "$folder.partial"/root/{dev,proc,layers}
	gcc -static -O2 -Wall -Wextra -Wno-unused-result \
		-o "$folder.partial/root/init" "$lab_dir/guest-init.c"
	pack_initrd "$folder.partial/root" "$folder.partial/initrd"
	mv "$folder.partial" "$folder"
}

guest_init_folder() {
	local folder
	folder=$cache/guest-init-$(digest "$(cat "$lab_dir/guest-init.c")")
	with_lock guest-init make_guest_init "$folder"
	echo "$folder"
}

kernel_folder() {
	case $1 in
	uml*) uml_folder "$1" ;;
	*) stock_folder "$1" ;;
	esac
}
