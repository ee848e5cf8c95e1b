/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the data of a message lies.
 *
 * Contiguous data is used in place.  Data with gaps is given to the library
 * as segments if it is large, has few of them and these are long: then the
 * driver gathers and scatters it without a copy here.  Everything else is
 * copied, since a short piece costs more than copying it does.
 */
#include "mtl_omx.h"

#include <stdlib.h>

#include "ompi/mca/mtl/base/mtl_base_datatype.h"

static void use_one(struct mtl_omx_memory *memory, void *start, size_t length)
{
	memory->one.ptr = start;
	memory->one.len = length;
	memory->segs = &memory->one;
	memory->nseg = 1;
}

/* Fills iov with all pieces.  False: there are more than `*count`. */
static bool list_pieces(struct opal_convertor_t *convertor, struct iovec *iov, uint32_t *count,
			size_t total)
{
	size_t listed = total, start = 0;
	bool complete;

	opal_convertor_raw(convertor, iov, count, &listed);
	complete = listed == total && *count > 0;
	opal_convertor_set_position(convertor, &start);
	return complete;
}

static bool use_pieces(struct opal_convertor_t *convertor, struct mtl_omx_memory *memory)
{
	struct iovec iov[OMX_MAX_SEGMENTS];
	uint32_t count = OMX_MAX_SEGMENTS, i;
	size_t total;

	opal_convertor_get_packed_size(convertor, &total);
	if (total / 2 < mtl_omx.segment_min || !list_pieces(convertor, iov, &count, total) ||
	    total / count < mtl_omx.segment_min)
		return false;
	memory->segs = malloc(count * sizeof(*memory->segs));
	if (!memory->segs)
		return false;
	for (i = 0; i < count; i++) {
		memory->segs[i].ptr = iov[i].iov_base;
		memory->segs[i].len = iov[i].iov_len;
	}
	memory->nseg = count;
	return true;
}

/*
 * pml/cm fills in only a part of the convertor when what is sent has no gaps:
 * nothing but Open MPI's own function may look at it then.
 */
static bool source_has_gaps(const struct opal_convertor_t *convertor)
{
	return convertor->pDesc && convertor->local_size &&
	       !opal_datatype_is_contiguous_memory_layout(convertor->pDesc, convertor->count);
}

int mtl_omx_map_source(struct opal_convertor_t *convertor, struct mtl_omx_memory *memory)
{
	void *start = NULL;
	bool copied;
	size_t total;
	int ret;

	memory->copy = NULL;
	if (source_has_gaps(convertor) && use_pieces(convertor, memory))
		return OMPI_SUCCESS;
	ret = ompi_mtl_datatype_pack(convertor, &start, &total, &copied);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		return ret;
	if (copied)
		memory->copy = start;
	else if (total && mtl_omx_is_displaced(convertor))
		start = convertor->pBaseBuf + convertor->pDesc->true_lb;
	use_one(memory, start, total);
	return OMPI_SUCCESS;
}

int mtl_omx_map_target(struct opal_convertor_t *convertor, struct mtl_omx_memory *memory)
{
	void *start = NULL;
	bool copied;
	size_t total;
	int ret;

	memory->copy = NULL;
	if (opal_convertor_need_buffers(convertor) && use_pieces(convertor, memory))
		return OMPI_SUCCESS;
	ret = ompi_mtl_datatype_recv_buf(convertor, &start, &total, &copied);
	if (OPAL_UNLIKELY(ret != OMPI_SUCCESS))
		return ret;
	if (OPAL_UNLIKELY(copied && !start))
		return OMPI_ERR_OUT_OF_RESOURCE;
	if (copied)
		memory->copy = start;
	use_one(memory, start, total);
	return OMPI_SUCCESS;
}

void mtl_omx_unpack(struct opal_convertor_t *convertor, const struct mtl_omx_memory *memory,
		    size_t length)
{
	struct iovec iov = { .iov_base = memory->copy, .iov_len = length };
	uint32_t count = 1;

	if (memory->copy && length)
		opal_convertor_unpack(convertor, &iov, &count, &length);
}

void mtl_omx_unmap(struct mtl_omx_memory *memory)
{
	free(memory->copy);
	if (memory->segs != &memory->one)
		free(memory->segs);
}
