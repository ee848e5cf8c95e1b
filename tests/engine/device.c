// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the channels share: the registers at the start of the BAR, reset, and the
 * timer that runs the channels.  QEMU calls this through engine_registers and the
 * functions that preload.c has put into the class.
 */
#include "engine.h"

/* A device takes a moment, and the emulator's main loop is left to others. */
#define WAKE_NS		1000

/* ---- time ---- */

static void engine_run_at(struct engine *engine, int64_t when)
{
	timer_mod_ns((QEMUTimer *)engine->timer, when);
}

void engine_wake(struct engine *engine)
{
	engine_run_at(engine, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + WAKE_NS);
}

void engine_run(void *opaque)
{
	struct engine *engine = opaque;
	int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	int64_t when, next = INT64_MAX;
	unsigned int n;

	for (n = 0; n < CHANNELS; n++) {
		struct channel *channel = &engine->channels[n];

		if (!channel_run(channel, now))
			continue;
		when = channel->due > now + WAKE_NS ? channel->due : now + WAKE_NS;
		if (when < next)
			next = when;
	}
	if (next != INT64_MAX)
		engine_run_at(engine, next);
}

/* ---- registers ---- */

void engine_reset(struct engine *engine)
{
	unsigned int n;

	timer_del((QEMUTimer *)engine->timer);
	for (n = 0; n < CHANNELS; n++)
		channel_reset(&engine->channels[n]);
	pasid_forget_translations(engine);
}

/* A bit for each channel whose register has one of these bits. */
static uint32_t channels_with(struct engine *engine, uint32_t offset, uint32_t bits)
{
	uint32_t found = 0;
	unsigned int n;

	for (n = 0; n < CHANNELS; n++)
		if (channel_read(&engine->channels[n], offset) & bits)
			found |= 1u << n;
	return found;
}

static uint32_t device_read(struct engine *engine, uint32_t offset)
{
	switch (offset) {
	case ENGINE_ID:
		return ENGINE_ID_VALUE;
	case ENGINE_VERSION:
		return ENGINE_VERSION_VALUE;
	case ENGINE_CAPS:
		return CHANNELS | RING_ORDER << 8 |
		       (engine->has_pasid ? ENGINE_CAPS_PASID | ENGINE_CAPS_PAGE_REQUEST : 0);
	case ENGINE_MAX_LENGTH:
		return MAX_LENGTH;
	case ENGINE_BUSY:
		return channels_with(engine, ENGINE_STATUS, ENGINE_STATUS_BUSY);
	case ENGINE_ERRORS:
		return channels_with(engine, ENGINE_ERROR, ~0u);
	default:
		return 0;
	}
}

/* Channel 0 begins one page after the device's own registers. */
static struct channel *channel_at(struct engine *engine, uint64_t address)
{
	uint64_t number = address / ENGINE_CHANNEL(0);

	return number && number <= CHANNELS ? &engine->channels[number - 1] : NULL;
}

static uint64_t registers_read(void *opaque, uint64_t address, unsigned int size)
{
	struct channel *channel = channel_at(opaque, address);

	(void)size;
	if (channel)
		return channel_read(channel, address % ENGINE_CHANNEL(0));
	return device_read(opaque, address);
}

static void registers_write(void *opaque, uint64_t address, uint64_t value, unsigned int size)
{
	struct channel *channel = channel_at(opaque, address);

	(void)size;
	if (channel)
		channel_write(channel, address % ENGINE_CHANNEL(0), value);
	else if (address == ENGINE_CONTROL && (value & ENGINE_CONTROL_RESET))
		engine_reset(opaque);
}

/* One of 64 bits arrives as two of 32. */
const struct memory_operations engine_registers = {
	.read = registers_read,
	.write = registers_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 4, .max_access_size = 8 },
	.implementation = { .min_access_size = 4, .max_access_size = 4 },
};
