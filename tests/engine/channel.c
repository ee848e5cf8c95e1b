// SPDX-License-Identifier: BSD-2-Clause
/*
 * A channel: its registers, and the descriptors of its ring, which it works off in
 * order and by steps.  A step fetches a descriptor, reads what is left of a page, or
 * writes that; between reading and writing passes the time that TEST_DELAY says.
 * device.c calls this, from register accesses and from the timer.
 */
#include <endian.h>

#include "engine.h"

/* Then other channels, and the rest of the emulator, have their turn. */
#define STEPS_AT_ONCE	64

#define KNOWN_FLAGS	(ENGINE_FLAG_RECORD | ENGINE_FLAG_INTERRUPT)
#define PASID_FLAGS	(ENGINE_FLAG_SOURCE_PASID | ENGINE_FLAG_DESTINATION_PASID | \
			 ENGINE_FLAG_RECORD_PASID)

static struct target target_at(uint64_t address, bool has_pasid, uint32_t pasid)
{
	return (struct target) {
		.address = address,
		.has_pasid = has_pasid,
		.pasid = pasid & ENGINE_PASID,
	};
}

static struct target source_of(const struct engine_descriptor *d)
{
	return target_at(le64toh(d->source), d->flags & ENGINE_FLAG_SOURCE_PASID,
			 le32toh(d->source_pasid));
}

static struct target destination_of(const struct engine_descriptor *d)
{
	return target_at(le64toh(d->destination), d->flags & ENGINE_FLAG_DESTINATION_PASID,
			 le32toh(d->destination_pasid));
}

static void channel_error(struct channel *c, uint32_t error, uint64_t address)
{
	c->error |= error;
	c->fault = address;
	msix_notify(c->engine->device, 0);
}

static void channel_halt(struct channel *c, uint64_t address)
{
	c->halted = true;
	c->draining = c->aborting = false;
	channel_error(c, ENGINE_ERROR_RING, address);
}

/* ---- completion ---- */

/* A driver that sees the status must see the rest, and the data. */
static enum access record_write(struct channel *c)
{
	struct engine_record record = {
		.status = htole32(c->status),
		.done = htole32(c->done),
		.fault = htole64(c->fault_address),
		.cookie = c->descriptor.cookie,
	};
	struct target target = target_at(le64toh(c->descriptor.record),
					 c->descriptor.flags & ENGINE_FLAG_RECORD_PASID,
					 le32toh(c->descriptor.record_pasid));
	struct target rest = target;
	enum access access;

	rest.address += sizeof(record.status);
	access = dma_write(c, rest, &record.done, sizeof(record) - sizeof(record.status));
	if (access != ACCESS_DONE)
		return access;
	return dma_write(c, target, &record.status, sizeof(record.status));
}

/* False if the record has to wait for its page. */
static bool descriptor_record(struct channel *c)
{
	enum access access = ACCESS_DONE;

	if (c->descriptor.flags & ENGINE_FLAG_RECORD)
		access = record_write(c);
	if (access == ACCESS_FAULT) {
		c->faults++;
		channel_error(c, ENGINE_ERROR_RECORD, le64toh(c->descriptor.record));
	}
	return access != ACCESS_NOT_YET;
}

static void descriptor_finish(struct channel *c)
{
	if (!descriptor_record(c))
		return;
	c->begun = c->completing = false;
	c->head++;
	if (c->head == c->abort_to)
		c->aborting = false;
	if (c->descriptor.flags & ENGINE_FLAG_INTERRUPT)
		msix_notify(c->engine->device, CHANNEL_VECTOR(c->number));
}

static void descriptor_complete(struct channel *c, uint32_t status, uint64_t fault)
{
	page_forget(c);
	c->in_flight = 0;
	c->draining = false;
	c->due = 0;
	c->completing = true;
	c->status = status;
	c->fault_address = fault;
	descriptor_finish(c);
}

/* ---- steps ---- */

static bool descriptor_is_valid(const struct channel *c, const struct engine_descriptor *d)
{
	uint8_t known = KNOWN_FLAGS | (c->engine->has_pasid ? PASID_FLAGS : 0);

	return d->operation <= ENGINE_OPERATION_COPY && !(d->flags & ~known) &&
	       le32toh(d->length) <= MAX_LENGTH &&
	       le64toh(d->source) + le32toh(d->length) >= le64toh(d->source) &&
	       le64toh(d->destination) + le32toh(d->length) >= le64toh(d->destination);
}

/* Nowhere to write a record to if its address is wrong. */
static bool record_is_valid(const struct engine_descriptor *d)
{
	return !(d->flags & ENGINE_FLAG_RECORD) ||
	       le64toh(d->record) % ENGINE_RECORD_ALIGNMENT == 0;
}

static void descriptor_fetch(struct channel *c)
{
	struct engine_descriptor *d = &c->descriptor;
	uint64_t address = c->ring + (uint64_t)(c->head & (c->ring_size - 1)) * sizeof(*d);
	struct target target = target_at(address, c->ring_pasid & ENGINE_RING_PASID_VALID,
					 c->ring_pasid);
	enum access access = dma_read(c, target, d, sizeof(*d));

	if (access == ACCESS_FAULT) {
		c->faults++;
		channel_halt(c, address);
	}
	if (access != ACCESS_DONE)
		return;
	c->begun = true;
	c->done = 0;
	if (c->hang_after && --c->hang_after == 0) {
		c->hung = true;
		return;
	}
	if (!record_is_valid(d))
		d->flags &= ~ENGINE_FLAG_RECORD;
	else if (descriptor_is_valid(c, d))
		return;
	descriptor_complete(c, ENGINE_STATUS_INVALID, 0);
}

static uint32_t rest_of_page(uint64_t address)
{
	return PAGE - address % PAGE;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void descriptor_fault(struct channel *c, uint32_t status, struct target target)
{
	c->faults++;
	descriptor_complete(c, status, target.address);
}

static void descriptor_read(struct channel *c, int64_t now)
{
	struct target from = source_of(&c->descriptor), to = destination_of(&c->descriptor);
	enum access access;
	uint32_t length;

	from.address += c->done;
	to.address += c->done;
	length = least(le32toh(c->descriptor.length) - c->done,
		       least(rest_of_page(from.address), rest_of_page(to.address)));
	access = dma_read(c, from, c->bytes, length);
	if (access == ACCESS_FAULT)
		descriptor_fault(c, ENGINE_STATUS_SOURCE_FAULT, from);
	if (access != ACCESS_DONE)
		return;
	c->in_flight = length;
	c->due = now + c->delay;
}

static void descriptor_write(struct channel *c)
{
	struct target to = destination_of(&c->descriptor);
	enum access access;

	to.address += c->done;
	access = dma_write(c, to, c->bytes, c->in_flight);
	/* Who waits for a page holds no translation. */
	c->draining = false;
	if (access == ACCESS_FAULT)
		descriptor_fault(c, ENGINE_STATUS_DESTINATION_FAULT, to);
	if (access != ACCESS_DONE)
		return;
	c->done += c->in_flight;
	c->in_flight = 0;
}

static bool descriptor_is_done(const struct channel *c)
{
	return c->descriptor.operation == ENGINE_OPERATION_NOP ||
	       c->done == le32toh(c->descriptor.length);
}

static void channel_step(struct channel *c, int64_t now)
{
	if (!c->begun)
		descriptor_fetch(c);
	else if (c->completing)
		descriptor_finish(c);
	else if (c->aborting)
		descriptor_complete(c, ENGINE_STATUS_ABORTED, 0);
	else if (c->in_flight)
		descriptor_write(c);
	else if (descriptor_is_done(c))
		descriptor_complete(c, ENGINE_STATUS_SUCCESS, 0);
	else
		descriptor_read(c, now);
}

static bool channel_is_busy(const struct channel *c)
{
	return c->enabled && !c->halted && c->head != c->tail;
}

/* An abort cuts a copy's waiting short, not that for the ring or a record. */
static bool channel_is_due(const struct channel *c, int64_t now)
{
	return c->due <= now || (c->aborting && c->begun && !c->completing);
}

bool channel_run(struct channel *c, int64_t now)
{
	int steps;

	for (steps = 0; steps < STEPS_AT_ONCE; steps++) {
		if (!channel_is_busy(c) || c->hung)
			return false;
		if (!channel_is_due(c, now))
			return true;
		channel_step(c, now);
	}
	return true;
}

/* ---- registers ---- */

void channel_reset(struct channel *c)
{
	struct channel kept = {
		.engine = c->engine,
		.number = c->number,
		.pending = c->pending,
		.groups = c->groups,
	};

	*c = kept;
}

static bool ring_pasid_is_valid(const struct channel *c)
{
	return !c->ring_pasid ||
	       (c->engine->has_pasid && (c->ring_pasid & ENGINE_RING_PASID_VALID) &&
		!(c->ring_pasid & ~(ENGINE_RING_PASID_VALID | ENGINE_PASID)));
}

static bool settings_are_valid(const struct channel *c)
{
	return c->ring % sizeof(c->descriptor) == 0 && c->ring_size &&
	       c->ring_size <= 1 << RING_ORDER && !(c->ring_size & (c->ring_size - 1)) &&
	       ring_pasid_is_valid(c);
}

static void channel_enable(struct channel *c)
{
	if (c->enabled)
		return;
	if (!settings_are_valid(c)) {
		channel_error(c, ENGINE_ERROR_SETTINGS, 0);
		return;
	}
	c->head = c->tail = c->abort_to = 0;
	c->faults = c->page_requests = c->overflows = 0;
	c->halted = false;
	c->enabled = true;
}

static void channel_disable(struct channel *c)
{
	page_forget(c);
	c->enabled = c->halted = c->begun = c->draining = c->aborting = c->completing = false;
	c->in_flight = 0;
	c->due = 0;
}

static void channel_submit(struct channel *c, uint32_t tail)
{
	if (!c->enabled || c->halted)
		return;
	if (tail - c->head > c->ring_size || tail - c->tail > c->ring_size) {
		channel_error(c, ENGINE_ERROR_TAIL, 0);
		return;
	}
	c->tail = tail;
	engine_wake(c->engine);
}

static void channel_command(struct channel *c, uint32_t command)
{
	if (!channel_is_busy(c))
		return;
	switch (command) {
	case ENGINE_COMMAND_DRAIN:
		c->draining = (c->in_flight && !c->wait.waits) || c->hung;
		break;
	case ENGINE_COMMAND_ABORT:
		c->aborting = true;
		c->abort_to = c->tail;
		engine_wake(c->engine);
		break;
	}
}

static uint32_t channel_status(const struct channel *c)
{
	return (c->enabled ? ENGINE_STATUS_ENABLED : 0) |
	       (channel_is_busy(c) ? ENGINE_STATUS_BUSY : 0) |
	       (c->halted ? ENGINE_STATUS_HALTED : 0) |
	       (c->draining ? ENGINE_STATUS_DRAINING : 0) |
	       (c->aborting ? ENGINE_STATUS_ABORTING : 0);
}

uint32_t channel_read(struct channel *c, uint32_t offset)
{
	switch (offset) {
	case ENGINE_RING_LOW:
		return c->ring;
	case ENGINE_RING_HIGH:
		return c->ring >> 32;
	case ENGINE_RING_SIZE:
		return c->ring_size;
	case ENGINE_RING_PASID:
		return c->ring_pasid;
	case ENGINE_ENABLE:
		return c->enabled;
	case ENGINE_STATUS:
		return channel_status(c);
	case ENGINE_TAIL:
		return c->tail;
	case ENGINE_HEAD:
		return c->head;
	case ENGINE_ERROR:
		return c->error;
	case ENGINE_FAULT_LOW:
		return c->fault;
	case ENGINE_FAULT_HIGH:
		return c->fault >> 32;
	case ENGINE_FAULTS:
		return c->faults;
	case ENGINE_PAGE_REQUESTS:
		return c->page_requests;
	case ENGINE_OVERFLOWS:
		return c->overflows;
	case ENGINE_PENDING:
		return c->pending;
	case ENGINE_TEST_DELAY:
		return c->delay;
	case ENGINE_TEST_HANG:
		return c->hang_after;
	case ENGINE_TEST_FLOOD:
		return c->flood;
	default:
		return 0;
	}
}

static void ring_write(struct channel *c, uint32_t offset, uint32_t value)
{
	if (c->enabled)
		return;
	switch (offset) {
	case ENGINE_RING_LOW:
		c->ring = (c->ring & ~(uint64_t)UINT32_MAX) | value;
		break;
	case ENGINE_RING_HIGH:
		c->ring = (c->ring & UINT32_MAX) | (uint64_t)value << 32;
		break;
	case ENGINE_RING_SIZE:
		c->ring_size = value;
		break;
	case ENGINE_RING_PASID:
		c->ring_pasid = value;
		break;
	}
}

void channel_write(struct channel *c, uint32_t offset, uint32_t value)
{
	/* A hung channel takes commands, but does not carry them out. */
	if (c->hung && offset != ENGINE_COMMAND)
		return;
	switch (offset) {
	case ENGINE_ENABLE:
		(value & 1 ? channel_enable : channel_disable)(c);
		break;
	case ENGINE_TAIL:
		channel_submit(c, value);
		break;
	case ENGINE_COMMAND:
		channel_command(c, value);
		break;
	case ENGINE_ERROR:
		c->error &= ~value;
		break;
	case ENGINE_TEST_DELAY:
		c->delay = value;
		break;
	case ENGINE_TEST_HANG:
		c->hang_after = value;
		break;
	case ENGINE_TEST_FLOOD:
		c->flood = value;
		break;
	default:
		ring_write(c, offset, value);
	}
}
