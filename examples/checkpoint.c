/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Incremental checkpoints of a window that its owner and peers write: only pages that
 * have changed since the last checkpoint are saved [Besta15, section 4.3]. A log says
 * which pages peers have written, and the kernel's soft-dirty bits say which pages the
 * owner has. These say rather too much: when a put needs a page, the driver brings the
 * pages around it as well, and makes them writable, which counts as a write.
 *
 *	checkpoint serve FILE CHECKPOINTS
 *	checkpoint BOARD
 *
 * The client writes random pages until the owner is done. At the end the owner restores
 * the window from the file and compares.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

#define KEY		0x4a5d
#define PAGES		2048u
#define PAGE_SIZE	4096u		/* of the log and of this machine */
#define SIZE		((uint64_t)PAGES * PAGE_SIZE)
#define LOCAL		20		/* pages that the owner writes before each checkpoint */

#define HELLO		1		/* match infos */
#define WINDOW		2
#define STOP		3
#define STOPPED		4

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void pause_ms(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- which pages have changed ------------------------------------------------------ */

static uint8_t *window;			/* of PAGES pages */
static uint8_t is_dirty[PAGES];

/* An entry is in the log when its put has been performed. */
static unsigned int note_remote(omx_log_t log)
{
	omx_log_entry_t entry;
	unsigned int pages = 0;
	uint32_t result;

	for (;;) {
		uint64_t page;

		check("poll", omx_log_poll(ep, log, &entry, &result));
		if (!result)
			return pages;
		for (page = entry.offset / PAGE_SIZE;
		     page * PAGE_SIZE < entry.offset + entry.length; page++) {
			pages += !is_dirty[page];
			is_dirty[page] = 1;
		}
		check("release", omx_log_release(ep, log));
	}
}

/* Bit 55 of an entry: the page was written since the bits were cleared. */
static unsigned int note_local(void)
{
	static uint64_t map[PAGES];
	off_t at = (off_t)((uintptr_t)window / PAGE_SIZE * sizeof(map[0]));
	int file = open("/proc/self/pagemap", O_RDONLY);
	unsigned int i, pages = 0;

	if (file < 0 || pread(file, map, sizeof(map), at) != sizeof(map))
		fail("/proc/self/pagemap");
	close(file);
	for (i = 0; i < PAGES; i++) {
		if (!(map[i] >> 55 & 1) || is_dirty[i])
			continue;
		is_dirty[i] = 1;
		pages++;
	}
	return pages;
}

static void clear_local(void)
{
	int file = open("/proc/self/clear_refs", O_WRONLY);

	if (file < 0 || write(file, "4", 1) != 1)
		fail("/proc/self/clear_refs");
	close(file);
}

/* Kernels that are built without these bits accept all of the above. */
static void require_soft_dirty(void)
{
	clear_local();
	window[0] = 1;
	if (!note_local())
		die("this kernel does not track writes (CONFIG_MEM_SOFT_DIRTY)");
}

/* ---- the owner --------------------------------------------------------------------- */

/*
 * Notes first, then saves: what is put while its page is saved has an entry in the log for
 * the next checkpoint.
 */
static void take_checkpoint(int file, omx_log_t log, int number)
{
	unsigned int remote = note_remote(log), local = note_local(), i;

	clear_local();
	for (i = 0; i < PAGES; i++) {
		off_t at = (off_t)i * PAGE_SIZE;

		if (!is_dirty[i])
			continue;
		if (pwrite(file, window + at, PAGE_SIZE, at) != PAGE_SIZE)
			fail("checkpoint");
		is_dirty[i] = 0;
	}
	printf("checkpoint %d: %u pages written by peers, %u other dirty ones, of %u\n", number,
	       remote, local, PAGES);
}

static void write_some_pages(void)
{
	int i;

	for (i = 0; i < LOCAL; i++)
		window[(unsigned int)rand() % PAGES * PAGE_SIZE + 8] = (uint8_t)rand();
}

static void restore_and_compare(int file)
{
	uint8_t *restored = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);

	if (restored == MAP_FAILED)
		fail("restore");
	if (memcmp(restored, window, SIZE))
		die("the checkpoint differs from the window");
	printf("restored\n");
}

static void serve(const char *name, int checkpoints)
{
	int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600), i;
	omx_window_t exported;
	omx_status_t status;
	omx_log_t log;
	omx_key_t key;

	window = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (file < 0 || ftruncate(file, (off_t)SIZE) || window == MAP_FAILED)
		fail(name);
	require_soft_dirty();
	open_endpoint(0, KEY);
	check("window", omx_window_create(ep, window, SIZE, OMX_WINDOW_RIGHT_PUT |
					  OMX_WINDOW_RIGHT_ACTIVE, NULL, &exported));
	check("log", omx_log_create(ep, 4 << 20, &log));
	check("pages", omx_window_activate(ep, exported, 0, SIZE, OMX_ACTIVE_W | OMX_ACTIVE_WL |
					   OMX_ACTIVE_E, log));
	check("key", omx_window_key(ep, exported, &key));
	receive_message(NULL, 0, HELLO, &status);
	send_message(status.addr, &key, sizeof(key), WINDOW);
	for (i = 1; i <= checkpoints; i++) {
		pause_ms(50);
		write_some_pages();
		take_checkpoint(file, log, i);
	}
	send_message(status.addr, NULL, 0, STOP);
	receive_message(NULL, 0, STOPPED, NULL);
	take_checkpoint(file, log, i);
	restore_and_compare(file);
}

/* ---- the client -------------------------------------------------------------------- */

static void run_client(omx_endpoint_addr_t owner)
{
	omx_request_t stop, put;
	uint32_t stopped = 0;
	omx_status_t status;
	omx_key_t key;

	send_message(owner, NULL, 0, HELLO);
	receive_message(&key, sizeof(key), WINDOW, NULL);
	check("receive", omx_irecv(ep, NULL, 0, STOP, ~0ull, NULL, &stop));
	while (!stopped) {
		uint64_t value = (uint64_t)rand();

		/* Sometimes it lies in two pages. */
		check("put", omx_iput(ep, &value, sizeof(value), owner, key,
				      (uint64_t)rand() % (SIZE - sizeof(value)), NULL, &put));
		finish(&put, NULL);
		pause_ms(1);
		check("test", omx_test(ep, &stop, &status, &stopped));
	}
	send_message(owner, NULL, 0, STOPPED);
}

static const char usage[] =
	"usage: checkpoint serve FILE CHECKPOINTS\n"
	"       checkpoint BOARD\n"
	"\n"
	"Saves the pages of a window that have changed.  Start the client on another node, or\n"
	"on the same one; BOARD is where the server is, for instance node1:0.\n";

int main(int argc, char **argv)
{
	omx_endpoint_addr_t owner;

	begin(argc, argv, usage);
	if (argc == 4 && !strcmp(argv[1], "serve")) {
		serve(argv[2], (int)number_in(argv[3], "CHECKPOINTS", 1, 100000));
	} else if (argc == 2) {
		open_endpoint(OMX_ANY_ENDPOINT, KEY);
		owner = connect_to(argv[1], 0, KEY);
		run_client(owner);
	} else {
		misused(usage);
	}
	close_endpoint();
	return 0;
}
