// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the calls of fuzz_ioctl are given: for each command, arguments of which most
 * fields make sense.  See ioctl_arguments.h.
 */
#include "ioctl_arguments.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chance.h"
#include "check.h"

#define SEGMENTS	(2 * OMX_SEGMENTS_MAX)
#define KEYS		16

struct shared files[FILES];
int foreign;
uint8_t *memory;
size_t page;

static uint8_t *readonly, *unmapped;
static struct omx_segment *segments;
static uint64_t board_mac;
/* Of windows that the threads have made; some still exist. */
static struct omx_key window_keys[KEYS];

/* ---- memory ---- */

static void *map_memory(size_t size, int protection)
{
	void *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

void prepare_arguments(uint64_t mac)
{
	board_mac = mac;
	page = sysconf(_SC_PAGESIZE);
	/* Puts into windows that begin near the end must not hit the program's own data. */
	memory = map_memory(3 * MEMORY, PROT_NONE);
	unmapped = memory + MEMORY;
	if (mprotect(memory, MEMORY, PROT_READ | PROT_WRITE))
		die("mprotect");
	readonly = map_memory(page, PROT_READ);
	segments = map_memory(SEGMENTS * sizeof(*segments), PROT_READ | PROT_WRITE);
}

void keep_key(const struct omx_key *key)
{
	window_keys[any_below(KEYS)] = *key;
}

/* ---- values ---- */

uint64_t any_address(void)
{
	switch (any_below(10)) {
	case 0:
		return 0;
	case 1:
		return (uintptr_t)unmapped + any_below(page);
	case 2:
		return (uintptr_t)readonly + any_below(page);
	case 3:
		return 0xffff888000000000ull + any_below(1ull << 31);
	case 4:
		return 0xffffffff81000000ull + any_below(1ull << 24);
	case 5:
		return (uintptr_t)unmapped - any_below(200);
	case 6:
		return any_extreme();
	default:
		return (uintptr_t)memory + any_below(MEMORY);
	}
}

static uint64_t any_length(void)
{
	switch (any_below(6)) {
	case 0:
		return any_extreme();
	case 1:
		return any_below(2 * OMX_MEDIUM_MAX);
	default:
		return any_below(4097);
	}
}

static void fill_buffer(struct omx_buffer *buffer)
{
	unsigned int i, count;

	buffer->address = any_address();
	buffer->length = any_length();
	buffer->segment_count = 0;
	buffer->reserved = any_below(50) ? 0 : any_word();
	if (any_below(3))
		return;
	count = any_below(4) ? 1 + any_below(8) : any_below(SEGMENTS);
	buffer->length = 0;
	/* other threads write here as well, on purpose */
	for (i = 0; i < count; i++) {
		segments[i].address = any_below(8) ?
			(uintptr_t)memory + any_below(MEMORY / 2) : any_address();
		segments[i].length = any_below(8) ? any_below(10000) : any_length();
		buffer->length += segments[i].length;
	}
	buffer->address = any_below(16) ? (uintptr_t)segments : any_address();
	buffer->segment_count = any_below(16) ? count : any_extreme();
	if (!any_below(16))
		buffer->length = any_extreme();
}

static uint32_t any_number(void)
{
	return any_below(4) ? any_below(8) : any_extreme();
}

static uint32_t any_region(void)
{
	return any_below(2) ? any_number() : OMX_REGION_IMPLICIT;
}

static void fill_connect(struct omx_ioc_connect *connect)
{
	const struct shared *other = &files[any_below(FILES)];

	connect->mac = any_below(8) ? board_mac : any_extreme();
	connect->endpoint = any_below(8) ? other->endpoint : any_number();
	connect->key = any_below(8) ? other->key : any_word();
	connect->timeout_ms = any_below(8) ? any_below(1000) : any_extreme();
	connect->reserved = any_below(50) ? 0 : any_word();
}

static void fill_wait(struct omx_ioc_wait *wait)
{
	wait->flags = any_below(8) ? any_below(2) : any_extreme();
	wait->timeout_ms = any_below(20);	/* a thread must not wait for ever */
	wait->wakeups = any_below(4);
}

/* ---- one-sided accesses ---- */

static struct omx_key any_key(void)
{
	struct omx_key key = window_keys[any_below(KEYS)];

	if (!any_below(8))
		((uint32_t *)&key)[any_below(4)] = any_number();
	return key;
}

static uint64_t any_offset(void)
{
	return any_below(8) ? any_below(MEMORY) : any_extreme();
}

static void fill_window(struct omx_ioc_window *window)
{
	bool implicit = any_below(4);

	window->region = implicit ? OMX_REGION_IMPLICIT : any_number();
	window->address = implicit ? any_address() : 0;
	window->offset = implicit ? 0 : any_offset();
	window->length = any_below(2) ? MEMORY / 4 : any_length();
	window->rights = any_below(8) ? 1 + any_below(7) : any_extreme();
	if (any_below(4))
		window->rights |= OMX_WINDOW_ACTIVE;
	window->channel = any_below(4) ? OMX_ANY : any_number();
	window->reserved = 0;
}

static uint32_t any_put_flags(void)
{
	return any_below(16) ? any_below(2) : any_extreme();
}

static uint64_t any_immediate(uint32_t flags)
{
	return flags ? any_word() : 0;
}

static void fill_put(struct omx_ioc_put *put)
{
	fill_buffer(&put->buffer);
	put->key = any_key();
	put->offset = any_offset();
	put->channel = any_number();
	put->flags = any_put_flags();
	put->immediate = any_immediate(put->flags);
}

static void fill_put_rndv(struct omx_ioc_put_rndv *put)
{
	put->key = any_key();
	put->offset = any_offset();
	put->length = any_length();
	put->channel = any_number();
	put->region = any_region();
	put->address = put->region == OMX_REGION_IMPLICIT ? any_address() : 0;
	put->flags = any_put_flags();
	put->immediate = any_immediate(put->flags);
	put->reserved = 0;
}

static void fill_get(struct omx_ioc_get *get)
{
	get->key = any_key();
	get->offset = any_offset();
	get->length = any_length();
	get->channel = any_number();
	get->flags = any_below(2) ? OMX_ACCESS_ANNOUNCE : any_below(4);
}

static void fill_local_access(struct omx_ioc_local_access *access)
{
	fill_buffer(&access->buffer);
	access->key = any_key();
	access->offset = any_offset();
	access->channel = any_number();
	access->flags = any_put_flags();
	access->immediate = any_immediate(access->flags);
	access->reserved = 0;
}

static void fill_atomic(struct omx_ioc_atomic *atomic)
{
	atomic->key = any_key();
	atomic->offset = any_offset() & (any_below(8) ? ~7ull : ~0ull);
	atomic->channel = any_number();
	atomic->operation = any_below(OMX_OPERATIONS + 1);
	atomic->size = any_below(8) ? 4u << any_below(2) : (uint8_t)any_word();
	memset(atomic->reserved, 0, sizeof(atomic->reserved));
}

/* Few tags, so that keys find accesses and the other way round. */
static uint64_t any_tag(void)
{
	return any_below(8);
}

static void fill_put_when(struct omx_ioc_put_when *put)
{
	fill_buffer(&put->buffer);
	put->region = 0;
	if (any_below(2)) {
		put->region = any_region();
		put->buffer.address = put->region == OMX_REGION_IMPLICIT ? any_address() : 0;
		put->buffer.length = any_length();
		put->buffer.segment_count = 0;
	}
	put->tag = any_tag();
	put->channel = any_number();
	put->flags = any_put_flags();
	put->immediate = any_immediate(put->flags);
	put->timeout_ms = any_below(4) ? any_below(100) : OMX_ANY;
}

static void fill_get_when(struct omx_ioc_get_when *get)
{
	get->tag = any_tag();
	get->length = any_length();
	get->channel = any_number();
	get->region = any_below(3) ? 0 : any_region();
	get->address = get->region == OMX_REGION_IMPLICIT ? any_address() : 0;
	get->timeout_ms = any_below(4) ? any_below(100) : OMX_ANY;
	get->reserved = 0;
}

static void fill_post_key(struct omx_ioc_post_key *post)
{
	post->key = any_key();
	post->offset = any_offset();
	post->length = any_length();
	post->tag = any_tag();
	post->channel = any_number();
	post->reserved = 0;
}

static void fill_log_wait(struct omx_ioc_log_wait *wait)
{
	wait->log = any_below(6);
	wait->commits = any_below(4);
	wait->timeout_ms = any_below(20);
	wait->wakeups = any_below(4);
}

static void fill_activate(struct omx_ioc_activate *activate)
{
	activate->window = any_key().window;
	activate->offset = any_below(8) ? any_below(16) * OMX_ACTIVE_PAGE : any_offset();
	activate->length = any_below(8) ? (1 + any_below(16)) * OMX_ACTIVE_PAGE : any_length();
	activate->flags = any_below(8) ? any_below(OMX_PAGE_FLAGS + 1) : any_extreme();
	activate->log = activate->flags & OMX_PAGE_E ? any_below(6) : 0;
	activate->reserved = any_below(50) ? 0 : any_word();
}

static uint32_t any_file(void)
{
	switch (any_below(16)) {
	case 0:
		return foreign;
	case 1:
		return OMX_ANY;
	case 2:
		return any_below(3);	/* files of others */
	case 3:
		return any_number();
	default:
		return files[any_below(FILES)].fd;
	}
}

/* Replaces some words by values that the command may accept. */
static void make_sense(unsigned int command, void *argument)
{
	struct omx_ioc_send_rndv *rndv = argument;
	struct omx_ioc_region *region = argument;
	struct omx_ioc_counters *counters = argument;
	struct omx_ioc_fetch *fetch = argument;
	struct omx_ioc_flush_active *flush = argument;
	struct omx_ioc_log *log = argument;
	struct omx_ioc_open *open = argument;
	struct omx_ioc_pager *pager = argument;
	struct omx_ioc_prefetch *prefetch = argument;
	struct omx_ioc_pull *pull = argument;
	struct omx_ioc_send *send = argument;
	struct omx_ioc_window *window = argument;
	struct omx_ioc_withdraw *withdraw = argument;
	uint32_t *words = argument;

	switch (command) {
	case OMX_IOC_CONNECT:
		fill_connect(argument);
		break;
	case OMX_IOC_WAIT:
		fill_wait(argument);
		break;
	case OMX_IOC_SEND:
		fill_buffer(&send->buffer);
		send->channel = any_number();
		send->reserved = 0;
		break;
	case OMX_IOC_REGION_CREATE:
		fill_buffer(&region->buffer);
		region->flags = any_below(8) ? 1 + any_below(3) : any_extreme();
		if (any_below(8))
			region->flags |= OMX_REGION_MODE(any_below(OMX_MEMORY_MODES));
		region->region = 0;
		break;
	case OMX_IOC_REGION_DESTROY:
		region->region = any_number();
		break;
	case OMX_IOC_FETCH:
		fill_buffer(&fetch->buffer);
		fetch->message = any_number();
		fetch->reserved = 0;
		break;
	case OMX_IOC_SEND_RNDV:
		rndv->cookie = any_number();
		rndv->length = any_length();
		rndv->channel = any_number();
		rndv->region = any_region();
		rndv->address = rndv->region == OMX_REGION_IMPLICIT ? any_address() : 0;
		break;
	case OMX_IOC_PULL:
		pull->length = any_length();
		pull->msg_length = any_below(4) ? pull->length : any_length();
		pull->channel = any_number();
		pull->region = any_region();
		pull->address = pull->region == OMX_REGION_IMPLICIT ? any_address() : 0;
		pull->remote_message = any_number();
		pull->timeout_ms = any_below(1000);
		pull->status = any_below(4) ? 0 : any_number();
		pull->reserved = 0;
		break;
	case OMX_IOC_WITHDRAW:
		withdraw->cookie = any_number();
		withdraw->flags = any_below(50) ? any_below(2) : any_word();
		withdraw->channel = withdraw->flags ? any_number() : 0;
		break;
	case OMX_IOC_WINDOW_CREATE:
		fill_window(argument);
		break;
	case OMX_IOC_WINDOW_REVOKE:
		window->key = any_key();
		break;
	case OMX_IOC_PUT:
		fill_put(argument);
		break;
	case OMX_IOC_PUT_RNDV:
		fill_put_rndv(argument);
		break;
	case OMX_IOC_GET:
		fill_get(argument);
		break;
	case OMX_IOC_PUT_LOCAL:
	case OMX_IOC_GET_LOCAL:
		fill_local_access(argument);
		break;
	case OMX_IOC_ATOMIC:
		fill_atomic(argument);
		break;
	case OMX_IOC_PUT_WHEN:
		fill_put_when(argument);
		break;
	case OMX_IOC_GET_WHEN:
		fill_get_when(argument);
		break;
	case OMX_IOC_POST_KEY:
		fill_post_key(argument);
		break;
	case OMX_IOC_LOG_CREATE:
	case OMX_IOC_LOG_DESTROY:
		log->log = any_below(6);
		log->slots = any_below(8) ? OMX_LOG_SLOTS_MIN << any_below(4) : any_extreme();
		break;
	case OMX_IOC_ACTIVATE:
		fill_activate(argument);
		break;
	case OMX_IOC_FLUSH_ACTIVE:
		flush->channel = any_number();
		flush->stamp = any_below(4) ? any_below(100) : any_word();
		flush->reserved = 0;
		break;
	case OMX_IOC_PREFETCH:
		prefetch->address = any_address();
		prefetch->length = any_length();
		prefetch->flags = 1 + any_below(7);
		prefetch->reserved = 0;
		break;
	case OMX_IOC_OPEN:
		open->board = any_below(4) ? OMX_ANY : any_number();
		open->endpoint = OMX_ANY;	/* leave those of others alone */
		open->timeout_ms = any_below(2) ? 0 : any_below(2000);
		break;
	case OMX_IOC_PAGER:
		pager->fd = any_file();
		pager->flags = any_below(16) ? 0 : any_extreme();
		break;
	case OMX_IOC_PAGE_IN:
		pager->fd = any_below(16) ? 0 : any_number();
		pager->flags = any_below(16) ? any_below(2) : any_extreme();
		break;
	case OMX_IOC_COUNTERS:
		counters->board = any_number();
		counters->count = any_below(2) ? any_below(100) : any_extreme();
		counters->values = any_address();
		break;
	default:
		words[0] = any_number();
		words[1] = any_below(4) ? 0 : any_number();
	}
}

void *argument_for(unsigned int command, uint8_t *own)
{
	unsigned int i;

	for (i = 0; i < ARGUMENT_MAX / sizeof(uint64_t); i++)
		((uint64_t *)own)[i] = any_below(4) ? any_word() : any_extreme();
	if (any_below(8))
		make_sense(command, own);
	if (command == OMX_IOC_WAIT)
		fill_wait((void *)own);
	if (command == OMX_IOC_LOG_WAIT)
		fill_log_wait((void *)own);
	if (command == OMX_IOC_OPEN)
		((struct omx_ioc_open *)own)->endpoint = OMX_ANY;
	return own;
}
