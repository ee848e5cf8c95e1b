# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What in a kernel log makes a run red; for host and guest.

splat='BUG:|WARNING:|Oops|Kernel panic|kernel BUG at|general protection fault,'
splat+='|unable to handle|INFO: task .* blocked|INFO: rcu|rcu: INFO'
splat+='|detected (expedited )?stalls?|soft lockup|hard LOCKUP|UBSAN|KASAN|KCSAN'
splat+='|possible .*(deadlock|locking)|suspicious RCU|DEBUG_LOCKS_WARN_ON'
splat+='|refcount_t:|list_(add|del) corruption|omx: .*leak'

# Reads a log, prints it from the first splat on. True if there is one.
find_splat() {
	grep -E -A 60 "$splat"
}
