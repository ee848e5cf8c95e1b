/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pager threads and their descriptor, which may outlive the endpoint.  See
 * pager.h.
 *
 * The threads and omx__pager_stop() share a struct pager, which has a lock of its
 * own; the threads never acquire the endpoint's lock.
 */
#include "pager.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "driver.h"
#include "environment.h"
#include "thread.h"

/* How long closing waits for the threads; only one that waits for a page needs longer. */
#define PATIENCE_NS	200000000
#define SECOND_NS	1000000000

struct pager_thread {
	struct pager *pager;
	pthread_t id;
	bool gone;			/* it is about to return, and uses the pager no more */
};

/* Outlives its endpoint if one of the threads does. */
struct pager {
	int fd;				/* bound to the endpoint with OMX_IOC_PAGER */
	pthread_mutex_t lock;		/* protects everything below */
	pthread_cond_t left;
	struct pager_thread threads[OMX_PAGERS_MAX];
	unsigned int started;		/* so many of them, in order */
	unsigned int inside;		/* so many are not gone */
	bool abandoned;			/* the endpoint is closed: the last thread frees it */
};

static void pager_destroy(struct pager *pager)
{
	omx__driver_close(pager->fd);
	pthread_cond_destroy(&pager->left);
	pthread_mutex_destroy(&pager->lock);
	free(pager);
}

static bool pager_start_thread(struct pager *pager);

static void pager_serve(struct pager *pager)
{
	struct omx_ioc_pager ioc = { 0 };

	while (!omx__driver_ioctl(pager->fd, OMX_IOC_PAGE_IN, &ioc)) {
		if (!pager_start_thread(pager))
			ioc.flags = OMX_PAGER_ALONE;
	}
}

static void *pager_run(void *argument)
{
	struct pager_thread *thread = argument;
	struct pager *pager = thread->pager;
	bool last;

	pager_serve(pager);
	pthread_mutex_lock(&pager->lock);
	thread->gone = true;
	last = !--pager->inside && pager->abandoned;
	pthread_cond_signal(&pager->left);
	pthread_mutex_unlock(&pager->lock);
	if (last)
		pager_destroy(pager);
	return NULL;
}

static bool pager_start_thread(struct pager *pager)
{
	bool started = false;

	pthread_mutex_lock(&pager->lock);
	if (pager->started < OMX_PAGERS_MAX && !pager->abandoned) {
		struct pager_thread *thread = &pager->threads[pager->started];

		thread->pager = pager;
		started = !omx__thread_start(&thread->id, pager_run, thread);
		pager->started += started;
		pager->inside += started;
	}
	pthread_mutex_unlock(&pager->lock);
	return started;
}

static struct pager *pager_create(void)
{
	struct pager *pager = calloc(1, sizeof(*pager));
	pthread_condattr_t monotonic;

	if (!pager)
		return NULL;
	pager->fd = omx__driver_open();
	if (pager->fd < 0) {
		free(pager);
		return NULL;
	}
	pthread_mutex_init(&pager->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pager->left, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return pager;
}

void omx__pager_start(struct omx__endpoint *ep)
{
	struct omx_ioc_pager ioc = { .fd = (uint32_t)ep->fd };
	struct pager *pager;

	ep->pager_settled = true;
	if (!omx__settings.progress_thread)
		return;
	pager = pager_create();
	if (!pager)
		return;
	/*
	 * Bind first: as soon as a pager is bound, workers of the kernel get only work
	 * that no thread has begun within 1 to 2 seconds.
	 */
	if (omx__driver_ioctl(pager->fd, OMX_IOC_PAGER, &ioc) || !pager_start_thread(pager)) {
		omx__verbose("no thread to page in");
		pager_destroy(pager);
		return;
	}
	ep->pager = pager;
}

/* Waits for the threads that do not wait for a page.  Must hold pager->lock. */
static void pager_wait_for_threads(struct pager *pager)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / SECOND_NS;
	until.tv_nsec %= SECOND_NS;
	while (pager->inside && !pthread_cond_timedwait(&pager->left, &pager->lock, &until))
		;
}

void omx__pager_stop(struct omx__endpoint *ep)
{
	struct omx_ioc_pager ioc = { .fd = OMX_ANY };
	struct pager *pager = ep->pager;
	unsigned int i, inside;

	if (!pager)
		return;
	/* Another process may still keep the endpoint's file open, so unbind from it. */
	omx__driver_ioctl(pager->fd, OMX_IOC_PAGER, &ioc);
	pthread_mutex_lock(&pager->lock);
	pager_wait_for_threads(pager);
	/* Until here a child made by fork() needs ep->pager to close its descriptor. */
	ep->pager = NULL;
	pager->abandoned = true;
	for (i = 0; i < pager->started; i++) {
		if (pager->threads[i].gone)
			pthread_join(pager->threads[i].id, NULL);
		else
			pthread_detach(pager->threads[i].id);
	}
	inside = pager->inside;
	pthread_mutex_unlock(&pager->lock);
	if (!inside)
		pager_destroy(pager);
}

void omx__pager_orphan(struct omx__endpoint *ep)
{
	if (ep->pager)
		omx__driver_close(ep->pager->fd);
	ep->pager = NULL;
}
