// SPDX-License-Identifier: GPL-2.0
/*
 * Binds the function, and unbinds it whenever the kernel says so, also while the
 * engine is copying.  The device's attribute "act" takes the name of an act.
 */
#include <linux/bitfield.h>
#include <linux/interrupt.h>
#include <linux/module.h>

#include "driver.h"

void engine_reset(struct engine *engine)
{
	writel(ENGINE_CONTROL_RESET, engine->registers + ENGINE_CONTROL);
	/* A read comes back after all that the engine wrote before it. */
	readl(engine->registers + ENGINE_CONTROL);
}

/* ---- interrupts ---- */

static irqreturn_t channel_interrupt(int irq, void *data)
{
	struct channel *channel = data;

	atomic_inc(&channel->interrupts);
	if (READ_ONCE(channel->loaded))
		load_submit(channel);
	return IRQ_HANDLED;
}

static irqreturn_t error_interrupt(int irq, void *data)
{
	struct engine *engine = data;

	atomic_inc(&engine->errors);
	return IRQ_HANDLED;
}

static int engine_request_interrupts(struct engine *engine)
{
	struct pci_dev *pdev = engine->pdev;
	int n, error;

	error = pci_alloc_irq_vectors(pdev, CHANNELS + 1, CHANNELS + 1, PCI_IRQ_MSIX);
	if (error < 0)
		return error;
	error = devm_request_irq(&pdev->dev, pci_irq_vector(pdev, 0), error_interrupt, 0,
				 "engine", engine);
	for (n = 0; !error && n < CHANNELS; n++)
		error = devm_request_irq(&pdev->dev, pci_irq_vector(pdev, n + 1),
					 channel_interrupt, 0, "engine-channel",
					 &engine->channels[n]);
	return error;
}

static void engine_free_interrupts(struct engine *engine)
{
	struct device *dev = &engine->pdev->dev;
	int n;

	devm_free_irq(dev, pci_irq_vector(engine->pdev, 0), engine);
	for (n = 0; n < CHANNELS; n++)
		devm_free_irq(dev, pci_irq_vector(engine->pdev, n + 1), &engine->channels[n]);
	pci_free_irq_vectors(engine->pdev);
}

/* ---- the function ---- */

static int engine_check(struct engine *engine)
{
	u32 caps = readl(engine->registers + ENGINE_CAPS);

	if (readl(engine->registers + ENGINE_ID) == ENGINE_ID_VALUE &&
	    readl(engine->registers + ENGINE_VERSION) == ENGINE_VERSION_VALUE &&
	    FIELD_GET(ENGINE_CAPS_CHANNELS, caps) == CHANNELS &&
	    1 << FIELD_GET(ENGINE_CAPS_RING_ORDER, caps) >= ENTRIES)
		return 0;
	dev_err(&engine->pdev->dev, "not the engine that omx_engine.h describes\n");
	return -ENODEV;
}

static void engine_release_domain(struct engine *engine)
{
	int n;

	for (n = 0; n < CHANNELS; n++)
		channel_unmap(&engine->channels[n]);
	iommu_detach_device(engine->domain, &engine->pdev->dev);
	iommu_domain_free(engine->domain);
}

static int engine_own_domain(struct engine *engine)
{
	int n, error;

	engine->domain = domain_alloc(&engine->pdev->dev);
	if (IS_ERR_OR_NULL(engine->domain))
		return -ENODEV;
	error = iommu_attach_device(engine->domain, &engine->pdev->dev);
	if (error) {
		iommu_domain_free(engine->domain);
		return error;
	}
	for (n = 0; !error && n < CHANNELS; n++)
		error = channel_map(&engine->channels[n]);
	if (error)
		engine_release_domain(engine);
	return error;
}

static void engine_init(struct engine *engine, struct pci_dev *pdev)
{
	int n;

	engine->pdev = pdev;
	engine->registers = pcim_iomap_table(pdev)[ENGINE_BAR];
	for (n = 0; n < CHANNELS; n++) {
		engine->channels[n].engine = engine;
		engine->channels[n].number = n;
		spin_lock_init(&engine->channels[n].lock);
		engine->channels[n].registers = engine->registers + ENGINE_CHANNEL(n);
	}
}

static int engine_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct engine *engine = devm_kzalloc(&pdev->dev, sizeof(*engine), GFP_KERNEL);
	int error;

	if (!engine)
		return -ENOMEM;
	pci_set_drvdata(pdev, engine);
	error = pcim_enable_device(pdev) ?:
		pcim_iomap_regions(pdev, BIT(ENGINE_BAR), "engine");
	if (error)
		return error;
	engine_init(engine, pdev);
	error = engine_check(engine) ?: engine_own_domain(engine);
	if (error)
		return error;
	error = engine_request_interrupts(engine);
	if (error)
		engine_release_domain(engine);
	else
		pci_set_master(pdev);
	return error;
}

/*
 * No page goes before the engine rests.  An interrupt that is still on its way submits
 * to channels that the reset has disabled.
 */
static void engine_remove(struct pci_dev *pdev)
{
	struct engine *engine = pci_get_drvdata(pdev);

	engine_reset(engine);
	pci_clear_master(pdev);
	engine_free_interrupts(engine);
	engine_release_domain(engine);
}

static void engine_reset_prepare(struct pci_dev *pdev)
{
	struct engine *engine = pci_get_drvdata(pdev);
	int n;

	for (n = 0; n < CHANNELS; n++)
		WRITE_ONCE(engine->channels[n].loaded, false);
}

static const struct pci_error_handlers engine_handlers = {
	.reset_prepare = engine_reset_prepare,
};

static ssize_t act_store(struct device *dev, struct device_attribute *attribute,
			 const char *name, size_t count)
{
	return act_run(dev_get_drvdata(dev), name) ?: count;
}
static DEVICE_ATTR_WO(act);

static struct attribute *engine_attrs[] = { &dev_attr_act.attr, NULL };
ATTRIBUTE_GROUPS(engine);

static const struct pci_device_id engine_ids[] = {
	{ PCI_DEVICE(ENGINE_PCI_VENDOR, ENGINE_PCI_DEVICE) },
	{ }
};

static struct pci_driver engine_driver = {
	.name = "engine_driver",
	.id_table = engine_ids,
	.probe = engine_probe,
	.remove = engine_remove,
	.err_handler = &engine_handlers,
	.dev_groups = engine_groups,
	.driver_managed_dma = true,
};
module_pci_driver(engine_driver);

MODULE_DESCRIPTION("A driver of the tests' copy engine");
MODULE_LICENSE("GPL");
