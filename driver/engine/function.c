// SPDX-License-Identifier: GPL-2.0
/*
 * The driver of the PCI function: found and removed at any time, and reset when an
 * administrator says so.  The kernel calls this in process context.
 *
 * The function is for tests, so the module has no alias that would load it wherever
 * there is one.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/bitfield.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "engine/device_engine.h"
#include "engine/function.h"
#include "omx_engine.h"

#define FUNCTION_SVA	(ENGINE_CAPS_PASID | ENGINE_CAPS_PAGE_REQUEST)

/* ---- registers ---- */

void omx_function_reset(struct omx_function *function)
{
	unsigned int i;

	writel(ENGINE_CONTROL_RESET, function->registers + ENGINE_CONTROL);
	/* It comes back after all that the engine wrote before. */
	readl(function->registers + ENGINE_CONTROL);
	for (i = 0; i < function->rings; i++)
		omx_engine_ring_clear(&function->ring[i]);
}

bool omx_function_has_halted(struct omx_function *function)
{
	unsigned int i;
	u32 status;

	for (i = 0; i < function->rings; i++) {
		status = readl(function->ring[i].registers + ENGINE_STATUS);
		if (status & ENGINE_STATUS_HALTED)
			return true;
	}
	return false;
}

static bool function_is_known(struct omx_function *function)
{
	u32 caps = readl(function->registers + ENGINE_CAPS);

	function->max_length = readl(function->registers + ENGINE_MAX_LENGTH);
	function->has_pasid = (caps & FUNCTION_SVA) == FUNCTION_SVA;
	function->rings = min_t(u32, FIELD_GET(ENGINE_CAPS_CHANNELS, caps), OMX_RINGS_MAX);
	return readl(function->registers + ENGINE_ID) == ENGINE_ID_VALUE &&
	       readl(function->registers + ENGINE_VERSION) == ENGINE_VERSION_VALUE &&
	       function->rings && function->max_length >= PAGE_SIZE &&
	       1 << FIELD_GET(ENGINE_CAPS_RING_ORDER, caps) >= OMX_RING_ENTRIES;
}

/* ---- interrupts ---- */

static irqreturn_t function_interrupt(int irq, void *data)
{
	omx_device_engine_interrupt();
	return IRQ_HANDLED;
}

static void function_free_interrupts(struct omx_function *function, unsigned int count)
{
	while (count--)
		free_irq(pci_irq_vector(function->pdev, count), function);
	pci_free_irq_vectors(function->pdev);
}

/* One for the function and one for each channel; we look at all of them anyway. */
static int function_request_interrupts(struct omx_function *function)
{
	unsigned int count = function->rings + 1, i;
	int error;

	error = pci_alloc_irq_vectors(function->pdev, count, count, PCI_IRQ_MSIX);
	if (error < 0)
		return error;
	for (i = 0; i < count; i++) {
		error = request_irq(pci_irq_vector(function->pdev, i), function_interrupt, 0,
				    "omx-engine", function);
		if (error) {
			function_free_interrupts(function, i);
			return error;
		}
	}
	return 0;
}

/* ---- memory ---- */

static void function_free_rings(struct omx_function *function)
{
	unsigned int i;

	for (i = 0; i < function->rings; i++)
		omx_engine_ring_free(&function->ring[i]);
}

static int function_make_rings(struct omx_function *function)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < function->rings && !error; i++)
		error = omx_engine_ring_init(&function->ring[i], i,
				      function->registers + ENGINE_CHANNEL(i));
	if (error)
		function_free_rings(function);
	return error;
}

/* ---- life ---- */

static void function_release_registers(struct omx_function *function)
{
	struct pci_dev *pdev = function->pdev;

	if (function->registers)
		pci_iounmap(pdev, function->registers);
	pci_release_region(pdev, ENGINE_BAR);
	pci_disable_device(pdev);
}

static int function_claim_registers(struct omx_function *function)
{
	struct pci_dev *pdev = function->pdev;
	int error;

	error = pci_enable_device(pdev);
	if (error)
		return error;
	error = pci_request_region(pdev, ENGINE_BAR, "omx-engine");
	if (error) {
		pci_disable_device(pdev);
		return error;
	}
	function->registers = pci_iomap(pdev, ENGINE_BAR, 0);
	if (function->registers && function_is_known(function))
		return 0;
	function_release_registers(function);
	return -ENODEV;
}

static int function_start(struct omx_function *function)
{
	int error = function_make_rings(function);

	if (error)
		return error;
	error = function_request_interrupts(function);
	if (error)
		goto free_rings;
	omx_function_reset(function);
	pci_set_master(function->pdev);
	error = omx_device_engine_begin(function);
	if (!error)
		return 0;
	pci_clear_master(function->pdev);
	function_free_interrupts(function, function->rings + 1);
free_rings:
	function_free_rings(function);
	return error;
}

static int function_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct omx_function *function;
	int error;

	if (!device_iommu_mapped(&pdev->dev)) {
		omx_device_engine_explain("no IOMMU translates for it");
		return -ENODEV;
	}
	function = kzalloc(sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	function->pdev = pdev;
	error = function_claim_registers(function);
	if (error)
		goto free_function;
	error = function_start(function);
	if (error)
		goto release_registers;
	pci_set_drvdata(pdev, function);
	return 0;

release_registers:
	function_release_registers(function);
free_function:
	kfree(function);
	return error;
}

/* No page goes before the function rests. */
static void function_remove(struct pci_dev *pdev)
{
	struct omx_function *function = pci_get_drvdata(pdev);

	omx_device_engine_halt("it is being removed");
	pci_clear_master(pdev);
	function_free_interrupts(function, function->rings + 1);
	omx_device_engine_end(function, "it was removed");
	function_free_rings(function);
	function_release_registers(function);
	kfree(function);
}

static void function_reset_prepare(struct pci_dev *pdev)
{
	omx_device_engine_halt("it is being reset");
	omx_device_engine_suspend(pci_get_drvdata(pdev));
}

static void function_reset_done(struct pci_dev *pdev)
{
	omx_device_engine_resume();
}

static const struct pci_error_handlers function_handlers = {
	.reset_prepare	= function_reset_prepare,
	.reset_done	= function_reset_done,
};

static const struct pci_device_id function_ids[] = {
	{ PCI_DEVICE(ENGINE_PCI_VENDOR, ENGINE_PCI_DEVICE) },
	{ }
};

/* It must be alone in its IOMMU group: its addresses are not those of the DMA API. */
static struct pci_driver function_driver = {
	.name			= "omx",
	.id_table		= function_ids,
	.probe			= function_probe,
	.remove			= function_remove,
	.err_handler		= &function_handlers,
	.driver_managed_dma	= true,
};

static bool function_registered;

void omx_function_init(void)
{
	int error = pci_register_driver(&function_driver);

	function_registered = !error;
	if (error)
		pr_notice("no driver of the copy engine: error %d\n", error);
}

void omx_function_exit(void)
{
	if (function_registered)
		pci_unregister_driver(&function_driver);
	omx_device_engine_exit();
}
