/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pager.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "driver.h"
#include "environment.h"
#include "thread.h"

/* Threads that do not wait for a page leave at once, once they run. */
#define PATIENCE_NS	200000000
#define SECOND_NS	1000000000

struct thread {
	struct pager *pager;
	pthread_t id;
	bool gone;			/* but for its return */
};

/* It outlives its endpoint if one of its threads does. */
struct pager {
	int fd;				/* bound to the endpoint */
	pthread_mutex_t lock;		/* everything below */
	pthread_cond_t left;
	struct thread threads[OMX_PAGERS_MAX];
	unsigned int started;		/* of those, the first ones */
	unsigned int inside;
	bool abandoned;			/* the last thread frees it */
};

static void pager_destroy(struct pager *pager)
{
	omx__driver_close(pager->fd);
	pthread_cond_destroy(&pager->left);
	pthread_mutex_destroy(&pager->lock);
	free(pager);
}

static bool start_thread(struct pager *pager);

static void pager_serve(struct pager *pager)
{
	struct omx_ioc_pager ioc = { 0 };

	while (!omx__driver_ioctl(pager->fd, OMX_IOC_PAGE_IN, &ioc)) {
		if (!start_thread(pager))
			ioc.flags = OMX_PAGER_ALONE;
	}
}

static void *pager_run(void *argument)
{
	struct thread *thread = argument;
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

static bool start_thread(struct pager *pager)
{
	bool started = false;

	pthread_mutex_lock(&pager->lock);
	if (pager->started < OMX_PAGERS_MAX && !pager->abandoned) {
		struct thread *thread = &pager->threads[pager->started];

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
	/* First, so that no page is brought by others before the thread is there. */
	if (omx__driver_ioctl(pager->fd, OMX_IOC_PAGER, &ioc) || !start_thread(pager)) {
		omx__verbose("no thread to page in");
		pager_destroy(pager);
		return;
	}
	ep->pager = pager;
}

/* Must hold pager->lock.  Waits for those who can leave. */
static void wait_for_threads(struct pager *pager)
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
	/* Others may still hold the endpoint's file: what is pending is theirs. */
	omx__driver_ioctl(pager->fd, OMX_IOC_PAGER, &ioc);
	pthread_mutex_lock(&pager->lock);
	wait_for_threads(pager);
	/* A child of fork() has closed the file until now; its threads may free it next. */
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
