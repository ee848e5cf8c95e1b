// SPDX-License-Identifier: GPL-2.0
/*
 * The memory control group of an endpoint, charged by a struct sock.
 *
 * Budgets charge it in any context; work has the kernel reclaim memory of a group
 * that is full.
 */
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <net/sock.h>

#include "compat.h"
#include "endpoint/group.h"

/*
 * All that is charged, in pages.  It is shown in /proc/net/protocols; users and
 * control groups are limited, not the protocol.
 */
static atomic_long_t allocated;
static DEFINE_PER_CPU(int, allocated_here);
static long no_limits[3] = { LONG_MAX, LONG_MAX, LONG_MAX };

static struct proto omx_proto = {
	.name			= "OMX",
	.owner			= THIS_MODULE,
	.obj_size		= sizeof(struct sock),
	.memory_allocated	= &allocated,
	.per_cpu_fw_alloc	= &allocated_here,
	.sysctl_mem		= no_limits,
};

int omx_group_init(void)
{
	return proto_register(&omx_proto, 0);
}

void omx_group_exit(void)
{
	proto_unregister(&omx_proto);
}

/* The endpoint's file keeps the namespace: a kernel socket holds none. */
struct sock *omx_group_open(struct net *net)
{
	struct sock *sk = sk_alloc(net, AF_UNSPEC, GFP_KERNEL_ACCOUNT, &omx_proto, 1);

	if (sk)
		sock_init_data(NULL, sk);
	return sk;
}

void omx_group_close(struct sock *sk)
{
	sock_put(sk);
}

/* ---- charging ---- */

bool omx_group_charge(struct sock *sk, unsigned long bytes)
{
	if (!__sk_mem_schedule(sk, bytes, SK_MEM_RECV))
		return false;
	sk_mem_charge(sk, bytes);	/* all that was scheduled is in use */
	return true;
}

void omx_group_uncharge(struct sock *sk, unsigned long bytes)
{
	sk_mem_uncharge(sk, bytes);
}

/*
 * With BH on the charge sleeps and reclaims.  It is too much at once for the
 * kernel to kill somebody when reclaiming does not help.
 */
bool omx_group_make_room(struct sock *sk, unsigned long bytes)
{
	const unsigned long enough_to_fail = PAGE_SIZE << (PAGE_ALLOC_COSTLY_ORDER + 1);

	might_sleep();
	bytes = max(bytes, enough_to_fail);
	if (!omx_group_charge(sk, bytes))
		return false;
	omx_group_uncharge(sk, bytes);
	return true;
}

/* ---- limits ---- */

#ifdef CONFIG_MEMCG
static struct page_counter *counter_of(const struct sock *sk)
{
	struct mem_cgroup *group = omx_mem_cgroup_from_sk(sk);

	return group ? &group->memory : NULL;
}

const void *omx_group_id(const struct sock *sk)
{
	return omx_mem_cgroup_from_sk(sk);
}

long omx_group_limit(const struct sock *sk)
{
	unsigned long pages = PAGE_COUNTER_MAX;
	struct page_counter *counter;

	for (counter = counter_of(sk); counter; counter = counter->parent)
		pages = min(pages, READ_ONCE(counter->max));
	return pages >= LONG_MAX >> PAGE_SHIFT ? LONG_MAX : (long)(pages << PAGE_SHIFT);
}

bool omx_group_fits(const struct sock *sk, unsigned long bytes)
{
	unsigned long pages = bytes >> PAGE_SHIFT;
	struct page_counter *counter;

	for (counter = counter_of(sk); counter; counter = counter->parent)
		if (page_counter_read(counter) + pages > READ_ONCE(counter->max))
			return false;
	return true;
}
#else
const void *omx_group_id(const struct sock *sk)
{
	return NULL;
}

long omx_group_limit(const struct sock *sk)
{
	return LONG_MAX;
}

bool omx_group_fits(const struct sock *sk, unsigned long bytes)
{
	return true;
}
#endif
