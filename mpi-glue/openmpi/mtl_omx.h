/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open MPI's matching transport layer over omx: the matching is libomx's, so
 * an MPI message is an omx message with communicator, source and tag in its
 * match info.
 *
 *   component.c	found, asked, opened by Open MPI; its parameters
 *   glue.h		what it has in common with btl/omx
 *   peer.c		processes: addresses published, connections made
 *   match.h		match info
 *   memory.c		datatypes: in place, as segments, or through a copy
 *   send.c		sends
 *   buffered.c		sends of MPI_Bsend_init, which Open MPI gets wrong
 *   receive.c		receives, probes, matched probes, cancel
 *   progress.c		how requests end
 *
 * Threads: Open MPI calls from several of them only with
 * MPI_THREAD_MULTIPLE.  mtl_omx.lock keeps the thread that learns from the
 * library that a request is done and the one that asks about that request
 * (send.c, cancel) apart, and guards what peer.c knows of connections.  It is
 * never held while Open MPI is called back.
 */
#ifndef MTL_OMX_H
#define MTL_OMX_H

#include "compat.h"

#include "ompi/mca/mtl/base/base.h"
#include "ompi/mca/mtl/mtl.h"
#include "ompi/mca/pml/pml_constants.h"
#include "ompi/message/message.h"
#include "opal/datatype/opal_convertor.h"

#include <omx.h>

/* ---- this process -------------------------------------------------------- */

struct mtl_omx_module {
	mca_mtl_base_module_t super;
	omx_endpoint_t endpoint;
	int fd;				/* to wait for its events */
	opal_mutex_t lock;
	unsigned int idle_polls;	/* in vain, in a row; not counted by several threads */
	/* parameters */
	int board;			/* -1: the first */
	int priority;
	int connect_timeout;		/* s */
	unsigned int segment_min;	/* bytes, see memory.c */
	unsigned int buffered;		/* sends that use the attached buffer; no lock */
};

extern const struct omx_glue mtl_omx_glue;
extern struct mtl_omx_module mtl_omx;
extern mca_mtl_base_component_2_0_0_t mca_mtl_omx_component;

/* ---- peers ----------------------------------------------------------------- */

int mtl_omx_add_procs(struct mca_mtl_base_module_t *mtl, size_t nprocs,
		      struct ompi_proc_t **procs);
int mtl_omx_del_procs(struct mca_mtl_base_module_t *mtl, size_t nprocs,
		      struct ompi_proc_t **procs);

struct mtl_omx_peer;
struct mtl_omx_request;

/* NULL: that process does not use omx. */
struct mtl_omx_peer *mtl_omx_peer_of(struct ompi_communicator_t *comm, int rank);

/* Where to send to; NULL: it is not connected.  Must hold the lock. */
const omx_endpoint_addr_t *mtl_omx_address_of(const struct mtl_omx_peer *peer);

/*
 * Posts the send when the peer has answered, in order, and begins to connect
 * if nobody has.  It ends with an error if the peer does not answer in time.
 * Must hold the lock.
 */
omx_return_t mtl_omx_send_later(struct mtl_omx_peer *peer, struct mtl_omx_request *request);

/* The library's request to connect is done.  Must not hold the lock. */
void mtl_omx_connected(struct mtl_omx_request *connect, const omx_status_t *status);

/* ---- memory ------------------------------------------------------------------ */

struct mtl_omx_memory {
	void *copy;		/* NULL: the program's memory is used in place */
	omx_seg_t *segs;	/* `one`, or an array of our own */
	uint32_t nseg;
	omx_seg_t one;
};

/* Of what is sent: a copy is filled. */
int mtl_omx_map_source(struct opal_convertor_t *convertor, struct mtl_omx_memory *memory);
int mtl_omx_map_target(struct opal_convertor_t *convertor, struct mtl_omx_memory *memory);

/* `length` bytes have been received: takes them out of a copy. */
void mtl_omx_unpack(struct opal_convertor_t *convertor, const struct mtl_omx_memory *memory,
		    size_t length);
void mtl_omx_unmap(struct mtl_omx_memory *memory);

/* ---- requests ------------------------------------------------------------------ */

struct mtl_omx_request {
	mca_mtl_request_t super;	/* first: it is what Open MPI knows */
	struct mtl_omx_request *next;	/* the next send that waits for the same peer */
	uint64_t info;			/* of a send */
	bool synchronous;
	bool buffered;			/* a send of the attached buffer, counted in mtl_omx */
	omx_request_t omx;		/* NULL: not with the library (any more); under the lock */
	struct opal_convertor_t *convertor;	/* of a receive; NULL: it is a send */
	struct mtl_omx_memory memory;
};

/* Hands a send to the library.  Must hold the lock. */
omx_return_t mtl_omx_post_send(struct mtl_omx_request *request, omx_endpoint_addr_t dest);

/* A send begins or ceases to use the attached buffer. */
static inline void mtl_omx_count_buffered(struct mtl_omx_request *request, bool buffered)
{
	request->buffered = buffered;
	__atomic_fetch_add(&mtl_omx.buffered, buffered ? 1 : -1, __ATOMIC_RELAXED);
}

/* Ends a request that the library has done with; calls back. */
void mtl_omx_finish(struct mtl_omx_request *request, const omx_status_t *status);

int mtl_omx_progress(void);
/* The same for Open MPI's progress: before, it may sleep for a moment. */
int mtl_omx_idle(void);
/* The program does something else than to wait. */
static inline void mtl_omx_is_busy(void)
{
	if (mtl_omx.idle_polls)
		mtl_omx.idle_polls = 0;
}
/* Ends what is done, buffered sends among it.  Must not hold the lock. */
void mtl_omx_end_buffered(void);

/* MPI's word for how it went. */
int mtl_omx_error(omx_return_t code);

/* Starts a send; the caller has set what belongs to Open MPI in the request. */
int mtl_omx_start_send(struct ompi_communicator_t *comm, int dest, int tag,
		       struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode,
		       struct mtl_omx_request *request);
/* The same for a request of MPI_Bsend_init. */
int mtl_omx_start_buffered(struct ompi_communicator_t *comm, int dest, int tag,
			   struct opal_convertor_t *convertor, mca_mtl_request_t *mtl_request);

int mtl_omx_send(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		 int dest, int tag, struct opal_convertor_t *convertor,
		 mca_pml_base_send_mode_t mode);
int mtl_omx_isend(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		  int dest, int tag, struct opal_convertor_t *convertor,
		  mca_pml_base_send_mode_t mode, bool blocking,
		  mca_mtl_request_t *mtl_request);
int mtl_omx_irecv(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		  int src, int tag, struct opal_convertor_t *convertor,
		  struct mca_mtl_request_t *mtl_request);
int mtl_omx_iprobe(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		   int src, int tag, int *flag, struct ompi_status_public_t *status);
int mtl_omx_improbe(struct mca_mtl_base_module_t *mtl, struct ompi_communicator_t *comm,
		    int src, int tag, int *matched, struct ompi_message_t **message,
		    struct ompi_status_public_t *status);
int mtl_omx_imrecv(struct mca_mtl_base_module_t *mtl, struct opal_convertor_t *convertor,
		   struct ompi_message_t **message, struct mca_mtl_request_t *mtl_request);
int mtl_omx_cancel(struct mca_mtl_base_module_t *mtl, mca_mtl_request_t *mtl_request, int flag);

#endif
