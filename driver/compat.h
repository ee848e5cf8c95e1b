/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels we build on (6.1 ... 7.2).  The only file
 * that asks for the version.
 */
#ifndef OMX_COMPAT_H
#define OMX_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/iommu.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/sock.h>

/* 6.16 renamed from_timer(). */
#ifdef timer_container_of
#define omx_timer_container	timer_container_of
#else
#define omx_timer_container	from_timer
#endif

/* 6.3 made vm_flags read-only. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void omx_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void omx_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#else
#define omx_vm_flags_set	vm_flags_set
#define omx_vm_flags_clear	vm_flags_clear
#endif

/* 6.5 dropped the argument for VMAs. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define omx_get_user_pages_remote(mm, start, count, flags, pages, locked) \
	get_user_pages_remote(mm, start, count, flags, pages, NULL, locked)
#define omx_pin_user_pages_remote(mm, start, count, flags, pages, locked) \
	pin_user_pages_remote(mm, start, count, flags, pages, NULL, locked)
#else
#define omx_get_user_pages_remote	get_user_pages_remote
#define omx_pin_user_pages_remote	pin_user_pages_remote
#endif

/* 6.12 brought fragments in the memory of a device. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define omx_skb_is_readable(skb)	true
#else
#define omx_skb_is_readable(skb)	skb_frags_readable(skb)
#endif

/* 6.13 brought hrtimer_setup(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void omx_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *),
				     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#else
#define omx_hrtimer_setup	hrtimer_setup
#endif

/* 6.17 gave it its real name and warns of the old one. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define omx_system_wq		system_wq
#else
#define omx_system_wq		system_percpu_wq
#endif

/* What these are asked has become a bool since. */
#define omx_young_t	typeof(((struct mmu_notifier_ops *)NULL)->test_young(NULL, NULL, 0))

/* 6.6 made it a flag that pages are faulted in which NUMA balancing has hidden. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define OMX_FOLL_NUMA			0
#else
#define OMX_FOLL_NUMA			FOLL_HONOR_NUMA_FAULT
#endif

/* 6.7 allocates them. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
struct omx_shrinker {
	struct shrinker shrinker;
};

#define omx_shrinker_register(s, name, count, scan)	({	\
	(s)->shrinker.count_objects = (count);			\
	(s)->shrinker.scan_objects = (scan);			\
	(s)->shrinker.seeks = DEFAULT_SEEKS;			\
	register_shrinker(&(s)->shrinker, name);		\
})
#define omx_shrinker_unregister(s)	unregister_shrinker(&(s)->shrinker)
#else
struct omx_shrinker {
	struct shrinker *shrinker;
};

#define omx_shrinker_register(s, name, count, scan)	({	\
	(s)->shrinker = shrinker_alloc(0, name);		\
	if ((s)->shrinker) {					\
		(s)->shrinker->count_objects = (count);		\
		(s)->shrinker->scan_objects = (scan);		\
		shrinker_register((s)->shrinker);		\
	}							\
	(s)->shrinker ? 0 : -ENOMEM;				\
})
#define omx_shrinker_unregister(s)	shrinker_free((s)->shrinker)
#endif

/* 6.11 brought it: on PREEMPT_RT switching BH off need not exclude others. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define omx_local_lock_nested_bh(lock)		do { } while (0)
#define omx_local_unlock_nested_bh(lock)	do { } while (0)
#else
#define omx_local_lock_nested_bh		local_lock_nested_bh
#define omx_local_unlock_nested_bh		local_unlock_nested_bh
#endif

/* 6.18 keeps flags in the pointer. */
#ifdef CONFIG_MEMCG
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
static inline struct mem_cgroup *omx_mem_cgroup_from_sk(const struct sock *sk)
{
	return sk->sk_memcg;
}
#else
#define omx_mem_cgroup_from_sk	mem_cgroup_from_sk
#endif
#endif

/* 6.3 has one function for both kinds of allocations, 6.11 asks for the device. */
#ifdef CONFIG_IOMMU_API
static inline int omx_iommu_map(struct iommu_domain *domain, unsigned long address,
				phys_addr_t phys, size_t size, int access, gfp_t gfp)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	return (gfpflags_allow_blocking(gfp) ? iommu_map : iommu_map_atomic)
		(domain, address, phys, size, access);
#else
	return iommu_map(domain, address, phys, size, access, gfp);
#endif
}

static inline struct iommu_domain *omx_iommu_domain_alloc(struct device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	return iommu_domain_alloc(dev->bus);
#else
	struct iommu_domain *domain = iommu_paging_domain_alloc(dev);

	return IS_ERR(domain) ? NULL : domain;
#endif
}
#endif

/* 6.2 dropped the data of the driver; since 6.16 binding enables what it needs. */
#ifdef CONFIG_IOMMU_API
static inline struct iommu_sva *omx_iommu_sva_bind(struct device *dev, struct mm_struct *mm)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	return iommu_sva_bind_device(dev, mm, NULL);
#else
	return iommu_sva_bind_device(dev, mm);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
static inline int omx_iommu_sva_enable(struct device *dev)
{
	int error = iommu_dev_enable_feature(dev, IOMMU_DEV_FEAT_IOPF);

	if (error)
		return error;
	error = iommu_dev_enable_feature(dev, IOMMU_DEV_FEAT_SVA);
	if (error)
		iommu_dev_disable_feature(dev, IOMMU_DEV_FEAT_IOPF);
	return error;
}

static inline void omx_iommu_sva_disable(struct device *dev)
{
	iommu_dev_disable_feature(dev, IOMMU_DEV_FEAT_SVA);
	iommu_dev_disable_feature(dev, IOMMU_DEV_FEAT_IOPF);
}
#else
static inline int omx_iommu_sva_enable(struct device *dev)
{
	return 0;
}

static inline void omx_iommu_sva_disable(struct device *dev)
{
}
#endif
#endif

/* The functions for sockets of tunnels take a sock since some 7.x, not its socket. */
#define omx_udp_tunnel_socket(socket)							\
	__builtin_choose_expr(__builtin_types_compatible_p(				\
			typeof(udp_tunnel_sock_release), void (struct sock *)),		\
		(socket)->sk, socket)

/* The attributes of a request for a dump; 6.6 keeps the whole request. */
static inline struct nlattr **omx_genl_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	return genl_dumpit_info(cb)->attrs;
#else
	return genl_info_dump(cb)->attrs;
#endif
}

/* Listening takes CAP_NET_ADMIN; 6.1.68 gave groups flags of their own. */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define OMX_GENL_MCAST_ADMIN	GENL_MCAST_CAP_NET_ADMIN
#else
#define OMX_GENL_MCAST_ADMIN	GENL_UNS_ADMIN_PERM
#endif

/* cond_resched_rcu(), which 7.2 has no more. */
static inline void omx_cond_resched_rcu(void)
{
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
}

#endif
