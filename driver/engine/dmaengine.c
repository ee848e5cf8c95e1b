// SPDX-License-Identifier: GPL-2.0
/*
 * The kind of engine that is a channel of the kernel's dmaengine: taking a channel
 * when the parameter copy_offload is set, having it copy by physical address, and
 * giving it up when it fails.  The pages of a program that it writes to are
 * referenced until the copy has landed, and an invalidation waits for that.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "engine/engine.h"
#include "memory/extent.h"

static const struct omx_engine_ops dma_ops;
static void dma_broken(struct work_struct *work);

/* Its channel is ours alone: we may stop it, and it works in order. */
struct omx_engine omx_dmaengine = OMX_ENGINE_INIT(omx_dmaengine, &dma_ops, dma_broken);
static struct dma_chan *dma_chan;	/* written under both locks; NULL: none */

/* ---- the end of a copy ---- */

/* By the engine, in any context. */
static void dma_copy_report(void *context, const struct dmaengine_result *result)
{
	struct omx_copy *copy = context;

	if (result && result->result != DMA_TRANS_NOERROR)
		WRITE_ONCE(copy->failed, true);
	/* Pairs with copy_is_done(): it may be used again. */
	smp_store_release(&copy->reported, true);
}

static void dma_copy_unmap(struct omx_copy *copy)
{
	struct device *dev = dmaengine_get_dma_device(dma_chan);

	dma_unmap_page(dev, copy->dma.from, copy->job.length, DMA_TO_DEVICE);
	dma_unmap_page(dev, copy->dma.to, copy->job.length, DMA_FROM_DEVICE);
}

static void dma_copy_release(struct omx_copy *copy)
{
	lockdep_assert_held(&omx_dmaengine.lock);
	dma_copy_unmap(copy);
	flush_dcache_folio(page_folio(copy->job.page));
	put_page(copy->job.page);
}

static void dma_complete(struct omx_engine *engine)
{
	struct omx_copy *copy, *next;

	list_for_each_entry_safe(copy, next, &engine->flying, in_flight) {
		enum dma_status status = dma_async_is_tx_complete(dma_chan, copy->dma.cookie,
								  NULL, NULL);

		if (status == DMA_ERROR)
			WRITE_ONCE(copy->failed, true);
		else if (status != DMA_COMPLETE)
			break;
		omx_engine_land(engine, copy);
	}
}

/* ---- its beginning ---- */

static bool dma_copy_map(struct omx_copy *copy)
{
	struct device *dev = dmaengine_get_dma_device(dma_chan);
	const struct omx_copy_job *job = &copy->job;

	copy->dma.from = dma_map_page(dev, job->frame, job->frame_offset, job->length,
				      DMA_TO_DEVICE);
	if (dma_mapping_error(dev, copy->dma.from))
		return false;
	copy->dma.to = dma_map_page(dev, job->page, job->page_offset, job->length,
				    DMA_FROM_DEVICE);
	if (!dma_mapping_error(dev, copy->dma.to))
		return true;
	dma_unmap_page(dev, copy->dma.from, job->length, DMA_TO_DEVICE);
	return false;
}

static bool dma_copy_queue(struct omx_copy *copy)
{
	struct dma_async_tx_descriptor *tx;

	tx = dmaengine_prep_dma_memcpy(dma_chan, copy->dma.to, copy->dma.from,
				       copy->job.length, DMA_PREP_INTERRUPT | DMA_CTRL_ACK);
	if (!tx)
		return false;
	tx->callback_result = dma_copy_report;
	tx->callback_param = copy;
	copy->dma.cookie = dmaengine_submit(tx);
	return !dma_submit_error(copy->dma.cookie);
}

/* Not where the cache lines at its ends are the processor's, too. */
static bool dma_job_is_aligned(const struct omx_copy_job *job)
{
	return is_dma_copy_aligned(dma_chan->device, job->frame_offset, job->page_offset,
				   job->length) &&
	       IS_ALIGNED(job->page_offset | job->length, dma_get_cache_alignment());
}

static bool dma_submit(struct omx_copy *copy)
{
	lockdep_assert_held(&omx_dmaengine.lock);
	if (!dma_job_is_aligned(&copy->job) || !dma_copy_map(copy))
		return false;
	if (!dma_copy_queue(copy)) {
		dma_copy_unmap(copy);
		return false;
	}
	get_page(copy->job.page);
	copy->job.extent->copy = copy->number;
	dma_async_issue_pending(dma_chan);
	return true;
}

static void dma_stop(struct omx_engine *engine)
{
	dmaengine_terminate_async(dma_chan);
}

static const struct omx_engine_ops dma_ops = {
	.shortest	= 1024,
	.longest	= U32_MAX,
	.copies		= 256,
	.copied		= OMX_COUNTER_DMA_COPIED,
	.refused	= OMX_COUNTER_DMA_REFUSED,
	.repeated	= OMX_COUNTER_DMA_FAILED,
	.submit		= dma_submit,
	.complete	= dma_complete,
	.release	= dma_copy_release,
	.stop		= dma_stop,
};

/* ---- the channel ---- */

static DEFINE_MUTEX(dma_setup_lock);		/* everything below */
static bool dma_wanted;
static bool ready;			/* parameters are set before init runs */

static bool dma_chan_suits(const struct dma_chan *chan)
{
	return chan->device->device_terminate_all &&
	       !dma_has_cap(DMA_COMPLETION_NO_ORDER, chan->device->cap_mask);
}

static void dma_set_chan(struct dma_chan *chan)
{
	lockdep_assert_held(&dma_setup_lock);
	spin_lock_bh(&omx_dmaengine.lock);
	dma_chan = chan;
	spin_unlock_bh(&omx_dmaengine.lock);
}

static struct dma_chan *dma_find_chan(void)
{
	struct dma_chan *chan;
	dma_cap_mask_t mask;

	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	chan = dma_request_chan_by_mask(&mask);
	if (IS_ERR(chan))
		return NULL;
	if (dma_chan_suits(chan))
		return chan;
	dma_release_channel(chan);
	return NULL;
}

static int dma_open(void)
{
	struct dma_chan *chan;
	int error;

	lockdep_assert_held(&dma_setup_lock);
	if (dma_chan)
		return 0;
	chan = dma_find_chan();
	if (!chan)
		return -ENODEV;
	dma_set_chan(chan);
	error = omx_engine_open(&omx_dmaengine);
	if (!error)
		return 0;
	dma_set_chan(NULL);
	dma_release_channel(chan);
	return error;
}

/* Transfers go on by the processor. */
static void dma_close(void)
{
	struct dma_chan *chan = dma_chan;

	lockdep_assert_held(&dma_setup_lock);
	if (!chan)
		return;
	omx_engine_retire(&omx_dmaengine);
	dmaengine_terminate_sync(chan);
	omx_engine_end_all(&omx_dmaengine);
	dma_set_chan(NULL);
	dma_release_channel(chan);
}

static void dma_broken(struct work_struct *work)
{
	mutex_lock(&dma_setup_lock);
	if (omx_dmaengine.stopped && dma_chan) {
		pr_err("the DMA engine %s does not answer, the processor copies\n",
		       dma_chan_name(dma_chan));
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
void omx_dmaengine_init(void)
{
	mutex_lock(&dma_setup_lock);
	ready = true;
	if (dma_wanted && dma_open()) {
		pr_notice("no DMA engine that copies, the processor does\n");
		dma_wanted = false;
	}
	mutex_unlock(&dma_setup_lock);
}

void omx_dmaengine_exit(void)
{
	mutex_lock(&dma_setup_lock);
	ready = false;
	dma_close();
	mutex_unlock(&dma_setup_lock);
	cancel_work_sync(&omx_dmaengine.closing);
	kvfree(omx_dmaengine.copy);
}
