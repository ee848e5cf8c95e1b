// SPDX-License-Identifier: GPL-2.0
/*
 * The file that a process opens: binds the process's page tables to a PASID of the
 * engine, until the file is closed.  When a process ends, its memory goes before its
 * files do, so a copy may still be under way then.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "driver.h"

struct process {
	struct engine *engine;
	struct iommu_sva *sva;
	u32 pasid;
	/* Its channels, and where it has left copies that it does not wait for. */
	unsigned long used, detached;
	u32 last[CHANNELS];
};

static int process_open(struct inode *inode, struct file *file)
{
	/* What a miscdevice's open finds there. */
	struct engine *engine = container_of(file->private_data, struct engine, misc);
	struct process *process = kzalloc(sizeof(*process), GFP_KERNEL);
	int error;

	if (!process)
		return -ENOMEM;
	process->engine = engine;
	process->sva = iommu_sva_bind_device(&engine->pdev->dev, current->mm);
	if (IS_ERR(process->sva)) {
		error = PTR_ERR(process->sva);
		kfree(process);
		return error;
	}
	process->pasid = iommu_sva_get_pasid(process->sva);
	file->private_data = process;
	return 0;
}

static void process_end_copies(struct process *process)
{
	unsigned int n;

	for_each_set_bit(n, &process->detached, CHANNELS) {
		struct channel *c = &process->engine->channels[n];
		struct sva_copy copy = {};

		if (!channel_is_done(c, process->last[n]))
			channel_abort(c);
		channel_result(c, process->last[n], &copy);
		dev_info(&process->engine->pdev->dev, "left behind: status %u after %u bytes\n",
			 copy.status, copy.done);
	}
}

/*
 * The PASID is free for others only when the engine does not use it any more.  The
 * kernel warns if the last user of the process's memory is a page request that is
 * still being served when the PASID is unbound.
 */
static int process_release(struct inode *inode, struct file *file)
{
	struct process *process = file->private_data;
	unsigned int n;

	process_end_copies(process);
	for_each_set_bit(n, &process->used, CHANNELS)
		while (channel_get(&process->engine->channels[n], ENGINE_PENDING))
			msleep(1);
	iommu_sva_unbind_device(process->sva);
	kfree(process);
	return 0;
}

static int copy_wait(struct channel *c, u32 number, struct sva_copy *copy)
{
	int error = wait_event_killable(c->done, channel_is_done(c, number));

	if (error)
		channel_abort(c);
	channel_result(c, number, copy);
	return error;
}

static int process_copy(struct process *process, struct sva_copy *copy)
{
	struct channel *c;
	u32 number, requests, overflows;
	int error;

	if (copy->channel >= CHANNELS)
		return -EINVAL;
	c = &process->engine->channels[copy->channel];
	requests = channel_get(c, ENGINE_PAGE_REQUESTS);
	overflows = channel_get(c, ENGINE_OVERFLOWS);
	set_bit(copy->channel, &process->used);
	error = channel_submit(c, copy, process->pasid, &number);
	if (error)
		return error;
	if (copy->flags & SVA_WAIT) {
		error = copy_wait(c, number, copy);
	} else {
		process->last[copy->channel] = number;
		set_bit(copy->channel, &process->detached);
	}
	copy->page_requests = channel_get(c, ENGINE_PAGE_REQUESTS) - requests;
	copy->overflows = channel_get(c, ENGINE_OVERFLOWS) - overflows;
	return error;
}

static long process_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct process *process = file->private_data;
	void __user *user = (void __user *)argument;
	struct sva_copy copy;
	int error;

	switch (command) {
	case SVA_COPY:
		if (copy_from_user(&copy, user, sizeof(copy)))
			return -EFAULT;
		error = process_copy(process, &copy);
		return error ?: copy_to_user(user, &copy, sizeof(copy)) ? -EFAULT : 0;
	case SVA_PASID:
		return put_user(process->pasid, (u32 __user *)user);
	default:
		return -ENOTTY;
	}
}

const struct file_operations process_operations = {
	.owner = THIS_MODULE,
	.open = process_open,
	.release = process_release,
	.unlocked_ioctl = process_ioctl,
};
