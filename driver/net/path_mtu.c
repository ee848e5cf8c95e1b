// SPDX-License-Identifier: GPL-2.0
/* The search for the path MTU, see path_mtu.h.  Plain data, no locks. */
#include <linux/if_ether.h>
#include <linux/kernel.h>

#include "net/path_mtu.h"

static u32 path_next_length(const struct omx_path_mtu *path, u32 base, u32 target)
{
	u32 low = omx_path_mtu_limit(path, base);

	if (low >= target)
		return 0;
	if (!path->failed || path->failed > target)
		return target;
	if (path->failed <= low + OMX_MTU_PRECISION)
		return 0;
	return low + (path->failed - low) / 2;
}

static void path_try(struct omx_path_mtu *path, u32 length)
{
	path->probe = length;
	path->probes = 0;
}

/* What passed before may be what does not pass now. */
static void path_fail(struct omx_path_mtu *path)
{
	path->failed = path->probe;
	if (path->proved >= path->probe)
		WRITE_ONCE(path->proved, 0);
	path_try(path, 0);
}

u32 omx_path_mtu_next(struct omx_path_mtu *path, u32 base, u32 target, bool heard)
{
	if (path->target != target) {
		path->target = target;
		path->failed = 0;
		path_try(path, 0);
	}
	if (path->probe && path->probes >= OMX_MTU_PROBES) {
		if (heard)
			path_fail(path);
		else
			path->probes--;
	}
	if (!path->probe)
		path_try(path, path_next_length(path, base, target));
	if (path->probe)
		path->probes++;
	return path->probe;
}

bool omx_path_mtu_answered(struct omx_path_mtu *path, u32 length)
{
	if (path->probe && length >= path->probe)
		path_try(path, 0);
	if (path->failed && length >= path->failed)
		path->failed = 0;
	if (length <= path->proved)
		return false;
	WRITE_ONCE(path->proved, length);
	return true;
}

void omx_path_mtu_doubt(struct omx_path_mtu *path, u32 base)
{
	if (!path->probe && path->proved > base)
		path_try(path, path->proved);
}

/* Around what the MTU counts: Ethernet header, VLAN tag, checksum. */
#define LINK_HEADERS	(ETH_HLEN + 4 + ETH_FCS_LEN)

/* A frame costs about as much as a page by itself, measured with e1000. */
static u32 cost(u32 frames, u32 pages)
{
	return frames * (pages + 1);
}

u32 omx_path_mtu_in_pages(u32 mtu)
{
	const u32 longest = mtu + LINK_HEADERS, pages = longest / OMX_RX_PAGE;
	const u32 whole = pages * OMX_RX_PAGE;

	/* As many bytes either way: `longest` frames of whole pages, or `whole` of the longest. */
	if (pages && whole < longest && cost(longest, pages) < cost(whole, pages + 1))
		return whole - LINK_HEADERS;
	return mtu;
}
