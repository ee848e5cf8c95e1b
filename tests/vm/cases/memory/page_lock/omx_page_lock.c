// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds the lock of a page, as long as the test ../unpinning wants.  A program
 * writes the address of one of its pages to the module's parameter; 0, or
 * removing the module, unlocks the page.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>

/* Locked and referenced, or NULL.  Parameters are set, and modules removed, one at a time. */
static struct folio *locked;

static void page_unlock(void)
{
	if (!locked)
		return;
	folio_unlock(locked);
	folio_put(locked);
	locked = NULL;
}

/* A page of the program that writes the parameter. */
static int page_lock(unsigned long address)
{
	struct page *page;
	int count = get_user_pages_fast(address, 1, FOLL_WRITE, &page);

	if (count != 1)
		return count < 0 ? count : -EFAULT;
	locked = page_folio(page);
	folio_lock(locked);
	return 0;
}

static int address_set(const char *value, const struct kernel_param *parameter)
{
	unsigned long address;
	int error = kstrtoul(value, 0, &address);

	if (error)
		return error;
	page_unlock();
	return address ? page_lock(address) : 0;
}

static const struct kernel_param_ops address_ops = { .set = address_set };
module_param_cb(address, &address_ops, NULL, 0200);
MODULE_PARM_DESC(address, "of the page whose lock is held, 0: none");

static int __init page_lock_init(void)
{
	return 0;
}

static void __exit page_lock_exit(void)
{
	page_unlock();
}

module_init(page_lock_init);
module_exit(page_lock_exit);

MODULE_DESCRIPTION("Holds the lock of a page, for tests");
MODULE_LICENSE("Dual BSD/GPL");
