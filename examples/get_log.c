/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logging of gets, so that a process which was killed can be replaced by another one that
 * gets to the same state [Besta15, section 4.4].  What a process gets from others is part
 * of its state, but it cannot log that where it does not get lost with it.  Here the
 * owner of the memory has it: its pages log each get with the data that it brings, and
 * the reader pays nothing but that.
 *
 *	get_log serve READERS
 *	get_log BOARD FILE GETS
 *
 * The owner changes its window all the time.  A reader makes a number of gets of 8 bytes,
 * and where each of them reads depends on what those before it have brought.  It begins
 * with the gets of all readers before it, whose data it takes from the owner's log.  So a
 * reader that was killed is simply started again.  FILE has what the gets have brought, to
 * compare with: if it is not new, the gets in the log must have brought the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peer.h"

#define KEY		0x4a5e
#define WORDS		(1u << 16)
#define SIZE		((uint64_t)WORDS * sizeof(uint64_t))
#define LOG_SIZE	(16u << 20)	/* room for 131072 gets */
#define SAVE_EVERY	20		/* ms */
#define GETS_MAX	(16u << 20)

#define HELLO		1		/* match infos */
#define KEYS		2
#define COUNT		3
#define GETS		4
#define BYE		5

/* What the owner tells a reader. */
struct keys {
	omx_key_t logged;
	omx_key_t plain;		/* the same memory, by pages that are not active */
};

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 16;
}

/* ---- the owner ---------------------------------------------------------------------- */

static uint64_t *words;			/* the window */
static omx_log_t get_log;
static uint64_t *saved;			/* what logged gets have brought, in their order */
static uint64_t saved_count;

static void save(const omx_log_entry_t *entry)
{
	if (!(saved_count & (saved_count - 1))) {
		saved = realloc(saved, (2 * saved_count + 1) * sizeof(*saved));
		if (!saved)
			die("there is no memory for %llu gets", (unsigned long long)saved_count);
	}
	memcpy(&saved[saved_count++], entry->data, sizeof(*saved));
}

/* Nothing is lost if this is late: gets wait when the log is full. */
static void save_log(void)
{
	omx_log_entry_t entry;
	uint32_t result;

	for (;;) {
		check("poll", omx_log_poll(ep, get_log, &entry, &result));
		if (!result)
			return;
		save(&entry);
		check("release", omx_log_release(ep, get_log));
	}
}

static void change_words(void)
{
	static uint64_t state;
	int i;

	for (i = 0; i < 1000; i++)
		words[random_next(&state) % WORDS] = random_next(&state);
}

static omx_key_t export_words(uint32_t rights, omx_window_t *window)
{
	omx_key_t key;

	check("window", omx_window_create(ep, words, SIZE, OMX_WINDOW_RIGHT_GET | rights, NULL,
					  window));
	check("key", omx_window_key(ep, *window, &key));
	return key;
}

/*
 * The gets of the readers before it are all in the log when their window is gone: later
 * ones fail.
 */
static void welcome(omx_endpoint_addr_t reader)
{
	static omx_window_t logged, plain;
	struct keys keys;

	if (logged) {
		check("destroy", omx_window_destroy(ep, logged));
		check("destroy", omx_window_destroy(ep, plain));
	}
	save_log();
	keys.plain = export_words(0, &plain);
	keys.logged = export_words(OMX_WINDOW_RIGHT_ACTIVE, &logged);
	check("pages", omx_window_activate(ep, logged, 0, SIZE, OMX_ACTIVE_R | OMX_ACTIVE_RL |
					   OMX_ACTIVE_RLD | OMX_ACTIVE_E, get_log));
	send_message(reader, &keys, sizeof(keys), KEYS);
	send_message(reader, &saved_count, sizeof(saved_count), COUNT);
	send_message(reader, saved, saved_count * sizeof(*saved), GETS);
}

/* Changes the words and saves the log until there is a message. */
static uint64_t next_message(omx_status_t *status)
{
	omx_request_t request;
	uint32_t done = 0;

	check("receive", omx_irecv(ep, NULL, 0, 0, 0, NULL, &request));
	while (!done) {
		change_words();
		save_log();
		check("wait", omx_wait(ep, &request, status, &done, SAVE_EVERY));
	}
	check("message", status->code);
	return status->match_info;
}

static void serve(uint64_t readers)
{
	omx_status_t status;

	words = allocate(SIZE);
	open_endpoint(0, KEY);
	check("log", omx_log_create(ep, LOG_SIZE, &get_log));
	while (readers) {
		if (next_message(&status) == HELLO)
			welcome(status.addr);
		else
			readers--;
	}
	save_log();
	printf("%llu gets saved\n", (unsigned long long)saved_count);
}

/* ---- a reader ----------------------------------------------------------------------- */

/* FILE */
struct record {
	uint64_t count;			/* gets so far */
	uint64_t brought[GETS_MAX];
};

static omx_endpoint_addr_t owner;
static struct keys keys;

/* Shared with the file, so that it is there even if the process is killed. */
static struct record *open_record(const char *name)
{
	int file = open(name, O_RDWR | O_CREAT, 0600);
	struct record *record = MAP_FAILED;

	if (file >= 0 && !ftruncate(file, sizeof(*record)))
		record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (record == MAP_FAILED)
		die("%s: %s", name, strerror(errno));
	close(file);
	return record;
}

static void record_add(struct record *record, uint64_t word)
{
	record->brought[record->count] = word;
	/* Release: a record that is read after a kill has the word, too. */
	__atomic_store_n(&record->count, record->count + 1, __ATOMIC_RELEASE);
}

static uint64_t get_word(omx_key_t key, uint64_t state)
{
	omx_request_t request;
	uint64_t word;

	check("get", omx_iget(ep, &word, sizeof(word), owner, key, state % WORDS * sizeof(word),
			      NULL, &request));
	finish(&request, NULL);
	return word;
}

/* The state decides what is read next. */
static uint64_t advance(uint64_t state, uint64_t word)
{
	state ^= word;
	return random_next(&state);
}

/* Takes the first gets from the log.  Returns the state after them. */
static uint64_t replay(struct record *record, const uint64_t *logged, uint64_t count)
{
	uint64_t compared = record->count, state = 0, changed = 0, i;

	if (compared > count)
		die("%llu gets were not logged", (unsigned long long)(compared - count));
	for (i = 0; i < count; i++) {
		if (i >= compared)
			record_add(record, logged[i]);
		else if (record->brought[i] != logged[i])
			die("get %llu brought something else", (unsigned long long)i);
		changed += get_word(keys.plain, state) != logged[i];
		state = advance(state, logged[i]);
	}
	printf("%llu gets replayed, %llu of them compared; %llu would bring something else now\n",
	       (unsigned long long)count, (unsigned long long)compared,
	       (unsigned long long)changed);
	return state;
}

/* Returns how long it takes. */
static double get_rest(struct record *record, uint64_t state, uint64_t gets)
{
	double start = now();

	while (record->count < gets) {
		uint64_t word = get_word(keys.logged, state);

		record_add(record, word);
		state = advance(state, word);
	}
	return now() - start;
}

/* The same without logging. */
static double get_plain(uint64_t gets)
{
	double start = now();
	uint64_t state = 0, i;

	for (i = 0; i < gets; i++)
		state = advance(state, get_word(keys.plain, state));
	return now() - start;
}

static void run_reader(const char *name, uint64_t gets)
{
	struct record *record = open_record(name);
	uint64_t count, *logged, state, rest;
	double with, without;

	send_message(owner, NULL, 0, HELLO);
	receive_message(&keys, sizeof(keys), KEYS, NULL);
	receive_message(&count, sizeof(count), COUNT, NULL);
	logged = allocate((count + 1) * sizeof(*logged));
	receive_message(logged, count * sizeof(*logged), GETS, NULL);
	if (count > gets)
		die("%llu gets are logged already", (unsigned long long)count);
	state = replay(record, logged, count);
	rest = gets - count;
	get_plain(1000);		/* so that both are measured with everything in place */
	with = get_rest(record, state, gets);
	without = get_plain(rest);
	if (rest)
		printf("%.0f gets/s, %.0f with logging (%+.1f %% time)\n",
		       (double)rest / without, (double)rest / with, 100 * (with / without - 1));
	send_message(owner, NULL, 0, BYE);
}

static const char usage[] =
	"usage: get_log serve READERS\n"
	"       get_log BOARD FILE GETS\n"
	"\n"
	"Makes gets from a window whose pages log them, after those in the log have been\n"
	"replayed.  The owner ends when so many readers have made all their gets.  Start the\n"
	"readers one after the other on another node, or on the same one, kill them, and start\n"
	"them again.  BOARD is where the server is, for instance node1:0.  FILE has what the\n"
	"gets have brought.\n";

int main(int argc, char **argv)
{
	begin(argc, argv, usage);
	if (argc == 3 && !strcmp(argv[1], "serve")) {
		serve(number_in(argv[2], "READERS", 1, 1000));
	} else if (argc == 4) {
		uint64_t gets = number_in(argv[3], "GETS", 1, GETS_MAX);

		open_endpoint(OMX_ANY_ENDPOINT, KEY);
		owner = connect_to(argv[1], 0, KEY);
		run_reader(argv[2], gets);
	} else {
		misused(usage);
	}
	close_endpoint();
	return 0;
}
