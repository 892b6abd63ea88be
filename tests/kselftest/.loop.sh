#!/bin/bash
set -e
export PATH=$PATH:/usr/sbin
modprobe rdma_rxe 2>/dev/null || true
ip link add lab0 type dummy; ip addr add 10.0.7.1/24 dev lab0; ip link set lab0 up; rdma link add rxe0 type rxe netdev lab0
mkdir -p /run/lock/iscsi; echo InitiatorName=iqn.2025-01.org.example:i > /etc/iscsi/initiatorname.iscsi; pgrep iscsid >/dev/null || iscsid
modprobe target_core_mod 2>/dev/null || true
T=/sys/kernel/config/target
mkdir -p $T/core/rd_mcp_0/disk; echo rd_pages=16384 > $T/core/rd_mcp_0/disk/control; echo 1 > $T/core/rd_mcp_0/disk/enable
mkdir -p $T/iscsi; I=$T/iscsi/iqn.2025-01.org.example:t
MOD=/mnt/lio-iser-build/lio_iser.ko
echo 1 > /proc/sys/kernel/sysrq
( sleep ${DUMP:-60}; echo w > /proc/sysrq-trigger; echo "DUMP" ) &
dumper=$!
for i in $(seq ${N:-10}); do
  insmod $MOD
  mkdir -p $I/tpgt_1/np/10.0.7.1:3260 $I/tpgt_1/lun/lun_0; ln -s $T/core/rd_mcp_0/disk $I/tpgt_1/lun/lun_0/x
  echo 1 > $I/tpgt_1/np/10.0.7.1:3260/iser
  for a in authentication:0 generate_node_acls:1 demo_mode_write_protect:0 cache_dynamic_acls:1; do echo ${a#*:} > $I/tpgt_1/attrib/${a%:*}; done
  echo 1 > $I/tpgt_1/enable
  iscsiadm -m discovery -t st -p 10.0.7.1 -I iser >/dev/null
  iscsiadm -m node --login >/dev/null
  sleep 0.2; d=$(ls -d /sys/class/iscsi_session/*/device/target*/*/block/* | head -1); d=/dev/${d##*/}
  dd if=/dev/zero of=$d bs=64k count=16 oflag=direct 2>/dev/null
  dd if=$d of=/dev/null bs=1M count=16 iflag=direct 2>/dev/null
  iscsiadm -m node --logout >/dev/null
  echo 0 > $I/tpgt_1/enable
  echo 0 > $I/tpgt_1/np/10.0.7.1:3260/iser
  rmdir $I/tpgt_1/np/10.0.7.1:3260; rm $I/tpgt_1/lun/lun_0/x; rmdir $I/tpgt_1/lun/lun_0 $I/tpgt_1 $I
  cat /sys/kernel/debug/lio_iser/connections
  rmmod lio_iser
  echo "round $i $(cut -d' ' -f1 /proc/uptime)"
done
rdma resource
dmesg | grep -E "WARN|BUG|lio_iser" | tail -5
kill $dumper
