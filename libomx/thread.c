/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE	/* dl_iterate_phdr */
#include "thread.h"

#include <link.h>
#include <signal.h>

/* Mostly untouched, but locked into memory after mlockall(MCL_FUTURE). */
#define STACK_SIZE	(256 * 1024)

static int add_thread_local(struct dl_phdr_info *object, size_t size, void *total)
{
	int i;

	(void)size;
	for (i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];

		if (header->p_type == PT_TLS)
			*(size_t *)total += header->p_memsz + header->p_align;
	}
	return 0;
}

/*
 * The C library takes static thread-local data out of the stack and has no
 * public call that tells how much that is.  This counts dynamic data as well,
 * which errs on the safe side.
 */
static size_t stack_size(void)
{
	size_t total = STACK_SIZE;

	dl_iterate_phdr(add_thread_local, &total);
	return total;
}

static int create_without_signals(pthread_t *thread, const pthread_attr_t *attributes,
				  void *(*run)(void *), void *argument)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, attributes, run, argument);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

int omx__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	int err = pthread_attr_init(&attributes);

	if (err)
		return -err;
	err = -pthread_attr_setstacksize(&attributes, stack_size());
	if (!err)
		err = create_without_signals(thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	return err;
}
