/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starting threads with enough stack and without signals.  See thread.h.
 */
#define _GNU_SOURCE	/* dl_iterate_phdr */
#include "thread.h"

#include <link.h>
#include <signal.h>

/* Small, because mlockall(MCL_FUTURE) locks all of it into memory. */
#define STACK_SIZE	(256 * 1024)

static int thread_add_local_data(struct dl_phdr_info *object, size_t size, void *total)
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
 * The C library takes the static thread-local data of a thread out of its stack,
 * and has no public function that returns how much that is.  This counts dynamic
 * data as well, which makes the stack too large rather than too small.
 */
static size_t thread_stack_size(void)
{
	size_t total = STACK_SIZE;

	dl_iterate_phdr(thread_add_local_data, &total);
	return total;
}

static int thread_create_without_signals(pthread_t *thread, const pthread_attr_t *attributes,
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
	err = -pthread_attr_setstacksize(&attributes, thread_stack_size());
	if (!err)
		err = thread_create_without_signals(thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	return err;
}
