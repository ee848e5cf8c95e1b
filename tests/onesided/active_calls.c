// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls on logs that meet: of several threads, of handlers, and with signals.  One program
 * accesses itself.
 *
 *	--seconds N	for which threads call again and again
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"

#define SIZE		OMX_ACTIVE_PAGE_SIZE	/* of the window */
#define RECORD		100
#define ACTIVE		(OMX_ACTIVE_WLD | OMX_ACTIVE_E)
#define PUTS_MAX	5000			/* the log has room for their entries */
#define QUICKLY		(5 * slowness())	/* s */
#define HELD_MS		30			/* longer than it takes to destroy a log */

static omx_endpoint_t ep;
static struct remote self;
static omx_window_t window;
static bool ending;

static bool is_ending(void)
{
	return __atomic_load_n(&ending, __ATOMIC_RELAXED);
}

static pthread_t start_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	__atomic_store_n(&ending, false, __ATOMIC_RELAXED);
	CHECK(!pthread_create(&thread, NULL, run, argument));
	return thread;
}

static void end_thread(pthread_t thread)
{
	__atomic_store_n(&ending, true, __ATOMIC_RELAXED);
	CHECK(!pthread_join(thread, NULL));
}

static omx_log_t make_log(void)
{
	omx_log_t log;

	MUST(omx_log_create(ep, 0, &log));
	return log;
}

static omx_log_t make_active(void)
{
	omx_log_t log = make_log();

	MUST(omx_window_activate(ep, window, 0, SIZE, ACTIVE, log));
	return log;
}

static void end_active(omx_log_t log)
{
	MUST(omx_window_activate(ep, window, 0, SIZE, OMX_ACTIVE_W | OMX_ACTIVE_R, NULL));
	MUST(omx_log_destroy(ep, log));
}

/* ---- a log that cannot be destroyed ----------------------------------------------------- */

static uint64_t handled;

static void count_entry(omx_endpoint_t unused, const omx_log_entry_t *entry, void *context)
{
	(void)unused, (void)context;
	EQUAL(entry->data_length, RECORD);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *destroy_in_vain(void *log)
{
	while (!is_ending())
		RETURNS(omx_log_destroy(ep, log), OMX_BUSY);
	return NULL;
}

/* Its pages name it, so its handler takes every entry. */
static void handler_goes_on(void)
{
	static const uint8_t record[RECORD];
	double end = now() + options.seconds;
	omx_log_t log = make_active();
	pthread_t thread;
	uint64_t puts;

	MUST(omx_log_handler(ep, log, count_entry, NULL));
	thread = start_thread(destroy_in_vain, log);
	for (puts = 0; puts < PUTS_MAX && now() < end; puts++)
		MUST(try_put(&self, 0, record, RECORD));
	AWAIT(__atomic_load_n(&handled, __ATOMIC_RELAXED) == puts, QUICKLY, 1,
	      "%llu of %llu entries handled", (unsigned long long)handled,
	      (unsigned long long)puts);
	end_thread(thread);
	end_active(log);
}

/* ---- numbers that are used again ----------------------------------------------------------- */

static void use_log(unsigned int milliseconds)
{
	omx_log_stats_t stats;
	omx_log_t log = make_log();

	sleep_ms(milliseconds);
	MUST(omx_log_stats(ep, log, &stats));
	MUST(omx_log_destroy(ep, log));
	RETURNS(omx_log_stats(ep, log, &stats), OMX_BAD_REQUEST);
}

static void *use_others(void *unused)
{
	while (!is_ending())
		use_log(0);
	return unused;
}

static void logs_are_kept_apart(void)
{
	double end = now() + options.seconds;
	pthread_t thread = start_thread(use_others, NULL);

	while (now() < end)
		use_log(HELD_MS);
	end_thread(thread);
}

/* ---- a log that is waited for --------------------------------------------------------------- */

static omx_return_t destroyed;

static omx_unexp_handler_action_t destroy_log(void *log, omx_endpoint_addr_t source,
					      uint64_t match, uint32_t length, void *data)
{
	(void)source, (void)match, (void)length, (void)data;
	destroyed = omx_log_destroy(ep, log);
	return OMX_UNEXP_HANDLER_RECV_FINISHED;
}

/* The call that waits runs the handler, which tries to destroy the log. */
static void waited_for_stays(void)
{
	omx_log_t log = make_log();
	omx_log_entry_t entry;
	double end = now() + QUICKLY;
	uint32_t result;

	destroyed = OMX_SUCCESS;
	MUST(omx_register_unexp_handler(ep, destroy_log, log));
	MUST(omx_isend(ep, NULL, 0, self.addr, 1, NULL, NULL));
	while (!destroyed && now() < end) {
		MUST(omx_log_wait(ep, log, &entry, &result, 10));
		CHECK(!result);
	}
	EQUAL(destroyed, OMX_BUSY);
	MUST(omx_register_unexp_handler(ep, NULL, NULL));
	MUST(omx_log_destroy(ep, log));
}

/* ---- signals -------------------------------------------------------------------------------- */

static void ignore_signal(int signal)
{
	(void)signal;
}

static void *interrupt(void *thread)
{
	double end = now() + QUICKLY;

	while (!is_ending() && now() < end) {
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		sleep_ms(20);
	}
	return NULL;
}

/* However often a signal ends the sleep. */
static void timeout_holds(void)
{
	const struct sigaction action = { .sa_handler = ignore_signal };
	pthread_t main_thread = pthread_self(), thread;
	omx_log_t log = make_log();
	omx_log_entry_t entry;
	uint32_t result;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	thread = start_thread(interrupt, &main_thread);
	LASTS(100, MUST(omx_log_wait(ep, log, &entry, &result, 100)));
	CHECK(!result);
	end_thread(thread);
	MUST(omx_log_destroy(ep, log));
}

static void run_test(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);

	/* Or that thread would run the handler of unexpected messages. */
	setenv("OMX_PROGRESS_THREAD", "0", 1);
	MUST(omx_init());
	ep = open_number(options.endpoint, NULL, 0);
	MUST(omx_window_create(ep, memory, SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	self = (struct remote){ .ep = ep, .addr = connect_self(ep) };
	MUST(omx_window_key(ep, window, &self.key));
	timeout_holds();
	waited_for_stays();
	logs_are_kept_apart();
	handler_goes_on();
	MUST(omx_close_endpoint(ep));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	options.seconds = 1;
	return run_alone(argc, argv, run_test);
}
