// SPDX-License-Identifier: GPL-2.0
/*
 * The one DMA engine that the driver uses: taking a channel of it when the
 * parameter copy_offload is set, starting copies and waiting for them, and giving
 * it up when it fails.  dma_copies.c starts copies in softirq; invalidations wait
 * for them in any context; parameters are set in process context.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "dma/dma.h"

#define COPIES_MAX	256	/* under way at once */
#define SPIN_MAX_US	100000	/* for one more to land, while others wait for our lock */
#define SPIN_TOTAL_US	1000000	/* however they land */
#define PATIENCE_MS	1000	/* with all that is under way; no working engine needs it */

/* The channel is ours alone: we may stop it, and it works in order. */
static struct {
	spinlock_t lock;		/* everything in here */
	struct dma_chan *chan;		/* NULL: none */
	bool open;			/* takes copies */
	bool stopped;			/* what has not landed waits for dma_close() */
	u64 started, landed;		/* numbers */
	struct list_head flying;	/* in order */
	struct list_head orphans;	/* their pull has ended */
	struct list_head unused;
	struct omx_dma_copy *copy;	/* COPIES_MAX of them, once there was a channel */
} dma = {
	.lock = __SPIN_LOCK_UNLOCKED(dma.lock),
	.flying = LIST_HEAD_INIT(dma.flying),
	.orphans = LIST_HEAD_INIT(dma.orphans),
	.unused = LIST_HEAD_INIT(dma.unused),
};

static void dma_broken(struct work_struct *work);
static DECLARE_WORK(dma_broken_work, dma_broken);

/* ---- the end of a copy ---- */

/* By the engine, in any context. */
static void dma_copy_report(void *context, const struct dmaengine_result *result)
{
	struct omx_dma_copy *copy = context;

	if (result && result->result != DMA_TRANS_NOERROR)
		WRITE_ONCE(copy->failed, true);
	/* Pairs with dma_copy_is_done(): it may be used again. */
	smp_store_release(&copy->reported, true);
}

static bool dma_copy_is_done(const struct omx_dma_copy *copy)
{
	/* Pairs with dma_copy_report(). */
	return copy->landed && smp_load_acquire(&copy->reported);
}

static void dma_copy_set_landed(struct omx_dma_copy *copy)
{
	struct device *dev = dmaengine_get_dma_device(dma.chan);

	lockdep_assert_held(&dma.lock);
	list_del(&copy->in_flight);
	dma_unmap_page(dev, copy->from, copy->job.length, DMA_TO_DEVICE);
	dma_unmap_page(dev, copy->to, copy->job.length, DMA_FROM_DEVICE);
	flush_dcache_folio(page_folio(copy->job.page));
	put_page(copy->job.page);
	copy->landed = true;
	dma.landed = copy->number;
}

static void dma_poll(void)
{
	struct omx_dma_copy *copy, *next;

	lockdep_assert_held(&dma.lock);
	if (dma.stopped)
		return;		/* it may write still; dma_close() waits for that */
	list_for_each_entry_safe(copy, next, &dma.flying, in_flight) {
		enum dma_status status = dma_async_is_tx_complete(dma.chan, copy->cookie,
								  NULL, NULL);

		if (status == DMA_ERROR)
			WRITE_ONCE(copy->failed, true);
		else if (status != DMA_COMPLETE)
			break;
		dma_copy_set_landed(copy);
	}
}

/* What nobody asks for any more. */
static void dma_sweep_orphans(void)
{
	struct omx_dma_copy *copy, *next;

	lockdep_assert_held(&dma.lock);
	list_for_each_entry_safe(copy, next, &dma.orphans, node) {
		if (copy->landed) {
			consume_skb(copy->job.skb);
			copy->job.skb = NULL;
		}
		if (dma_copy_is_done(copy))
			list_move(&copy->node, &dma.unused);
	}
}

void omx_dma_give_up(void)
{
	spin_lock_bh(&dma.lock);
	if (dma.chan && !dma.stopped) {
		dma.open = false;
		dma.stopped = true;
		dmaengine_terminate_async(dma.chan);
		schedule_work(&dma_broken_work);
	}
	spin_unlock_bh(&dma.lock);
}

/* The number of the last one that has landed; U64_MAX: none will any more. */
static u64 dma_last_landed(void)
{
	u64 number;

	spin_lock_bh(&dma.lock);
	dma_poll();
	number = dma.stopped ? U64_MAX : dma.landed;
	spin_unlock_bh(&dma.lock);
	return number;
}

void omx_dma_wait(u64 number)
{
	u64 last = 0, now;
	unsigned int us = 0, total = 0;

	/* Not by the clock: it goes on while a virtual machine does not. */
	while ((now = dma_last_landed()) < number) {
		if (now != last)
			us = 0;
		if (++us == SPIN_MAX_US || ++total == SPIN_TOTAL_US)
			return omx_dma_give_up();
		last = now;
		udelay(1);
	}
}

/* ---- its beginning ---- */

static bool dma_copy_map(struct omx_dma_copy *copy, struct page *from, u32 from_offset,
			 u32 to_offset)
{
	struct device *dev = dmaengine_get_dma_device(dma.chan);

	copy->from = dma_map_page(dev, from, from_offset, copy->job.length, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, copy->from))
		return false;
	copy->to = dma_map_page(dev, copy->job.page, to_offset, copy->job.length, DMA_FROM_DEVICE);
	if (!dma_mapping_error(dev, copy->to))
		return true;
	dma_unmap_page(dev, copy->from, copy->job.length, DMA_TO_DEVICE);
	return false;
}

static bool dma_copy_submit(struct omx_dma_copy *copy)
{
	struct device *dev = dmaengine_get_dma_device(dma.chan);
	struct dma_async_tx_descriptor *tx;

	tx = dmaengine_prep_dma_memcpy(dma.chan, copy->to, copy->from, copy->job.length,
				       DMA_PREP_INTERRUPT | DMA_CTRL_ACK);
	if (tx) {
		tx->callback_result = dma_copy_report;
		tx->callback_param = copy;
		copy->cookie = dmaengine_submit(tx);
		if (!dma_submit_error(copy->cookie))
			return true;
	}
	dma_unmap_page(dev, copy->from, copy->job.length, DMA_TO_DEVICE);
	dma_unmap_page(dev, copy->to, copy->job.length, DMA_FROM_DEVICE);
	return false;
}

/* Not where the cache lines at its ends are the processor's, too. */
static bool dma_copy_is_aligned(const struct omx_dma_copy *copy, u32 from_offset, u32 to_offset)
{
	return is_dma_copy_aligned(dma.chan->device, from_offset, to_offset, copy->job.length) &&
	       IS_ALIGNED(to_offset | copy->job.length, dma_get_cache_alignment());
}

static struct omx_dma_copy *dma_copy_unused(void)
{
	lockdep_assert_held(&dma.lock);
	if (!dma.open)
		return NULL;
	if (list_empty(&dma.unused))
		dma_sweep_orphans();
	return list_first_entry_or_null(&dma.unused, struct omx_dma_copy, node);
}

static bool dma_copy_start(struct omx_dma_copy *copy, struct page *from, u32 from_offset,
			   u32 to_offset)
{
	lockdep_assert_held(&dma.lock);
	copy->failed = copy->landed = copy->reported = false;
	if (!dma_copy_is_aligned(copy, from_offset, to_offset) ||
	    !dma_copy_map(copy, from, from_offset, to_offset) || !dma_copy_submit(copy))
		return false;
	get_page(copy->job.page);
	skb_get(copy->job.skb);
	copy->number = ++dma.started;
	list_add_tail(&copy->in_flight, &dma.flying);
	dma_async_issue_pending(dma.chan);
	return true;
}

u64 omx_dma_start(const struct omx_dma_job *job, struct page *from, u32 from_offset,
		  u32 to_offset, struct list_head *list)
{
	struct omx_dma_copy *copy;
	u64 number = 0;

	spin_lock(&dma.lock);
	copy = dma_copy_unused();
	if (copy) {
		copy->job = *job;
		if (dma_copy_start(copy, from, from_offset, to_offset)) {
			list_move_tail(&copy->node, list);
			number = copy->number;
		}
	}
	spin_unlock(&dma.lock);
	return number;
}

/* ---- who asks ---- */

bool omx_dma_is_open(void)
{
	return READ_ONCE(dma.open);
}

bool omx_dma_is_done(const struct omx_dma_copy *copy)
{
	bool done;

	spin_lock(&dma.lock);
	dma_poll();
	done = dma_copy_is_done(copy);
	spin_unlock(&dma.lock);
	return done;
}

void omx_dma_release(struct omx_dma_copy *copy)
{
	struct sk_buff *skb = copy->job.skb;

	spin_lock(&dma.lock);
	copy->job.skb = NULL;
	list_move(&copy->node, &dma.unused);
	spin_unlock(&dma.lock);
	consume_skb(skb);
}

void omx_dma_release_all(struct list_head *list)
{
	spin_lock_bh(&dma.lock);
	list_splice_tail_init(list, &dma.orphans);
	dma_sweep_orphans();
	spin_unlock_bh(&dma.lock);
}

/* ---- the channel ---- */

static DEFINE_MUTEX(dma_setup_lock);		/* everything below */
static bool dma_wanted;
static bool ready;			/* parameters are set before init runs */

static bool dma_chan_suits(const struct dma_chan *chan)
{
	return chan->device->device_terminate_all &&
	       !dma_has_cap(DMA_COMPLETION_NO_ORDER, chan->device->cap_mask);
}

static int dma_make_copies(void)
{
	int i;

	if (dma.copy)
		return 0;
	dma.copy = kvcalloc(COPIES_MAX, sizeof(*dma.copy), GFP_KERNEL);
	for (i = 0; dma.copy && i < COPIES_MAX; i++)
		list_add_tail(&dma.copy[i].node, &dma.unused);
	return dma.copy ? 0 : -ENOMEM;
}

static int dma_open(void)
{
	struct dma_chan *chan;
	dma_cap_mask_t mask;
	int error;

	lockdep_assert_held(&dma_setup_lock);
	if (dma.chan)
		return 0;
	error = dma_make_copies();
	if (error)
		return error;
	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	chan = dma_request_chan_by_mask(&mask);
	if (IS_ERR(chan))
		return -ENODEV;		/* whatever it says to those that probe */
	if (!dma_chan_suits(chan)) {
		dma_release_channel(chan);
		return -ENODEV;
	}
	spin_lock_bh(&dma.lock);
	dma.chan = chan;
	dma.stopped = false;
	dma.open = true;
	spin_unlock_bh(&dma.lock);
	return 0;
}

/* It has stopped: what it has not reported is not known to be right. */
static void dma_end_all(void)
{
	struct omx_dma_copy *copy, *next;
	int i;

	spin_lock_bh(&dma.lock);
	list_for_each_entry_safe(copy, next, &dma.flying, in_flight)
		dma_copy_set_landed(copy);
	for (i = 0; i < COPIES_MAX; i++) {
		copy = &dma.copy[i];
		copy->failed |= !copy->reported;
		copy->reported = true;
	}
	dma.chan = NULL;
	dma_sweep_orphans();
	spin_unlock_bh(&dma.lock);
}

/* Transfers go on by the processor. */
static void dma_close(void)
{
	struct dma_chan *chan = dma.chan;
	unsigned int ms;

	lockdep_assert_held(&dma_setup_lock);
	if (!chan)
		return;
	spin_lock_bh(&dma.lock);
	dma.open = false;
	spin_unlock_bh(&dma.lock);
	for (ms = 0; ms < PATIENCE_MS && dma_last_landed() < dma.started; ms++)
		fsleep(1000);
	spin_lock_bh(&dma.lock);
	dma.stopped = true;
	spin_unlock_bh(&dma.lock);
	dmaengine_terminate_sync(chan);
	dma_end_all();
	dma_release_channel(chan);
}

static void dma_broken(struct work_struct *work)
{
	mutex_lock(&dma_setup_lock);
	if (dma.stopped && dma.chan) {
		pr_err("the DMA engine %s does not answer, the processor copies\n",
		       dma_chan_name(dma.chan));
		dma_wanted = false;
		dma_close();
	}
	mutex_unlock(&dma_setup_lock);
}

static int dma_copy_param_set(const char *value, const struct kernel_param *param)
{
	bool on;
	int error = kstrtobool(value, &on);

	if (error)
		return error;
	mutex_lock(&dma_setup_lock);
	if (ready && on)
		error = dma_open();
	else if (ready)
		dma_close();
	if (!error)
		dma_wanted = on;
	mutex_unlock(&dma_setup_lock);
	return error;
}

static const struct kernel_param_ops dma_copy_param_ops = {
	.set	= dma_copy_param_set,
	.get	= param_get_bool,
};

module_param_cb(copy_offload, &dma_copy_param_ops, &dma_wanted, 0644);
MODULE_PARM_DESC(copy_offload, "have a DMA engine copy what is received (default N)");

/* A machine without an engine must not keep the module from loading. */
void omx_dma_init(void)
{
	mutex_lock(&dma_setup_lock);
	ready = true;
	if (dma_wanted && dma_open()) {
		pr_notice("no DMA engine that copies, the processor does\n");
		dma_wanted = false;
	}
	mutex_unlock(&dma_setup_lock);
}

void omx_dma_exit(void)
{
	mutex_lock(&dma_setup_lock);
	ready = false;
	dma_close();
	mutex_unlock(&dma_setup_lock);
	cancel_work_sync(&dma_broken_work);
	kvfree(dma.copy);
}
