// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the engine's test registers (tests/engine) while a driver is using it.  Each
 * parameter, when it is written, sets the register of all channels.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>

#include "omx_engine.h"

static int poke(u32 offset, u32 value)
{
	struct pci_dev *pdev = pci_get_device(ENGINE_PCI_VENDOR, ENGINE_PCI_DEVICE, NULL);
	void __iomem *registers;
	u32 n, channels;

	registers = pdev ? pci_ioremap_bar(pdev, ENGINE_BAR) : NULL;
	if (registers) {
		channels = readl(registers + ENGINE_CAPS) & ENGINE_CAPS_CHANNELS;
		for (n = 0; n < channels; n++)
			writel(value, registers + ENGINE_CHANNEL(n) + offset);
		iounmap(registers);
	}
	pci_dev_put(pdev);
	return registers ? 0 : -ENODEV;
}

static int poke_set(const char *value, const struct kernel_param *param)
{
	u32 number;
	int error = kstrtou32(value, 0, &number);

	return error ?: poke((unsigned long)param->arg, number);
}

static const struct kernel_param_ops poke_ops = { .set = poke_set };

module_param_cb(delay_ns, &poke_ops, (void *)ENGINE_TEST_DELAY, 0200);
MODULE_PARM_DESC(delay_ns, "from reading the bytes of a page until writing them");
module_param_cb(hang_in, &poke_ops, (void *)ENGINE_TEST_HANG, 0200);
MODULE_PARM_DESC(hang_in, "the channel hangs in the Nth descriptor from now on");

MODULE_DESCRIPTION("Pokes at the tests' copy engine");
MODULE_LICENSE("GPL");
