// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses the engine's registers (tests/engine) while a driver is using it.  Writing a
 * parameter sets the test register of all channels; reading one returns the sum of theirs.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "omx_engine.h"

/* Calls this for the register of each channel. */
static int poke_channels(void (*fn)(void __iomem *at, u32 *value), u32 offset, u32 *value)
{
	struct pci_dev *pdev = pci_get_device(ENGINE_PCI_VENDOR, ENGINE_PCI_DEVICE, NULL);
	void __iomem *registers;
	u32 n, channels;

	registers = pdev ? pci_ioremap_bar(pdev, ENGINE_BAR) : NULL;
	if (registers) {
		channels = readl(registers + ENGINE_CAPS) & ENGINE_CAPS_CHANNELS;
		for (n = 0; n < channels; n++)
			fn(registers + ENGINE_CHANNEL(n) + offset, value);
		iounmap(registers);
	}
	pci_dev_put(pdev);
	return registers ? 0 : -ENODEV;
}

static void poke_write(void __iomem *at, u32 *value)
{
	writel(*value, at);
}

static void poke_add(void __iomem *at, u32 *sum)
{
	*sum += readl(at);
}

static int poke_set(const char *value, const struct kernel_param *param)
{
	u32 number;
	int error = kstrtou32(value, 0, &number);

	return error ?: poke_channels(poke_write, (unsigned long)param->arg, &number);
}

static int poke_get(char *buffer, const struct kernel_param *param)
{
	u32 sum = 0;
	int error = poke_channels(poke_add, (unsigned long)param->arg, &sum);

	return error ?: sysfs_emit(buffer, "%u\n", sum);
}

static const struct kernel_param_ops poke_ops = { .set = poke_set };
static const struct kernel_param_ops peek_ops = { .get = poke_get };

module_param_cb(delay_ns, &poke_ops, (void *)ENGINE_TEST_DELAY, 0200);
MODULE_PARM_DESC(delay_ns, "from reading the bytes of a page until writing them");
module_param_cb(hang_in, &poke_ops, (void *)ENGINE_TEST_HANG, 0200);
MODULE_PARM_DESC(hang_in, "the channel hangs in the Nth descriptor from now on");
module_param_cb(flood, &poke_ops, (void *)ENGINE_TEST_FLOOD, 0200);
MODULE_PARM_DESC(flood, "more page requests with each page that a copy waits for");
module_param_cb(completed, &peek_ops, (void *)ENGINE_HEAD, 0400);
MODULE_PARM_DESC(completed, "descriptors since the channels were enabled");
module_param_cb(page_requests, &peek_ops, (void *)ENGINE_PAGE_REQUESTS, 0400);
MODULE_PARM_DESC(page_requests, "that the IOMMU has taken since then");
module_param_cb(overflows, &peek_ops, (void *)ENGINE_OVERFLOWS, 0400);
MODULE_PARM_DESC(overflows, "page requests that it had no room for since then");
module_param_cb(pending, &peek_ops, (void *)ENGINE_PENDING, 0400);
MODULE_PARM_DESC(pending, "page requests without a response");

MODULE_DESCRIPTION("Pokes at the tests' copy engine");
MODULE_LICENSE("GPL");
