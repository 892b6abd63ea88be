# SPDX-License-Identifier: GPL-2.0
#
#   make                  build lio_iser.ko for the running kernel
#   make help             all else

# Which kernel to build for: its release, or its build folder.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

MODPROBE_CONF := $(DESTDIR)/etc/modprobe.d/lio_iser.conf

# pahole cannot describe C++ types in BTF, and stops the build over them.
KBUILD := $(MAKE) -C $(KDIR) M=$(CURDIR) CONFIG_DEBUG_INFO_BTF_MODULES=

modules clean:
	+$(KBUILD) $@

# Under updates/, which depmod prefers to what came with the kernel.
modules_install: modules
	+$(KBUILD) INSTALL_MOD_DIR=updates \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) $@

# LIO asks for "ib_isert" when a portal is switched to iSER.
install: modules_install
	install -d $(dir $(MODPROBE_CONF))
	echo 'alias ib_isert lio_iser' > $(MODPROBE_CONF)
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KVER)

uninstall:
	rm -f $(MODPROBE_CONF)
	rm -f $(DESTDIR)/lib/modules/$(KVER)/updates/lio_iser.ko*
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KVER)

check:
	tests/check.sh

demo:
	tests/demo/demo.sh

# RUNS="tgt-rxe-uml ..." makes only these again.
conformance:
	tests/conformance/all $(RUNS)

# ROUNDS=12 is half as long, and half again as uncertain.
speed:
	tests/speed/side_by_side $(ROUNDS)

help:
	@echo 'modules          lio_iser.ko for KVER ($(KVER)), the default'
	@echo 'install          module, modprobe alias of ib_isert, depmod; DESTDIR'
	@echo '                 is obeyed'
	@echo 'uninstall        undo install'
	@echo 'modules_install  the module only'
	@echo 'check            all tests, none of which touches this system'
	@echo 'conformance      Documentation/conformance.md, of this target and'
	@echo '                 two others'
	@echo 'speed            lio_iser beside ib_isert in User Mode Linux'
	@echo 'demo             a target and an initiator in a virtual machine'
	@echo 'clean            remove what modules built'
	@echo
	@echo 'KVER=release or KDIR=folder choose the kernel; CC, ARCH, W, C, V and'
	@echo 'KCFLAGS are passed on to its build system.'

.PHONY: modules modules_install install uninstall clean check demo \
	conformance speed help
