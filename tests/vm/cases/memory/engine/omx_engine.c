// SPDX-License-Identifier: BSD-2-Clause
/*
 * A DMA engine that copies from memory to memory, loaded by the test
 * ../dma.  The processor does the copies in order, after a delay.  It reports
 * them as hardware does: the cookie is complete once the bytes are there, and
 * the callback follows in softirq.  Module parameters make copies fail or the
 * engine hang.
 */
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/slab.h>

static unsigned int delay_us = 100;
module_param(delay_us, uint, 0644);
MODULE_PARM_DESC(delay_us, "after which some more copies are there, at most");
static unsigned int fail_every;
module_param(fail_every, uint, 0644);
MODULE_PARM_DESC(fail_every, "of so many copies one goes wrong, 0: none");
static unsigned int hang_after;
module_param(hang_after, uint, 0644);
MODULE_PARM_DESC(hang_after, "the engine hangs after so many copies from now on, 0: never");

struct copy {
	struct dma_async_tx_descriptor tx;
	struct list_head node;
	dma_addr_t to, from;
	size_t length;
	struct dmaengine_result result;
};

static struct engine {
	struct dma_device device;
	struct dma_chan chan;
	spinlock_t lock;		/* the timer takes it, too */
	struct list_head submitted, issued, done;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	unsigned int failing;		/* good ones since the last bad one */
	bool busy;
} engine;

/* ---- copying ---- */

static void start_timer(void)
{
	engine.busy = !list_empty(&engine.issued);
	if (engine.busy)
		hrtimer_start(&engine.timer,
			      ns_to_ktime(get_random_u32() % (delay_us * NSEC_PER_USEC + 1)),
			      HRTIMER_MODE_REL);
}

static void perform(struct copy *copy)
{
	void *to = phys_to_virt(dma_to_phys(engine.device.dev, copy->to));
	void *from = phys_to_virt(dma_to_phys(engine.device.dev, copy->from));

	copy->result.result = DMA_TRANS_NOERROR;
	if (fail_every && ++engine.failing >= fail_every) {
		engine.failing = 0;
		copy->result.result = DMA_TRANS_WRITE_FAILED;
		copy->length /= 3;	/* it gives up in the middle */
	}
	memcpy(to, from, copy->length);
}

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	unsigned int some = 1 + get_random_u32() % 8;
	struct copy *copy, *next;
	unsigned long flags;

	spin_lock_irqsave(&engine.lock, flags);
	list_for_each_entry_safe(copy, next, &engine.issued, node) {
		if (!some-- || hang_after == 1)
			break;
		if (hang_after)
			hang_after--;
		perform(copy);
		list_move_tail(&copy->node, &engine.done);
		smp_store_release(&engine.chan.completed_cookie, copy->tx.cookie);
	}
	if (hang_after != 1)
		start_timer();
	tasklet_schedule(&engine.tasklet);
	spin_unlock_irqrestore(&engine.lock, flags);
	return HRTIMER_NORESTART;
}

static struct copy *take_done(void)
{
	struct copy *copy;
	unsigned long flags;

	spin_lock_irqsave(&engine.lock, flags);
	copy = list_first_entry_or_null(&engine.done, struct copy, node);
	if (copy)
		list_del(&copy->node);
	spin_unlock_irqrestore(&engine.lock, flags);
	return copy;
}

static void call_back(struct tasklet_struct *tasklet)
{
	struct copy *copy;

	while ((copy = take_done())) {
		if (copy->tx.callback_result)
			copy->tx.callback_result(copy->tx.callback_param, &copy->result);
		kfree(copy);
	}
}

/* ---- what the kernel asks ---- */

static dma_cookie_t submit(struct dma_async_tx_descriptor *tx)
{
	struct copy *copy = container_of(tx, struct copy, tx);
	unsigned long flags;

	spin_lock_irqsave(&engine.lock, flags);
	if (++engine.chan.cookie < DMA_MIN_COOKIE)
		engine.chan.cookie = DMA_MIN_COOKIE;
	tx->cookie = engine.chan.cookie;
	list_add_tail(&copy->node, &engine.submitted);
	spin_unlock_irqrestore(&engine.lock, flags);
	return tx->cookie;
}

static struct dma_async_tx_descriptor *prepare(struct dma_chan *chan, dma_addr_t to,
					       dma_addr_t from, size_t length,
					       unsigned long flags)
{
	struct copy *copy = kzalloc(sizeof(*copy), GFP_NOWAIT | __GFP_NOWARN);

	if (!copy)
		return NULL;
	dma_async_tx_descriptor_init(&copy->tx, chan);
	copy->tx.tx_submit = submit;
	copy->tx.flags = flags;
	copy->to = to;
	copy->from = from;
	copy->length = length;
	return &copy->tx;
}

static void issue(struct dma_chan *chan)
{
	unsigned long flags;

	spin_lock_irqsave(&engine.lock, flags);
	list_splice_tail_init(&engine.submitted, &engine.issued);
	if (!engine.busy)
		start_timer();
	spin_unlock_irqrestore(&engine.lock, flags);
}

static enum dma_status status(struct dma_chan *chan, dma_cookie_t cookie,
			      struct dma_tx_state *state)
{
	dma_cookie_t completed = smp_load_acquire(&chan->completed_cookie);

	state->last = completed;
	state->used = chan->cookie;
	state->residue = 0;
	return dma_async_is_complete(cookie, completed, chan->cookie);
}

/* Nothing is written any more; what was done may still be called back. */
static int terminate(struct dma_chan *chan)
{
	struct copy *copy, *next;
	unsigned long flags;
	LIST_HEAD(dropped);

	spin_lock_irqsave(&engine.lock, flags);
	list_splice_init(&engine.issued, &dropped);
	list_splice_init(&engine.submitted, &dropped);
	engine.busy = false;
	spin_unlock_irqrestore(&engine.lock, flags);
	list_for_each_entry_safe(copy, next, &dropped, node)
		kfree(copy);
	return 0;
}

static void synchronize(struct dma_chan *chan)
{
	hrtimer_cancel(&engine.timer);
	tasklet_kill(&engine.tasklet);
}

static int begin(struct dma_chan *chan)
{
	chan->cookie = chan->completed_cookie = DMA_MIN_COOKIE;
	return 1;
}

static void end(struct dma_chan *chan)
{
	terminate(chan);
	synchronize(chan);
}

/* ---- life ---- */

static int probe(struct platform_device *pdev)
{
	struct dma_device *device = &engine.device;
	int error = dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));

	if (error)
		return error;
	device->dev = &pdev->dev;
	dma_cap_set(DMA_MEMCPY, device->cap_mask);
	device->device_alloc_chan_resources = begin;
	device->device_free_chan_resources = end;
	device->device_prep_dma_memcpy = prepare;
	device->device_issue_pending = issue;
	device->device_tx_status = status;
	device->device_terminate_all = terminate;
	device->device_synchronize = synchronize;
	INIT_LIST_HEAD(&device->channels);
	engine.chan.device = device;
	list_add_tail(&engine.chan.device_node, &device->channels);
	return dma_async_device_register(device);
}

static int leave(struct platform_device *pdev)
{
	dma_async_device_unregister(&engine.device);
	return 0;
}

static struct platform_driver driver = {
	.driver = { .name = "omx_engine" },
	.probe = probe,
	.remove = leave,
};

static struct platform_device *device;

static int __init engine_init(void)
{
	int error;

	spin_lock_init(&engine.lock);
	INIT_LIST_HEAD(&engine.submitted);
	INIT_LIST_HEAD(&engine.issued);
	INIT_LIST_HEAD(&engine.done);
	hrtimer_init(&engine.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	engine.timer.function = timer_fired;
	tasklet_setup(&engine.tasklet, call_back);
	error = platform_driver_register(&driver);
	if (error)
		return error;
	device = platform_device_register_simple("omx_engine", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device))
		platform_driver_unregister(&driver);
	return PTR_ERR_OR_ZERO(device);
}

static void __exit engine_exit(void)
{
	platform_device_unregister(device);
	platform_driver_unregister(&driver);
}

module_init(engine_init);
module_exit(engine_exit);

MODULE_DESCRIPTION("A DMA engine by the processor, for tests");
MODULE_LICENSE("Dual BSD/GPL");
