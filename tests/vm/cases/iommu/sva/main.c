// SPDX-License-Identifier: GPL-2.0
/*
 * Binds the function and offers it to processes as /dev/sva.  It cannot be unbound
 * while a process has that open: the file holds the module.
 */
#include <linux/interrupt.h>
#include <linux/module.h>

#include "driver.h"

#define NEEDED	(ENGINE_CAPS_PASID | ENGINE_CAPS_PAGE_REQUEST)

static irqreturn_t channel_interrupt(int irq, void *data)
{
	struct channel *channel = data;

	wake_up_all(&channel->done);
	return IRQ_HANDLED;
}

static int engine_request_interrupts(struct engine *engine)
{
	struct pci_dev *pdev = engine->pdev;
	int n, error;

	error = pci_alloc_irq_vectors(pdev, CHANNELS + 1, CHANNELS + 1, PCI_IRQ_MSIX);
	for (n = 0; error >= 0 && n < CHANNELS; n++)
		error = request_irq(pci_irq_vector(pdev, n + 1), channel_interrupt, 0,
				    "sva-channel", &engine->channels[n]);
	return error < 0 ? error : 0;
}

static void engine_free_interrupts(struct engine *engine)
{
	int n;

	for (n = 0; n < CHANNELS; n++)
		free_irq(pci_irq_vector(engine->pdev, n + 1), &engine->channels[n]);
	pci_free_irq_vectors(engine->pdev);
}

static void engine_reset(struct engine *engine)
{
	writel(ENGINE_CONTROL_RESET, engine->registers + ENGINE_CONTROL);
	/* A read comes back after all that the engine wrote before it. */
	readl(engine->registers + ENGINE_CONTROL);
}

static int engine_check(struct engine *engine)
{
	if (readl(engine->registers + ENGINE_ID) == ENGINE_ID_VALUE &&
	    (readl(engine->registers + ENGINE_CAPS) & NEEDED) == NEEDED)
		return 0;
	dev_err(&engine->pdev->dev, "not an engine with PASID and page requests\n");
	return -ENODEV;
}

static int engine_start(struct engine *engine)
{
	int n, error;

	pci_set_master(engine->pdev);
	engine_reset(engine);
	for (n = 0; n < CHANNELS; n++) {
		error = channel_init(engine, n);
		if (error)
			return error;
	}
	error = engine_request_interrupts(engine);
	if (error)
		return error;
	engine->misc = (struct miscdevice) {
		.minor = MISC_DYNAMIC_MINOR, .name = "sva", .fops = &process_operations,
	};
	return misc_register(&engine->misc);
}

static int engine_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct engine *engine = devm_kzalloc(&pdev->dev, sizeof(*engine), GFP_KERNEL);
	int error;

	if (!engine)
		return -ENOMEM;
	engine->pdev = pdev;
	pci_set_drvdata(pdev, engine);
	error = pcim_enable_device(pdev);
	if (error)
		return error;
	engine->registers = pcim_iomap_region(pdev, ENGINE_BAR, "sva");
	if (IS_ERR(engine->registers))
		return PTR_ERR(engine->registers);
	return engine_check(engine) ?:
	       dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64)) ?: engine_start(engine);
}

static void engine_report(struct engine *engine)
{
	u32 requests = 0, overflows = 0;
	int n;

	for (n = 0; n < CHANNELS; n++) {
		requests += channel_get(&engine->channels[n], ENGINE_PAGE_REQUESTS);
		overflows += channel_get(&engine->channels[n], ENGINE_OVERFLOWS);
	}
	dev_info(&engine->pdev->dev, "%u page requests, %u that the IOMMU did not take\n",
		 requests, overflows);
}

static void engine_remove(struct pci_dev *pdev)
{
	struct engine *engine = pci_get_drvdata(pdev);

	misc_deregister(&engine->misc);
	engine_report(engine);
	engine_reset(engine);
	pci_clear_master(pdev);
	engine_free_interrupts(engine);
}

static const struct pci_device_id engine_ids[] = {
	{ PCI_DEVICE(ENGINE_PCI_VENDOR, ENGINE_PCI_DEVICE) },
	{ }
};

static struct pci_driver sva_driver = {
	.name = "sva_driver",
	.id_table = engine_ids,
	.probe = engine_probe,
	.remove = engine_remove,
};
module_pci_driver(sva_driver);

MODULE_DESCRIPTION("Copies of the tests' engine with the page tables of processes");
MODULE_LICENSE("GPL");
