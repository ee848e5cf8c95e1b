# SPDX-License-Identifier: BSD-2-Clause
#
# For directories whose programs run in the guest: name them in
# noinst_PROGRAMS (and scripts in dist_noinst_SCRIPTS, what they preload in noinst_DATA)
# and include this file.

guestdir = $(libexecdir)/omx/tests

install-tests: all
	$(MKDIR_P) $(DESTDIR)$(guestdir)
	@for p in $(noinst_PROGRAMS); do \
		$(LIBTOOL) --silent --mode=install $(INSTALL_PROGRAM) $$p \
			$(DESTDIR)$(guestdir)/ || exit 1; \
	done
	@for s in $(dist_noinst_SCRIPTS); do \
		$(INSTALL_SCRIPT) $(srcdir)/$$s $(DESTDIR)$(guestdir)/ || exit 1; \
	done
	@for d in $(noinst_DATA); do \
		$(INSTALL_DATA) $$d $(DESTDIR)$(guestdir)/ || exit 1; \
	done

.PHONY: install-tests
