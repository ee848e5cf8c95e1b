// SPDX-License-Identifier: BSD-2-Clause
/* Puts and gets by address: between whom they work, and everything that refuses them. */
#include "mx.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE	300000u
#define INTRODUCTION	0x71

/* What the server tells the client. */
struct introduction {
	mx_memory_key_t key;
	uint64_t memory, read_only, no_access;
};

static char memory[LARGE + 1];
static const uint32_t lengths[] = { 0, 1, 8, 4096, 4097, 65536, 65537, LARGE };

#define LENGTHS	(sizeof(lengths) / sizeof(*lengths))

static uint64_t address_of(const void *pointer)
{
	return (uintptr_t)pointer;
}

/* ---- the server --------------------------------------------------------------------- */

static void *map_page(int protection)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), protection,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	return page;
}

static void introduce(mx_endpoint_t ep, mx_endpoint_addr_t client)
{
	struct introduction introduction = {
		.memory = address_of(memory),
		.read_only = address_of(map_page(PROT_READ)),
		.no_access = address_of(map_page(PROT_NONE)),
	};
	mx_memory_key_t again;

	FINE(mx_export_memory(ep, &introduction.key));
	FINE(mx_export_memory(ep, &again));
	CHECK(!memcmp(&again, &introduction.key, sizeof(again)));
	mx_send_sync(ep, client, &introduction, sizeof(introduction), INTRODUCTION);
}

static void server(void)
{
	mx_endpoint_addr_t client;
	mx_endpoint_t ep = mx_meet(&client);
	uint32_t i;

	GIVES(mx_withdraw_memory(ep), MX_BAD_REQUEST);
	introduce(ep, client);
	for (i = 0; i < LENGTHS; i++) {
		mx_barrier(ep, client);
		verify(memory, lengths[i], 100 + i);
		EQUAL(memory[lengths[i]], 0);
		fill(memory, lengths[i], 200 + i, 0);
		mx_barrier(ep, client);
		mx_barrier(ep, client);
		memset(memory, 0, sizeof(memory));
		mx_barrier(ep, client);
	}
	mx_barrier(ep, client);
	FINE(mx_withdraw_memory(ep));
	GIVES(mx_withdraw_memory(ep), MX_BAD_REQUEST);
	mx_barrier(ep, client);
	mx_part(ep, client);
}

/* ---- the client --------------------------------------------------------------------- */

static void no_key_yet(mx_endpoint_t ep, mx_endpoint_addr_t server)
{
	mx_request_t request = NULL;
	char byte = 0;

	GIVES(mx_iput(ep, &byte, 1, server, address_of(&byte), NULL, &request), MX_FAILURE);
	GIVES(mx_iget(ep, &byte, 1, server, address_of(&byte), NULL, &request), MX_FAILURE);
	CHECK(!request);
}

static mx_status_t put(mx_endpoint_t ep, mx_endpoint_addr_t server, void *buffer,
		       uint32_t length, uint64_t address, mx_status_code_t code)
{
	mx_request_t request;

	FINE(mx_iput(ep, buffer, length, server, address, buffer, &request));
	return mx_finish(ep, &request, code);
}

static mx_status_t get(mx_endpoint_t ep, mx_endpoint_addr_t server, void *buffer,
		       uint32_t length, uint64_t address, mx_status_code_t code)
{
	mx_request_t request;

	FINE(mx_iget(ep, buffer, length, server, address, buffer, &request));
	return mx_finish(ep, &request, code);
}

static void check_access_status(const mx_status_t *status, const void *buffer, uint32_t length)
{
	CHECK(status->context == buffer);
	EQUAL(status->match_info, 0);
	EQUAL(status->msg_length, length);
	EQUAL(status->xfer_length, length);
}

static void put_and_get(mx_endpoint_t ep, mx_endpoint_addr_t server, uint64_t address,
			uint32_t i)
{
	static char buffer[LARGE];
	mx_status_t status;

	fill(buffer, lengths[i], 100 + i, 0);
	status = put(ep, server, buffer, lengths[i], address, MX_STATUS_SUCCESS);
	check_access_status(&status, buffer, lengths[i]);
	mx_barrier(ep, server);
	mx_barrier(ep, server);
	status = get(ep, server, buffer, lengths[i], address, MX_STATUS_SUCCESS);
	check_access_status(&status, buffer, lengths[i]);
	verify(buffer, lengths[i], 200 + i);
	mx_barrier(ep, server);
	mx_barrier(ep, server);
}

static void bad_accesses(mx_endpoint_t ep, mx_endpoint_addr_t server,
			 const struct introduction *introduction)
{
	mx_memory_key_t forged = introduction->key;
	char byte = 0;

	put(ep, server, &byte, 1, introduction->read_only, MX_STATUS_ABORTED);
	get(ep, server, &byte, 1, introduction->read_only, MX_STATUS_SUCCESS);
	put(ep, server, &byte, 1, introduction->no_access, MX_STATUS_ABORTED);
	get(ep, server, &byte, 1, introduction->no_access, MX_STATUS_ABORTED);
	forged.stuff[1] ^= 1;
	FINE(mx_import_memory(ep, server, &forged));
	put(ep, server, &byte, 1, introduction->memory, MX_STATUS_BAD_RDMAWIN);
	FINE(mx_import_memory(ep, server, &introduction->key));
	put(ep, server, &byte, 1, introduction->memory, MX_STATUS_SUCCESS);
}

/* Nothing that an endpoint knew holds for the next one of its kind. */
static void forgotten(mx_endpoint_t ep, const mx_memory_key_t *key)
{
	mx_endpoint_addr_t self = mx_self(ep);

	FINE(mx_import_memory(ep, self, key));
	FINE(mx_disconnect(ep, self));
	no_key_yet(ep, self);
}

static void client(void)
{
	struct introduction introduction;
	mx_endpoint_addr_t server;
	mx_endpoint_t ep = mx_meet(&server), other;
	uint32_t i;
	char byte = 0;

	no_key_yet(ep, server);
	mx_receive(ep, &introduction, sizeof(introduction), INTRODUCTION);
	FINE(mx_import_memory(ep, server, &introduction.key));
	for (i = 0; i < LENGTHS; i++)
		put_and_get(ep, server, introduction.memory, i);
	bad_accesses(ep, server, &introduction);
	other = mx_open_any();
	no_key_yet(other, server);
	forgotten(other, &introduction.key);
	FINE(mx_close_endpoint(other));
	mx_barrier(ep, server);
	mx_barrier(ep, server);
	put(ep, server, &byte, 1, introduction.memory, MX_STATUS_BAD_RDMAWIN);
	mx_part(ep, server);
}

int main(int argc, char **argv)
{
	return mx_run_pair(argc, argv, server, client);
}
