/* SPDX-License-Identifier: BSD-2-Clause */
/* The program that runs now, and what it waits in. */
#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "time.h"

#define PF_EXITING		4
#define SIGNAL_GROUP_EXIT	4
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX

struct signal_struct {
	unsigned int flags;
	int group_exit_code;
};

struct task_struct {
	unsigned int flags;
	struct task_struct *group_leader;
	u64 start_boottime;
	struct signal_struct *signal;
	void *nsproxy;
	void *mm;
	u32 uid;
};

struct pid;
struct mm_struct;
struct mmu_notifier_range;
struct sk_buff;

extern struct task_struct *current;

typedef struct { u32 value; } kuid_t;
#define current_uid()		((kuid_t){ current->uid })
#define uid_eq(a, b)		((a).value == (b).value)

#define task_tgid(task)		((struct pid *)NULL)
#define get_pid(pid)		(pid)
#define put_pid(pid)		do { } while (0)
#define pid_vnr(pid)		0
#define get_task_comm(to, task)	strscpy(to, "program", sizeof(to))
#define signal_pending(task)	false
#define cond_resched()		sim_require_sleep("cond_resched()")

/* Other events happen meanwhile.  In fiber.c. */
long schedule_timeout_uninterruptible(long timeout);
void msleep(unsigned int ms);

typedef struct { char unused; } wait_queue_head_t;
struct rcuwait { char unused; };
#define init_waitqueue_head(queue)	do { } while (0)
#define wake_up_all(queue)		do { } while (0)
#define wake_up(queue)			do { } while (0)

struct static_key_false { bool on; };
#define DECLARE_STATIC_KEY_FALSE(name)	extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name)	struct static_key_false name
#define static_branch_unlikely(key)	unlikely((key)->on)

#endif
