/* SPDX-License-Identifier: BSD-2-Clause */
/* Types, numbers, bits, atomics: what needs no state. */
#ifndef SIM_BASE_H
#define SIM_BASE_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <asm/byteorder.h>
#include <linux/if_ether.h>
#include <linux/ioctl.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;
typedef u64 dma_addr_t;
typedef u64 phys_addr_t;

/* Ends the program and says which seed this was; in sim.c. */
void __attribute__((noreturn, format(printf, 3, 4)))
sim_fail(const char *file, int line, const char *format, ...);
#define SIM_FAIL(...)		sim_fail(__FILE__, __LINE__, __VA_ARGS__)
#define SIM_REQUIRE(condition)	do {						\
	if (__builtin_expect(!(condition), 0))					\
		SIM_FAIL("not so: %s", #condition);				\
} while (0)

/* ---- for compilers and checkers ---- */

#define __rcu
#define __percpu
#define __user
#define __iomem
#define __read_mostly
#define __net_init
#define __net_exit
#define __init
#define __exit
#define __releases(x)
#define __acquires(x)
#define __must_hold(x)
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define __packed	__attribute__((packed))
#define __aligned(n)	__attribute__((aligned(n)))
#define noinline	__attribute__((noinline))
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define fallthrough	__attribute__((fallthrough))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define barrier()	__asm__ volatile("" : : : "memory")
#undef static_assert
#define static_assert(expr, ...)	_Static_assert(expr, #expr)
#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), #condition)
#define WARN_ON_ONCE(condition)	({						\
	bool warn_ = !!(condition);						\
	if (unlikely(warn_))							\
		SIM_FAIL("WARN_ON_ONCE(%s)", #condition);			\
	warn_; })
#define WARN_ON(condition)	WARN_ON_ONCE(condition)
#define WARN_ONCE(condition, ...)	WARN_ON_ONCE(condition)
#define EXPORT_SYMBOL_GPL(name)
#define IS_ENABLED(option)	0

/* ---- numbers ---- */

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define S32_MAX		INT32_MAX
#define U64_MAX		((u64)~0ULL)
#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(x)	(((x) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define ALIGN(x, a)	(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define BITS_PER_LONG	64
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_down(x, y)	((x) & ~((__typeof__(x))((y) - 1)))
#define round_up(x, y)	((((x) - 1) | ((__typeof__(x))((y) - 1))) + 1)
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define lower_32_bits(n)	((u32)(n))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define struct_size(p, member, count) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (count))
#define array_index_nospec(index, size)	(index)

#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define data_race(x)	(x)

/* Of the unit tests: as strict about types as the oldest kernel. */
#include "../../unit/driver/mock/linux/minmax.h"
#include "../../unit/driver/mock/linux/math64.h"
#define clamp(x, lo, hi)	min(max(x, lo), hi)

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_ul(u64 dividend, unsigned long divisor)
{
	return dividend / divisor;
}

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 divisor)
{
	return (u64)((unsigned __int128)a * mul / divisor);
}

static inline u32 reciprocal_scale(u32 value, u32 ep_ro)
{
	return (u64)value * ep_ro >> 32;
}

static inline u32 int_sqrt(u64 x)
{
	u64 r = 0;
	int i;

	for (i = 31; i >= 0; i--)
		if ((r | 1ULL << i) * (r | 1ULL << i) <= x)
			r |= 1ULL << i;
	return r;
}

#define cpu_to_be16	__cpu_to_be16
#define cpu_to_be32	__cpu_to_be32
#define cpu_to_be64	__cpu_to_be64
#define be16_to_cpu	__be16_to_cpu
#define be32_to_cpu	__be32_to_cpu
#define be64_to_cpu	__be64_to_cpu
#define htons		__cpu_to_be16
#define ntohs		__be16_to_cpu

#define get_unaligned(p) ({				\
	__typeof__(*(p) + 0) value_;			\
	memcpy(&value_, p, sizeof(*(p)));		\
	value_; })

static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = p;

	return b[0] << 8 | b[1];
}

static inline u32 get_unaligned_be32(const void *p)
{
	return (u32)get_unaligned_be16(p) << 16 | get_unaligned_be16((const u8 *)p + 2);
}

static inline void put_unaligned_be16(u16 value, void *p)
{
	((u8 *)p)[0] = value >> 8;
	((u8 *)p)[1] = value;
}

static inline void put_unaligned_be32(u32 value, void *p)
{
	put_unaligned_be16(value >> 16, p);
	put_unaligned_be16(value, (u8 *)p + 2);
}

/* ---- bits ---- */

#include "../../unit/driver/mock/linux/bitops.h"

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline unsigned long ffz(unsigned long x)
{
	return __builtin_ctzl(~x);
}

static inline int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline unsigned long roundup_pow_of_two(unsigned long x)
{
	return x <= 1 ? 1 : 1UL << fls64(x - 1);
}

static inline bool is_power_of_2(unsigned long x)
{
	return x && !(x & (x - 1));
}

#define BITS_TO_LONGS(bits)	DIV_ROUND_UP(bits, BITS_PER_LONG)
#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]

static inline bool test_bit(unsigned int nr, const unsigned long *word)
{
	return word[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

static inline void __set_bit(unsigned int nr, unsigned long *word)
{
	word[nr / BITS_PER_LONG] |= 1UL << nr % BITS_PER_LONG;
}

static inline void __clear_bit(unsigned int nr, unsigned long *word)
{
	word[nr / BITS_PER_LONG] &= ~(1UL << nr % BITS_PER_LONG);
}

static inline bool test_and_set_bit(unsigned int nr, unsigned long *word)
{
	bool was = test_bit(nr, word);

	__set_bit(nr, word);
	return was;
}

static inline bool test_and_clear_bit(unsigned int nr, unsigned long *word)
{
	bool was = test_bit(nr, word);

	__clear_bit(nr, word);
	return was;
}

#define set_bit			__set_bit
#define clear_bit		__clear_bit
#define clear_bit_unlock	__clear_bit

static inline unsigned long find_next_of(const unsigned long *map, unsigned long size,
					 unsigned long at, unsigned long flip)
{
	while (at < size) {
		unsigned long word = (map[at / BITS_PER_LONG] ^ flip) >> at % BITS_PER_LONG;

		if (word)
			return min(at + __builtin_ctzl(word), size);
		at = (at / BITS_PER_LONG + 1) * BITS_PER_LONG;
	}
	return size;
}

#define find_first_bit(map, size)	find_next_of(map, size, 0, 0)
#define find_next_bit(map, size, at)	find_next_of(map, size, at, 0)
#define find_first_zero_bit(map, size)	find_next_of(map, size, 0, ~0UL)
#define for_each_set_bit(bit, map, size)					\
	for ((bit) = find_first_bit(map, size); (bit) < (size);			\
	     (bit) = find_next_bit(map, size, (bit) + 1))

static inline bool bitmap_empty(const unsigned long *map, unsigned long size)
{
	return find_first_bit(map, size) == size;
}

/* ---- atomics, of which one thread needs none ---- */

#define SIM_ATOMIC(name, type)							\
typedef struct { type counter; } name##_t;					\
static inline type name##_read(const name##_t *v) { return v->counter; }	\
static inline void name##_set(name##_t *v, type i) { v->counter = i; }		\
static inline void name##_add(type i, name##_t *v) { v->counter += i; }	\
static inline void name##_sub(type i, name##_t *v) { v->counter -= i; }	\
static inline void name##_inc(name##_t *v) { v->counter++; }			\
static inline void name##_dec(name##_t *v) { v->counter--; }			\
static inline type name##_add_return(type i, name##_t *v)			\
{ return v->counter += i; }							\
static inline type name##_sub_return(type i, name##_t *v)			\
{ return v->counter -= i; }							\
static inline type name##_fetch_add(type i, name##_t *v)			\
{ v->counter += i; return v->counter - i; }					\
static inline type name##_inc_return(name##_t *v) { return ++v->counter; }	\
static inline type name##_dec_return(name##_t *v) { return --v->counter; }	\
static inline bool name##_dec_and_test(name##_t *v) { return !--v->counter; }	\
static inline bool name##_sub_and_test(type i, name##_t *v)			\
{ return !(v->counter -= i); }							\
static inline bool name##_inc_not_zero(name##_t *v)				\
{ return v->counter && ++v->counter; }						\
static inline type name##_xchg(name##_t *v, type i)				\
{ type old = v->counter; v->counter = i; return old; }				\
static inline bool name##_try_cmpxchg(name##_t *v, type *old, type i)		\
{									\
	if (v->counter != *old) {						\
		*old = v->counter;						\
		return false;							\
	}									\
	v->counter = i;								\
	return true;								\
}
SIM_ATOMIC(atomic, int)
SIM_ATOMIC(atomic_long, long)
SIM_ATOMIC(atomic64, s64)
#define ATOMIC_INIT(i)	{ (i) }

#define xchg(p, v)	({							\
	__typeof__(*(p)) old_ = *(p);						\
	*(p) = (v);								\
	old_; })
#define cmpxchg(p, old, new)	({						\
	__typeof__(*(p)) was_ = *(p);						\
	if (was_ == (old))							\
		*(p) = (new);							\
	was_; })
#define smp_mb()			barrier()
#define smp_rmb()			barrier()
#define smp_wmb()			barrier()
#define smp_mb__before_atomic()		barrier()
#define smp_mb__after_atomic()		barrier()
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, v)		WRITE_ONCE(*(p), v)

typedef struct { int refs; } refcount_t;

static inline void refcount_set(refcount_t *r, int n)
{
	r->refs = n;
}

static inline int refcount_read(const refcount_t *r)
{
	return r->refs;
}

static inline void refcount_inc(refcount_t *r)
{
	SIM_REQUIRE(r->refs > 0);
	r->refs++;
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	SIM_REQUIRE(r->refs >= 0);
	return r->refs && ++r->refs;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	SIM_REQUIRE(r->refs > 0);
	return !--r->refs;
}

static inline void refcount_dec(refcount_t *r)
{
	SIM_REQUIRE(r->refs > 1);
	r->refs--;
}

struct kref {
	refcount_t refcount;
};

static inline void kref_init(struct kref *ref)
{
	refcount_set(&ref->refcount, 1);
}

static inline void kref_get(struct kref *ref)
{
	refcount_inc(&ref->refcount);
}

static inline bool kref_get_unless_zero(struct kref *ref)
{
	return refcount_inc_not_zero(&ref->refcount);
}

static inline int kref_put(struct kref *ref, void (*release)(struct kref *ref))
{
	if (!refcount_dec_and_test(&ref->refcount))
		return 0;
	release(ref);
	return 1;
}

/* ---- errors, text, logs ---- */

#define ERESTARTSYS	512
#define MAX_ERRNO	4095
#define ERR_PTR(error)	((void *)(long)(error))
#define PTR_ERR(p)	((long)(p))
#define ERR_CAST(p)	((void *)(p))
#define IS_ERR(p)	((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i]; i++)
		to[i] = from[i];
	to[i] = 0;
	return i;
}

static inline ssize_t strscpy_pad(char *to, const char *from, size_t size)
{
	ssize_t length = strscpy(to, from, size);

	memset(to + length, 0, size - length);
	return length;
}

int snprintf(char *to, size_t size, const char *format, ...);

#define sim_no_log(...)	do {							\
	if (0)									\
		snprintf(NULL, 0, __VA_ARGS__);					\
} while (0)
#define pr_debug	sim_no_log
#define pr_info		sim_no_log
#define pr_notice	sim_no_log
#define pr_warn		sim_no_log
#define pr_info_ratelimited	sim_no_log
#define pr_warn_once	sim_no_log

/* ---- the module: its parameters are found as sim_param_NAME ---- */

struct kernel_param {
	void *arg;
};

struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
};

static inline int param_set_ulong(const char *value, const struct kernel_param *param)
{
	*(unsigned long *)param->arg = strtoul(value, NULL, 0);
	return 0;
}

static inline int param_get_ulong(char *buffer, const struct kernel_param *param)
{
	return -EINVAL;
}

#define module_param(name, type, mode)	\
	extern void *const sim_param_##name; void *const sim_param_##name = &name
#define module_param_named(name, value, type, mode)	\
	extern void *const sim_param_##name; void *const sim_param_##name = &value
#define module_param_cb(name, ops, arg, mode)	\
	extern void *const sim_param_##name; void *const sim_param_##name = arg; \
	extern const struct kernel_param_ops *const sim_ops_##name; \
	const struct kernel_param_ops *const sim_ops_##name = ops
#define MODULE_PARM_DESC(name, text)	struct sim_unused_##name

/* ---- trace events: none ---- */

#define TP_PROTO(...)	__VA_ARGS__
#define TP_ARGS(...)
#define TRACE_EVENT(name, proto, ...)	\
	static inline void trace_##name(proto) { }
#define DEFINE_EVENT(class, name, proto, ...)	\
	static inline void trace_##name(proto) { }
#define DECLARE_EVENT_CLASS(...)
#define TRACE_DEFINE_ENUM(...)

#endif
