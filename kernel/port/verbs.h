/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rcap/verbs may ask of ib_core and rdma_cm, and what they tell it.
 * Implemented by kernel/linux/verbs.c; the calls back into C++ are declared
 * at the end of each part and implemented in kernel/rcap/verbs.
 */
#ifndef LIO_ISER_PORT_VERBS_H
#define LIO_ISER_PORT_VERBS_H

#include "port/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Listening ------------------------------------------------------------- */

/*
 * One rdma_cm listener.  Created and destroyed in process context, not from
 * a CM event.  create: 0 or -errno (-ENODEV: no RDMA device has this
 * address; -EADDRINUSE: somebody listens there).  destroy waits for events
 * that are being handled.
 */
struct verbs_listener;
int verbs_listener_create(struct verbs_listener **out,
			  const struct port_address *address, void *context);
void verbs_listener_destroy(struct verbs_listener *listener);

/* C++, in process context, one at a time for each listener. */
enum verbs_listener_event { VERBS_LISTENER_ADDRESS_CHANGED,
			    VERBS_LISTENER_DEVICE_REMOVED };
CALLED_BY_C void verbs_listener_event(void *context,
				      enum verbs_listener_event event);

struct verbs_stream;
/* What the connection request says.  @private_data lives until the return. */
struct verbs_request {
	struct verbs_stream *stream;
	const u8 *private_data;
	u8 private_data_length;
	/* RDMA Reads that the peer serves at a time (RFC 7145 8.2). */
	u8 initiator_depth;
	struct port_address peer;
	struct port_address local;
};
/*
 * Returns 1 to keep request->stream (verbs_stream_accept was called), 0 to
 * refuse it: then the caller frees the stream when this returns, and
 * verbs_stream_reject may have been called to say why.
 */
CALLED_BY_C int verbs_connect_request(void *context,
				      const struct verbs_request *request);

/* A connection ---------------------------------------------------------- */

/* What a queue pair must hold. */
struct verbs_shape {
	u32 sends;		/* Sends outstanding */
	u32 transfer_wrs;	/* work requests for RDMA Reads and Writes */
	u32 transfers;		/* RDMA operations prepared at a time */
	u32 receives;		/* receive buffers posted */
	u16 receive_sge;	/* pieces of a receive buffer */
	u16 send_sge;		/* pieces of a transfer's work request, at most */
};

struct verbs_device_traits {
	int send_with_invalidate;	/* the device can do it */
	u8 max_read_depth;		/* RDMA Reads in flight it can start */
	u32 send_wrs;			/* size of the send queue as created */
	char name[64];
	u8 port;
};

/* Device of the request, before anything is created. */
void verbs_stream_traits(struct verbs_stream *stream,
			 struct verbs_device_traits *out);
/*
 * Creates protection domain, completion queue and queue pair.  @context is
 * handed to every call back below.  0 or -errno, with nothing left behind.
 * On return shape->transfer_wrs and ->send_sge are what the device allows.
 */
int verbs_stream_create(struct verbs_stream *stream, struct verbs_shape *shape,
			void *context);
/* CM answers; @private_data is copied.  @read_depth: RDMA Reads we start. */
int verbs_stream_accept(struct verbs_stream *stream, const u8 *private_data,
			u8 length, u8 read_depth);
void verbs_stream_reject(struct verbs_stream *stream, const u8 *private_data,
			 u8 length);
/* Starts the end of the connection; any process context; harmless twice. */
void verbs_stream_disconnect(struct verbs_stream *stream);
/*
 * Puts the queue pair into the error state and waits until the device says that
 * all is completed that was posted.  Sleeps.  Nothing may be posted once this
 * was called.  siw may say so too early: who posted something signalled waits
 * for its call back as well.
 */
void verbs_stream_drain(struct verbs_stream *stream);
/*
 * Undoes verbs_stream_create after a drain, when all that is signalled is over.
 * Nothing is called back any more when it returns.  Sleeps.
 */
void verbs_stream_destroy(struct verbs_stream *stream);
/*
 * Frees @stream.  @destroy_id: also destroys its CM id, which waits for
 * events being handled (so not from one of them).
 */
void verbs_stream_free(struct verbs_stream *stream, int destroy_id);

/* C++: CM and queue pair events, in process context, one at a time. */
enum verbs_stream_event {
	VERBS_ESTABLISHED,
	VERBS_DISCONNECTED,
	VERBS_CONNECT_FAILED,	/* rejected, unreachable, error */
	VERBS_ADDRESS_CHANGED,
	VERBS_TIMEWAIT_EXIT,
	VERBS_QP_FATAL,		/* may come in atomic context */
};
CALLED_BY_C void verbs_stream_event(void *context,
				    enum verbs_stream_event event);
/*
 * C++: the device goes away.  Returns when nothing of the stream is left on
 * it.  1: the caller destroys the CM id (and the stream must be freed with
 * destroy_id 0 before this returns); 0: verbs_stream_free does.
 */
CALLED_BY_C int verbs_stream_device_removed(void *context);

/* Memory that the device reads or writes -------------------------------- */

struct verbs_memory {
	void *data;
	u64 dma_address;
	u32 size;
	u32 from_device;
};
/*
 * @size bytes, at most 8 KiB (order 1), zeroed, mapped for the stream's
 * device; sleeps.  0 or -ENOMEM.
 */
int verbs_memory_alloc(struct verbs_stream *stream, struct verbs_memory *memory,
		       u32 size, int from_device);
/* Unmapping must come before verbs_stream_destroy; freeing may come later. */
void verbs_memory_unmap(struct verbs_stream *stream, struct verbs_memory *memory);
void verbs_memory_free(struct verbs_memory *memory);
/* Hands @length bytes at @offset from the device to the processor and back. */
void verbs_sync_for_cpu(struct verbs_stream *stream,
			const struct verbs_memory *memory, u32 offset,
			u32 length);
void verbs_sync_for_device(struct verbs_stream *stream,
			   const struct verbs_memory *memory, u32 offset,
			   u32 length);

/* Work requests --------------------------------------------------------- */

/* A piece of mapped memory. */
struct verbs_piece {
	const struct verbs_memory *memory;
	u32 offset;
	u32 length;
};

/*
 * @receive points at VERBS_RECEIVE_SIZE bytes: one receive buffer.  init
 * once, post as often as it was consumed.  post: 0 or -errno; any context.
 */
void verbs_receive_init(struct verbs_stream *stream, void *receive,
			const struct verbs_piece *pieces, u32 count,
			void *context);
int verbs_receive_post(struct verbs_stream *stream, void *receive);
/* C++, completion worker (process context).  @status 0: success. */
CALLED_BY_C void verbs_receive_done(void *context, int status, u32 length);

/*
 * @send points at VERBS_SEND_SIZE bytes: one Send of up to two pieces.
 * @invalidate: STag that the peer's side shall invalidate.  Not @signalled:
 * done is called only when it failed.  data_failed comes first when an RDMA
 * Write failed that it was chained to.
 */
void verbs_send_init(void *send, void *context);
void verbs_send_set(struct verbs_stream *stream, void *send,
		    const struct verbs_piece *pieces, u32 count,
		    int with_invalidate, u32 invalidate, int signalled);
int verbs_send_post(struct verbs_stream *stream, void *send);
/* C++, completion worker. */
CALLED_BY_C void verbs_send_done(void *context, int status);
CALLED_BY_C void verbs_send_data_failed(void *context, int status);

/*
 * An operation that does nothing: an RDMA Write without data.  When it is done,
 * so is all that was posted before, signalled or not.  One at a time, in a place
 * of the send queue that verbs_shape counts as a Send.  post: 0 or -errno; any
 * context.  done, with the stream's context: completion worker.
 */
int verbs_marker_post(struct verbs_stream *stream);
CALLED_BY_C void verbs_marker_done(void *context, int status);

/*
 * @transfer points at VERBS_TRANSFER_SIZE bytes: one RDMA Read or Write
 * between [@offset, @offset + @length) of the scatterlist and the peer's
 * buffer.  prepare sleeps; returns how many work requests posting takes,
 * -EAGAIN when the device has no registration to spare just now, or another
 * -errno.  post: 0 or -errno, any context; of an RDMA Write with a @chained
 * Send only the Send's call backs tell.  finish undoes prepare; sleeps not.
 */
struct verbs_range {
	void *scatterlist;
	u32 entries;
	u32 offset;
	u32 length;
};
void verbs_transfer_init(void *transfer, void *context);
int verbs_transfer_prepare(struct verbs_stream *stream, void *transfer,
			   const struct verbs_range *local, u64 remote_offset,
			   u32 stag, int read);
int verbs_transfer_post(struct verbs_stream *stream, void *transfer,
			void *chained);
void verbs_transfer_finish(struct verbs_stream *stream, void *transfer);
/* C++, completion worker. */
CALLED_BY_C void verbs_transfer_done(void *context, int status);

/* Words for a completion status: "remote access error". */
const char *verbs_status_text(int status);
/* Whether @status only says that the queue pair was flushed. */
int verbs_status_is_flush(int status);

#ifdef __cplusplus
}
#endif

#endif
