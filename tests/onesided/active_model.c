// SPDX-License-Identifier: BSD-2-Clause
#include "active_model.h"

static uint32_t needed(omx_log_kind_t kind)
{
	switch (kind) {
	case OMX_LOG_PUT:
		return OMX_ACTIVE_W;
	case OMX_LOG_GET:
		return OMX_ACTIVE_R;
	default:
		return OMX_ACTIVE_W | OMX_ACTIVE_R;
	}
}

static uint32_t data_flags(omx_log_kind_t kind)
{
	switch (kind) {
	case OMX_LOG_PUT:
		return OMX_ACTIVE_WLD;
	case OMX_LOG_GET:
		return OMX_ACTIVE_RLD;
	default:
		return OMX_ACTIVE_WLD | OMX_ACTIVE_RLD;
	}
}

static uint32_t log_flags(omx_log_kind_t kind)
{
	switch (kind) {
	case OMX_LOG_PUT:
		return OMX_ACTIVE_WLD | OMX_ACTIVE_WL;
	case OMX_LOG_GET:
		return OMX_ACTIVE_RLD | OMX_ACTIVE_RL;
	default:
		return OMX_ACTIVE_WLD | OMX_ACTIVE_WL | OMX_ACTIVE_RLD | OMX_ACTIVE_RL;
	}
}

struct outcome outcome_of(omx_log_kind_t kind, const uint32_t *flags, uint64_t offset,
			  uint64_t length, bool pulled)
{
	uint64_t page = offset / OMX_ACTIVE_PAGE_SIZE;
	uint64_t last = (offset + (length ? length - 1 : 0)) / OMX_ACTIVE_PAGE_SIZE;
	struct outcome outcome = { .performed = true };
	bool data_kept = false;

	for (; page <= last; page++) {
		if ((flags[page] & needed(kind)) != needed(kind))
			outcome.performed = false;
		if (!(flags[page] & log_flags(kind)))
			continue;
		if (!(flags[page] & OMX_ACTIVE_E)) {
			outcome.traced = true;
			continue;
		}
		outcome.logged = true;
		data_kept |= flags[page] & data_flags(kind);
	}
	if (pulled) {
		outcome.refused = !outcome.performed || outcome.logged || outcome.traced;
		outcome.logged = outcome.traced = false;
		outcome.performed &= !outcome.refused;
		return outcome;
	}
	outcome.refused = !outcome.performed && !(kind == OMX_LOG_PUT && data_kept);
	outcome.with_data = data_kept && !outcome.refused;
	return outcome;
}
