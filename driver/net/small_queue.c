// SPDX-License-Identifier: GPL-2.0
/*
 * The small queue of a board: what is charged to it, its limit, and its life.
 *
 * Channels and pull responses charge frames in process context and softirq.  The
 * network stack calls the destructor, sock_wfree(), in any context and with locks of
 * its own held: it only has a tasklet scheduled, which resumes those that wait
 * (small_queue_turns.c).
 *
 * That destructor is the kernel's own, because skb_segment() passes it on to the last
 * segment of a GSO frame, and because it does without this module once the last frame
 * has released the struct sock, and with that the module.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/sock.h>

#include "endpoint/account.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/small_queue.h"
#include "net/small_queue_private.h"
#include "observe/lock_order.h"

/*
 * The limit is what the device sends in a millisecond, as for TCP (sk_pacing_shift):
 * longer than it takes to interrupt for what was sent and to run the tasklet, and too
 * short to matter to others.  At least, two of the longest frames (64 KiB, with GSO),
 * so that the device has one while the next one is made.  At most, several windows of
 * a channel: a virtual device that sends at once should not look like a slow one.
 * Bytes are those of memory (truesize), which are up to three times those on the wire.
 */
#define LIMIT_TIME	NSEC_PER_MSEC
#define LIMIT_MIN	(128l << 10)
#define LIMIT_MAX	(4l << 20)
/* Between looks at the clock, while a probe is under way. */
#define LOOK_STEP	(64l << 10)

/*
 * A queue that is short in frames, or that others fill, refuses frames before that.  Then
 * less may wait in it (CAP_KEPT tenths of what did), also of whoever has a turn, and a
 * little more (1/32) whenever half of it has been sent: one frame in several hundred is
 * refused.  The least is some 40 of the shortest frames, or 14 of 1500 bytes: a share of
 * any queue that others fill with as many frames as it takes.
 */
#define CAP_KEPT	7
#define CAP_MIN		(32l << 10)
#define CAP_SHIFT	5

/* Of a user: the longest frame (GSO), so that who waits for each of his has a turn, too. */
#define TURN_BYTES	(64 << 10)

/* One frame at a time is charged to this one instead. */
struct probe_sock {
	struct inet_sock inet;	/* first */
	struct omx_small_queue *queue;	/* a reference, see probe_destruct() */
	u64 begun;		/* ns */
	u32 ahead;		/* bytes before this frame */
};

static struct proto queue_proto = {
	.name		= "OMX-QUEUE",
	.owner		= THIS_MODULE,
	.obj_size	= sizeof(struct omx_queue_sock),
};

static_assert(sizeof(struct probe_sock) <= sizeof(struct omx_queue_sock));

/* ---- charging ---- */

static struct probe_sock *queue_probe(struct omx_small_queue *queue)
{
	return container_of(queue->probe, struct probe_sock, inet.sk);
}

/* How long will this frame take?  Returns whom it is charged to. */
static struct sock *probe_begin(struct omx_small_queue *queue, u32 ahead)
{
	struct probe_sock *probe = queue_probe(queue);

	probe->ahead = ahead;
	WRITE_ONCE(probe->begun, ktime_get_mono_fast_ns());
	return &probe->inet.sk;
}

/* What the device sends in LIMIT_TIME if it has taken so long for what was ahead. */
static u32 probe_limit(const struct probe_sock *probe)
{
	u64 took = ktime_get_mono_fast_ns() - READ_ONCE(probe->begun);
	u64 limit = div64_u64((u64)READ_ONCE(probe->ahead) * LIMIT_TIME, took + 1);

	return clamp_t(u64, limit, LIMIT_MIN, LIMIT_MAX);
}

/* The device has become slow: a probe that has not come back says so, too. */
static void probe_hurry(struct omx_small_queue *queue)
{
	u32 limit = probe_limit(queue_probe(queue));

	if (limit < READ_ONCE(queue->limit) / 2)
		WRITE_ONCE(queue->limit, limit);
}

/* From where the limit may be. */
static void queue_look_soon(struct omx_small_queue *queue)
{
	WRITE_ONCE(queue->look_at, min_t(u32, LIMIT_MIN, READ_ONCE(queue->cap)));
}

/* When LOOK_STEP more are charged, or the limit, unless the probe comes back before. */
static void queue_look_later(struct omx_small_queue *queue, long charged)
{
	WRITE_ONCE(queue->look_at, min_t(long, charged + LOOK_STEP, omx_queue_limit(queue)));
	/* Pairs with the full barrier of test_and_clear_bit(): it may have come back. */
	smp_mb();
	if (!test_bit(OMX_QUEUE_PROBING, &queue->flags))
		queue_look_soon(queue);
}

/* At least look_at is charged before this frame. */
static struct sock *queue_measure(struct omx_small_queue *queue, long charged)
{
	struct sock *sk = omx_queue_sk(queue);

	if (test_bit(OMX_QUEUE_PROBING, &queue->flags))
		probe_hurry(queue);
	else if (!test_and_set_bit_lock(OMX_QUEUE_PROBING, &queue->flags))
		sk = probe_begin(queue, charged);
	queue_look_later(queue, charged);
	return sk;
}

/* At least look_at is charged with a frame of this size, which alone may exceed the limit. */
static noinline struct sock *queue_charge_much(struct omx_small_queue *queue, u32 size)
{
	long charged = omx_queue_charged(queue);
	struct sock *sk = omx_queue_sk(queue);

	if (charged >= READ_ONCE(queue->look_at))
		sk = queue_measure(queue, charged);
	if (charged + size >= omx_queue_limit(queue) && !READ_ONCE(queue->is_full)) {
		spin_lock(&queue->lock);
		WRITE_ONCE(queue->is_full, true);
		spin_unlock(&queue->lock);
	}
	return sk;
}

void omx_small_queue_charge(struct omx_small_queue *queue, struct sk_buff *skb)
{
	struct sock *sk = omx_queue_sk(queue);

	if (unlikely(omx_queue_charged(queue) + skb->truesize >= READ_ONCE(queue->look_at)))
		sk = queue_charge_much(queue, skb->truesize);
	/* As skb_set_owner_w() does it, which would look whether it has one already. */
	skb->sk = sk;
	skb->destructor = sock_wfree;
	refcount_add(skb->truesize, &sk->sk_wmem_alloc);
}

/* ---- when the device refuses a frame ---- */

/*
 * If little waits, that is not why.  Others may do this, or raise the cap, at the same time:
 * then the last one wins.
 */
void omx_small_queue_refused(struct omx_small_queue *queue)
{
	long charged = omx_queue_charged(queue);
	u32 kept = clamp_t(long, charged / 10 * CAP_KEPT, CAP_MIN, LIMIT_MAX);

	if (charged < CAP_MIN || kept >= READ_ONCE(queue->cap))
		return;
	WRITE_ONCE(queue->cap, kept);
	queue_look_soon(queue);
}

void omx_small_queue_raise_cap(struct omx_small_queue *queue)
{
	u32 cap = READ_ONCE(queue->cap);

	if (unlikely(cap < LIMIT_MAX))
		WRITE_ONCE(queue->cap, min_t(u32, cap + (cap >> CAP_SHIFT), LIMIT_MAX));
}

u32 omx_small_queue_spare(struct omx_small_queue *queue)
{
	return max(0l, omx_queue_limit(queue) - omx_queue_charged(queue));
}

u32 omx_small_queue_room(struct omx_small_queue *queue)
{
	return max(0l, READ_ONCE(queue->cap) - omx_queue_charged(queue));
}

bool omx_small_queue_is_capped(struct omx_small_queue *queue)
{
	return !omx_small_queue_room(queue);
}

/* ---- when the device has sent a frame ---- */

/* sock_wfree() calls it for each frame, while the frame still counts for one byte. */
static void queue_write_space(struct sock *sk)
{
	struct omx_small_queue *queue = &container_of(sk, struct omx_queue_sock, inet.sk)->queue;

	/* Pairs with queue_enlist(): one of us sees the other. */
	smp_mb__after_atomic();
	if (unlikely(READ_ONCE(queue->is_full)) && omx_queue_is_low(queue))
		omx_small_queue_schedule(queue);
}

/*
 * The same for a probe: so many bytes took so long.  The new measurement counts for
 * three quarters.  IP may have cut the frame into fragments, each of which is charged
 * here: the first one counts.  The channels may be gone, but not this module: the frame
 * still counts for one byte.
 */
static void probe_write_space(struct sock *sk)
{
	struct probe_sock *probe = container_of(sk, struct probe_sock, inet.sk);
	struct omx_small_queue *queue = probe->queue;
	u32 limit = probe_limit(probe);

	if (test_and_clear_bit(OMX_QUEUE_PROBING, &queue->flags)) {
		WRITE_ONCE(queue->limit, (queue->limit + 3 * limit) / 4);
		queue_look_soon(queue);
	}
	queue_write_space(omx_queue_sk(queue));
}

/* Nobody uses the board, and no frame is charged to the probe. */
static void probe_destruct(struct sock *sk)
{
	struct probe_sock *probe = container_of(sk, struct probe_sock, inet.sk);

	sock_put(omx_queue_sk(probe->queue));
}

/* ---- endpoints ---- */

static DEFINE_MUTEX(queues_lock);	/* board->queue, and which users it has */

static struct sock *queue_sock_alloc(void (*write_space)(struct sock *sk))
{
	/* It may outlive the namespace. */
	struct sock *sk = sk_alloc(&init_net, AF_UNSPEC, GFP_KERNEL, &queue_proto, 1);

	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_write_space = write_space;
	return sk;
}

static struct omx_small_queue *queue_alloc(struct omx_board *board)
{
	struct sock *sk = queue_sock_alloc(queue_write_space);
	struct sock *probe = queue_sock_alloc(probe_write_space);
	struct omx_small_queue *queue;

	if (!sk || !probe)
		goto no_memory;
	queue = &container_of(sk, struct omx_queue_sock, inet.sk)->queue;
	sock_hold(sk);
	container_of(probe, struct probe_sock, inet.sk)->queue = queue;
	probe->sk_destruct = probe_destruct;
	omx_spin_lock_init(&queue->lock, OMX_LOCK_SMALL_QUEUE);
	omx_user_turns_init(&queue->turns, TURN_BYTES);
	INIT_LIST_HEAD(&queue->users);
	queue->probe = probe;
	queue->board = board;
	queue->limit = LIMIT_MAX;
	queue->cap = LIMIT_MAX;
	queue->look_at = LIMIT_MIN;
	return queue;

no_memory:
	if (sk)
		sock_put(sk);
	if (probe)
		sock_put(probe);
	return NULL;
}

static struct omx_board_user *queue_find_user(struct omx_small_queue *queue,
					      const struct omx_account *account)
{
	struct omx_board_user *user;

	lockdep_assert_held(&queues_lock);
	list_for_each_entry(user, &queue->users, in_queue)
		if (user->account == account)
			return user;
	return NULL;
}

/*
 * The user gets the lowest number that is free, so that those who are here have different
 * queues on a path if these suffice.  The list is in the order of numbers.
 */
static void queue_number_user(struct omx_small_queue *queue, struct omx_board_user *user)
{
	struct list_head *next;

	lockdep_assert_held(&queues_lock);
	list_for_each(next, &queue->users) {
		if (list_entry(next, struct omx_board_user, in_queue)->number != user->number)
			break;
		user->number++;
	}
	list_add_tail(&user->in_queue, next);
}

static struct omx_board_user *queue_add_user(struct omx_small_queue *queue,
					     struct omx_account *account)
{
	struct omx_board_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&queues_lock);
	if (!user)
		return NULL;
	user->queue = queue;
	user->account = account;
	omx_user_turn_init(&user->turn);
	INIT_LIST_HEAD(&user->channels);
	__skb_queue_head_init(&user->requests);
	omx_user_turn_init(&user->pull_turn);
	INIT_LIST_HEAD(&user->pulls);
	omx_receiver_init(&user->receiver);
	queue_number_user(queue, user);
	return user;
}

/* Its last requests are for endpoints that have closed. */
static void queue_remove_user(struct omx_small_queue *queue, struct omx_board_user *user)
{
	struct sk_buff *skb;

	lockdep_assert_held(&queues_lock);
	list_del(&user->in_queue);
	spin_lock_bh(&queue->lock);
	while ((skb = omx_small_queue_pop_request(user)))
		kfree_skb(skb);
	omx_user_turn_end(&user->turn);
	spin_unlock_bh(&queue->lock);
	spin_lock_bh(&queue->board->pulls.lock);
	omx_user_turn_end(&user->pull_turn);
	spin_unlock_bh(&queue->board->pulls.lock);
	omx_incoming_forget(&queue->board->incoming, &user->receiver);
	kfree_rcu(user, rcu);		/* the tasklet may look at its turn */
}

static void queue_free_if_unused(struct omx_board *board)
{
	struct omx_small_queue *queue = board->queue;

	lockdep_assert_held(&queues_lock);
	if (queue->endpoints)
		return;
	board->queue = NULL;
	sock_put(queue->probe);
	sock_put(omx_queue_sk(queue));
}

int omx_small_queue_join(struct omx_board *board, struct omx_endpoint *ep)
{
	struct omx_account *account = omx_endpoint_user(ep);
	struct omx_board_user *user = NULL;

	mutex_lock(&queues_lock);
	if (!board->queue)
		board->queue = queue_alloc(board);
	if (board->queue) {
		user = queue_find_user(board->queue, account) ?:
		       queue_add_user(board->queue, account);
		if (user) {
			user->endpoints++;
			board->queue->endpoints++;
		} else {
			queue_free_if_unused(board);
		}
	}
	ep->board_user = user;
	mutex_unlock(&queues_lock);
	return user ? 0 : -ENOMEM;
}

void omx_small_queue_leave(struct omx_endpoint *ep)
{
	struct omx_board_user *user = ep->board_user;
	struct omx_small_queue *queue = user->queue;

	mutex_lock(&queues_lock);
	if (!--user->endpoints)
		queue_remove_user(queue, user);
	queue->endpoints--;
	queue_free_if_unused(queue->board);
	mutex_unlock(&queues_lock);
}

/* ---- loading and unloading ---- */

int omx_small_queues_init(void)
{
	omx_small_queue_turns_init();
	return proto_register(&queue_proto, 0);
}

void omx_small_queues_exit(void)
{
	proto_unregister(&queue_proto);
	omx_small_queue_turns_exit();
}
