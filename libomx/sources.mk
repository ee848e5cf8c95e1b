# SPDX-License-Identifier: BSD-2-Clause
#
# The library's sources, in the order of a message's way: down, over, up; then
# what stands beside it.  The unit tests compile them, too, but put a driver of
# their own in the place of libomx_driver_sources.
libomx_sources = \
	$(top_srcdir)/libomx/send.c \
	$(top_srcdir)/libomx/submit.c \
	$(top_srcdir)/libomx/submit.h \
	$(top_srcdir)/libomx/receive.c \
	$(top_srcdir)/libomx/match.h \
	$(top_srcdir)/libomx/posted.c \
	$(top_srcdir)/libomx/posted.h \
	$(top_srcdir)/libomx/match_queue.c \
	$(top_srcdir)/libomx/match_queue.h \
	$(top_srcdir)/libomx/match_index.c \
	$(top_srcdir)/libomx/match_index.h \
	$(top_srcdir)/libomx/deliver.c \
	$(top_srcdir)/libomx/pull.c \
	$(top_srcdir)/libomx/unexpected.c \
	$(top_srcdir)/libomx/unexpected.h \
	$(top_srcdir)/libomx/handler.c \
	$(top_srcdir)/libomx/progress.c \
	$(top_srcdir)/libomx/progress.h \
	$(top_srcdir)/libomx/helper.c \
	$(top_srcdir)/libomx/helper.h \
	$(top_srcdir)/libomx/pager.c \
	$(top_srcdir)/libomx/pager.h \
	$(top_srcdir)/libomx/thread.c \
	$(top_srcdir)/libomx/thread.h \
	$(top_srcdir)/libomx/completion.c \
	$(top_srcdir)/libomx/probe.c \
	$(top_srcdir)/libomx/query.h \
	$(top_srcdir)/libomx/wait.c \
	$(top_srcdir)/libomx/wait.h \
	$(top_srcdir)/libomx/yielding.h \
	$(top_srcdir)/libomx/cancel.c \
	$(top_srcdir)/libomx/timer.c \
	$(top_srcdir)/libomx/timer.h \
	$(top_srcdir)/libomx/request.c \
	$(top_srcdir)/libomx/request.h \
	$(top_srcdir)/libomx/buffer.c \
	$(top_srcdir)/libomx/buffer.h \
	$(top_srcdir)/libomx/region.c \
	$(top_srcdir)/libomx/region.h \
	$(top_srcdir)/libomx/regcache.c \
	$(top_srcdir)/libomx/regcache.h \
	$(top_srcdir)/libomx/prefetch.c \
	$(top_srcdir)/libomx/window.c \
	$(top_srcdir)/libomx/window.h \
	$(top_srcdir)/libomx/access.c \
	$(top_srcdir)/libomx/access.h \
	$(top_srcdir)/libomx/access_end.c \
	$(top_srcdir)/libomx/put_event.c \
	$(top_srcdir)/libomx/put_event.h \
	$(top_srcdir)/libomx/when.c \
	$(top_srcdir)/libomx/when.h \
	$(top_srcdir)/libomx/refused.c \
	$(top_srcdir)/libomx/refused.h \
	$(top_srcdir)/libomx/flush.c \
	$(top_srcdir)/libomx/active.c \
	$(top_srcdir)/libomx/log.c \
	$(top_srcdir)/libomx/log.h \
	$(top_srcdir)/libomx/log_handler.c \
	$(top_srcdir)/libomx/connect.c \
	$(top_srcdir)/libomx/connect.h \
	$(top_srcdir)/libomx/partner.c \
	$(top_srcdir)/libomx/partner.h \
	$(top_srcdir)/libomx/address.c \
	$(top_srcdir)/libomx/endpoint.c \
	$(top_srcdir)/libomx/endpoint.h \
	$(top_srcdir)/libomx/endpoint_table.c \
	$(top_srcdir)/libomx/endpoint_table.h \
	$(top_srcdir)/libomx/list.h \
	$(top_srcdir)/libomx/lock.c \
	$(top_srcdir)/libomx/lock.h \
	$(top_srcdir)/libomx/ring.c \
	$(top_srcdir)/libomx/ring.h \
	$(top_srcdir)/libomx/init.c \
	$(top_srcdir)/libomx/init.h \
	$(top_srcdir)/libomx/environment.c \
	$(top_srcdir)/libomx/environment.h \
	$(top_srcdir)/libomx/error.c \
	$(top_srcdir)/libomx/error.h \
	$(top_srcdir)/libomx/boards.c \
	$(top_srcdir)/libomx/boards.h \
	$(top_srcdir)/libomx/info.c

libomx_driver_sources = \
	$(top_srcdir)/libomx/driver.c \
	$(top_srcdir)/libomx/driver.h
