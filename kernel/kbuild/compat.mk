# SPDX-License-Identifier: GPL-2.0
#
# What this kernel offers, found by compiling, for distributions backport:
# each kernel/linux/compat/X.c that compiles makes COMPAT_X 1, else 0, in the
# generated linux/compat/config.h.  A probe says in its first comment what for.
# All run again when a probe, the compiler or its flags change.

compat-probes := $(sort $(wildcard $(src)/kernel/linux/compat/*.c))

quiet_cmd_compat = PROBE   $@
      cmd_compat = {							\
	echo "/* Generated: what the kernel offers; see $(notdir $(<D)). */"; \
	$(foreach probe,$(compat-probes),				\
	if $(CC) $(c_flags) -Werror -c -o $(@D)/.probe.o $(probe)	\
		2>/dev/null; then have=1; else have=0; fi;		\
	echo "$(pound)define COMPAT_$(shell echo $(basename $(notdir $(probe))) | \
		tr a-z A-Z) $$have";)					\
	rm -f $(@D)/.probe.o $(depfile); } > $@

$(obj)/kernel/linux/compat/config.h: $(compat-probes)			\
		$(objtree)/include/generated/autoconf.h FORCE
	$(call if_changed,compat)

targets += kernel/linux/compat/config.h
clean-files += kernel/linux/compat/config.h
$(addprefix $(obj)/,$(lio_iser-c)): $(obj)/kernel/linux/compat/config.h
