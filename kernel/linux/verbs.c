// SPDX-License-Identifier: GPL-2.0
/* verbs.h on ib_core and rdma_cm. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "linux/compat/rdma_rw.h"
#include "objects.h"
#include "port/verbs.h"

/* Connection requests that wait to be handled. */
#define LISTEN_BACKLOG		128

/* How long the peer's RTU may take that is behind a message of the peer. */
#define RTU_TIMEOUT		(2 * HZ)
/* The CM is told that the connection is made, and does a little work. */
#define ESTABLISHED_TIMEOUT	(2 * HZ)
/*
 * How long a sender waits after it found our receive queue dry, as InfiniBand
 * encodes it: 0.64 ms.  The default, 0, means 655 ms.
 */
#define MIN_RNR_TIMER		12
/* Seven is the most for the first, and for ever for the second. */
#define RETRY_COUNT		7
#define RNR_RETRY_COUNT		7

struct verbs_listener {
	/* Whoever takes the id out, under the lock, destroys it. */
	struct mutex lock;
	struct rdma_cm_id *id;
	struct work_struct removal;
	void *context;
};

struct verbs_stream {
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	u32 cqe;
	struct ib_qp *qp;
	u32 send_wrs;
	struct work_struct release;
	/* A message has come; written by the completion worker. */
	bool heard;
	/* And the CM knows that the connection is made, or is past that. */
	struct completion established;
	struct ib_cqe marker;
	void *context;
};

/* Words ----------------------------------------------------------------- */

const char *verbs_status_text(int status)
{
	return ib_wc_status_msg(status);
}

int verbs_status_is_flush(int status)
{
	return status == IB_WC_WR_FLUSH_ERR;
}

/* Events of a connection ------------------------------------------------ */

static int stream_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_stream *stream = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		complete_all(&stream->established);
		verbs_stream_event(stream->context, VERBS_ESTABLISHED);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		complete_all(&stream->established);
		verbs_stream_event(stream->context, VERBS_DISCONNECTED);
		break;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		complete_all(&stream->established);
		verbs_stream_event(stream->context, VERBS_CONNECT_FAILED);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		verbs_stream_event(stream->context, VERBS_ADDRESS_CHANGED);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		verbs_stream_event(stream->context, VERBS_TIMEWAIT_EXIT);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/*
		 * "The caller destroys the id" is not left to the CM: it
		 * would return through this function after the stream is
		 * gone, when nothing keeps the module loaded any more.  See
		 * verbs_stream_free().
		 */
		verbs_stream_device_removed(stream->context);
		break;
	default:
		break;
	}
	return 0;
}

/* Maybe in atomic context. */
static void qp_handler(struct ib_event *event, void *context)
{
	struct verbs_stream *stream = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* Data came before the CM's RTU, which may be lost. */
		rdma_notify(stream->id, IB_EVENT_COMM_EST);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_DEVICE_FATAL:
		verbs_stream_event(stream->context, VERBS_QP_FATAL);
		break;
	default:
		break;
	}
}

/* Listening ------------------------------------------------------------- */

static void stream_release(struct work_struct *work)
{
	struct verbs_stream *stream = container_of(work, struct verbs_stream,
						   release);

	rdma_destroy_id(stream->id);
	port_free(stream);
}

static struct verbs_stream *stream_alloc(struct rdma_cm_id *id)
{
	struct verbs_stream *stream = port_alloc(sizeof(*stream),
						 PORT_MAY_SLEEP);

	if (!stream)
		return NULL;
	INIT_WORK(&stream->release, stream_release);
	init_completion(&stream->established);
	stream->id = id;
	id->context = stream;
	id->event_handler = stream_handler;
	return stream;
}

static void copy_address(struct port_address *to,
			 const struct sockaddr_storage *from)
{
	BUILD_BUG_ON(sizeof(*to) != sizeof(*from));
	memcpy(to, from, sizeof(*to));
}

/*
 * @id is the new connection's, which has the listener's context until now.
 * When this fails, the CM destroys @id, which refuses the peer unless it was
 * told already.
 */
static int connect_request(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_listener *listener = id->context;
	struct verbs_request request = {
		.private_data = event->param.conn.private_data,
		.private_data_length = event->param.conn.private_data_len,
		.initiator_depth = event->param.conn.initiator_depth,
	};

	request.stream = stream_alloc(id);
	if (!request.stream)
		return -ENOMEM;
	copy_address(&request.peer, &id->route.addr.dst_addr);
	copy_address(&request.local, &id->route.addr.src_addr);
	if (verbs_connect_request(listener->context, &request))
		return 0;
	port_free(request.stream);
	return -ECONNREFUSED;
}

static int listener_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct verbs_listener *listener = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return connect_request(id, event);
	case RDMA_CM_EVENT_ADDR_CHANGE:
		verbs_listener_event(listener->context,
				     VERBS_LISTENER_ADDRESS_CHANGED);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The CM waits until the id was destroyed. */
		queue_work(lio_iser_wq, &listener->removal);
		return 0;
	default:
		return 0;
	}
}

static struct rdma_cm_id *listener_take_id(struct verbs_listener *listener)
{
	struct rdma_cm_id *id;

	mutex_lock(&listener->lock);
	id = listener->id;
	listener->id = NULL;
	mutex_unlock(&listener->lock);
	return id;
}

static void listener_removal(struct work_struct *work)
{
	struct verbs_listener *listener =
		container_of(work, struct verbs_listener, removal);
	struct rdma_cm_id *id = listener_take_id(listener);

	/* Otherwise it failed to be created, or is being destroyed. */
	if (!id)
		return;
	rdma_destroy_id(id);
	verbs_listener_event(listener->context, VERBS_LISTENER_DEVICE_REMOVED);
}

static int listen_on(struct rdma_cm_id *id, const struct port_address *address)
{
	int err;

	err = rdma_set_afonly(id, 1);
	if (err)
		return err;
	err = rdma_bind_addr(id, (struct sockaddr *)address->bytes);
	if (err)
		return err;
	return rdma_listen(id, LISTEN_BACKLOG);
}

/* The caller has the lock, so that a removal waits for the outcome. */
static int listener_start(struct verbs_listener *listener,
			  const struct port_address *address)
{
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, listener_handler, listener, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = listen_on(id, address);
	if (err) {
		rdma_destroy_id(id);
		return err;
	}
	listener->id = id;
	return 0;
}

int verbs_listener_create(struct verbs_listener **out,
			  const struct port_address *address, void *context)
{
	struct verbs_listener *listener;
	int err;

	listener = port_alloc(sizeof(*listener), PORT_MAY_SLEEP);
	if (!listener)
		return -ENOMEM;
	mutex_init(&listener->lock);
	INIT_WORK(&listener->removal, listener_removal);
	listener->context = context;

	mutex_lock(&listener->lock);
	err = listener_start(listener, address);
	mutex_unlock(&listener->lock);
	if (err) {
		cancel_work_sync(&listener->removal);
		port_free(listener);
		return err;
	}
	*out = listener;
	return 0;
}

void verbs_listener_destroy(struct verbs_listener *listener)
{
	struct rdma_cm_id *id = listener_take_id(listener);

	if (id)
		rdma_destroy_id(id);
	/* No event can queue it any more; if it took the id, wait for it. */
	cancel_work_sync(&listener->removal);
	port_free(listener);
}

/* A connection ---------------------------------------------------------- */

void verbs_stream_traits(struct verbs_stream *stream,
			 struct verbs_device_traits *out)
{
	const struct rdma_cm_id *id = stream->id;
	const struct ib_device_attr *attrs = &id->device->attrs;

	*out = (struct verbs_device_traits) {
		.send_with_invalidate =
			!!(attrs->device_cap_flags &
			   IB_DEVICE_MEM_MGT_EXTENSIONS),
		.max_read_depth = clamp_t(int, attrs->max_qp_init_rd_atom, 0,
					  U8_MAX),
		.send_wrs = stream->send_wrs,
		.port = id->port_num,
	};
	strscpy(out->name, dev_name(&id->device->dev), sizeof(out->name));
}

/* How the shape becomes the capacity of a queue pair. */
static int shape_capacity(struct rdma_cm_id *id,
			  const struct verbs_shape *shape,
			  struct ib_qp_cap *cap, u32 *send_wrs)
{
	const struct ib_device_attr *attrs = &id->device->attrs;
	u32 limit = attrs->max_qp_wr;
	u32 factor = rdma_rw_max_send_wr(id->device, id->port_num, 1, 0);
	/* A drain posts one more to each queue. */
	u32 sends = shape->sends + 1;
	u32 receives = shape->receives + 1;

	if (sends < shape->sends || sends >= limit || receives > limit ||
	    receives < shape->receives)
		return -EINVAL;
	if (shape->receive_sge > min_t(u32, VERBS_RECEIVE_PIECES,
				       attrs->max_recv_sge))
		return -EINVAL;

	/*
	 * rdma_rw keeps room for @factor work requests for each of its
	 * contexts.  More than one means that it registers memory, with as
	 * many registrations as contexts: costly, so no more than asked for.
	 */
	cap->max_rdma_ctxs = factor > 1 ? shape->transfers :
					  shape->transfer_wrs;
	cap->max_rdma_ctxs = min(cap->max_rdma_ctxs, limit);
	*send_wrs = factor * cap->max_rdma_ctxs;
	cap->max_send_wr = sends;
	if (shape->transfer_wrs > *send_wrs)
		cap->max_send_wr += min(shape->transfer_wrs, limit) - *send_wrs;
	*send_wrs = min(*send_wrs + cap->max_send_wr, limit);

	cap->max_recv_wr = receives;
	cap->max_recv_sge = shape->receive_sge;
	cap->max_send_sge = min_t(u32, attrs->max_send_sge,
				  max_t(u32, shape->send_sge,
					VERBS_SEND_PIECES));
	return 0;
}

static int create_qp(struct verbs_stream *stream,
		     struct ib_qp_init_attr *attr)
{
	int err;

	/* Everything may be flushed at once: room for all of it. */
	stream->cqe = stream->send_wrs + attr->cap.max_recv_wr;
	stream->cq = ib_cq_pool_get(stream->id->device, stream->cqe, -1,
				    IB_POLL_WORKQUEUE);
	if (IS_ERR(stream->cq))
		return PTR_ERR(stream->cq);

	attr->send_cq = stream->cq;
	attr->recv_cq = stream->cq;
	err = rdma_create_qp(stream->id, stream->pd, attr);
	if (err) {
		ib_cq_pool_put(stream->cq, stream->cqe);
		return err;
	}
	stream->qp = stream->id->qp;
	return 0;
}

int verbs_stream_create(struct verbs_stream *stream, struct verbs_shape *shape,
			void *context)
{
	struct rdma_cm_id *id = stream->id;
	struct ib_qp_init_attr attr = {
		.event_handler = qp_handler,
		.qp_context = stream,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = id->port_num,
	};
	int err;

	err = shape_capacity(id, shape, &attr.cap, &stream->send_wrs);
	if (err)
		return err;
	stream->context = context;
	stream->pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(stream->pd))
		return PTR_ERR(stream->pd);
	err = create_qp(stream, &attr);
	if (err) {
		ib_dealloc_pd(stream->pd);
		return err;
	}

	/* Drivers round up, but the completion queue has what was planned. */
	stream->send_wrs = min(stream->send_wrs, attr.cap.max_send_wr);
	shape->transfer_wrs = stream->send_wrs - shape->sends - 1;
	shape->send_sge = stream->qp->max_write_sge;
	return 0;
}

int verbs_stream_accept(struct verbs_stream *stream, const u8 *private_data,
			u8 length, u8 read_depth)
{
	struct rdma_conn_param param = {
		.private_data = private_data,
		.private_data_len = length,
		/* The initiator never reads from a target (RFC 7145 2.2). */
		.responder_resources = 0,
		.initiator_depth = read_depth,
		.retry_count = RETRY_COUNT,
		.rnr_retry_count = RNR_RETRY_COUNT,
	};
	int err;

	err = rdma_set_min_rnr_timer(stream->id, MIN_RNR_TIMER);
	if (err)
		return err;
	return rdma_accept(stream->id, &param);
}

void verbs_stream_reject(struct verbs_stream *stream, const u8 *private_data,
			 u8 length)
{
	rdma_reject(stream->id, private_data, length,
		    IB_CM_REJ_CONSUMER_DEFINED);
}

/*
 * Until the RTU is here the CM would reject the connection instead, which the
 * peer takes for a failure to connect; ib_iser then keeps its end for ever.
 *
 * If the RTU got lost, a message says the same, and not every device makes it
 * an event.  But that is the last resort: between being told and acting on it,
 * the CM meets an RTU or a DREQ without ending its own REP.  It then repeats
 * that, unanswered, for a minute or two, and does not give up the id before.
 */
void verbs_stream_disconnect(struct verbs_stream *stream)
{
	if (READ_ONCE(stream->heard) &&
	    !wait_for_completion_timeout(&stream->established, RTU_TIMEOUT)) {
		rdma_notify(stream->id, IB_EVENT_COMM_EST);
		wait_for_completion_timeout(&stream->established,
					    ESTABLISHED_TIMEOUT);
	}
	rdma_disconnect(stream->id);
}

void verbs_stream_drain(struct verbs_stream *stream)
{
	ib_drain_qp(stream->qp);
}

/*
 * siw (6.1) may flush an unsignalled Send behind a drain.  Now that the queue
 * pair is gone nothing is added any more: let the worker see what there is; it
 * may have queued itself once more meanwhile.
 */
static void let_worker_finish(struct ib_cq *cq)
{
	flush_work(&cq->work);
	flush_work(&cq->work);
}

void verbs_stream_destroy(struct verbs_stream *stream)
{
	rdma_destroy_qp(stream->id);
	let_worker_finish(stream->cq);
	ib_cq_pool_put(stream->cq, stream->cqe);
	ib_dealloc_pd(stream->pd);
}

void verbs_stream_free(struct verbs_stream *stream, int destroy_id)
{
	/*
	 * Destroying the id waits until the event handler has returned.  From
	 * the handler itself, leave it to a work item: the module stays until
	 * that is done, see port_exit().
	 */
	if (destroy_id)
		stream_release(&stream->release);
	else
		queue_work(lio_iser_wq, &stream->release);
}

/* Memory that the device reads or writes -------------------------------- */

static enum dma_data_direction memory_direction(const struct verbs_memory *memory)
{
	return memory->from_device ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

int verbs_memory_alloc(struct verbs_stream *stream, struct verbs_memory *memory,
		       u32 size, int from_device)
{
	struct ib_device *device = stream->id->device;

	memory->size = size;
	memory->from_device = from_device;
	/* Whole pages from where they are: the slabs of kmalloc are larger. */
	if (size >= PAGE_SIZE)
		memory->data = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO,
							get_order(size));
	else
		memory->data = kzalloc(size, GFP_KERNEL);
	if (!count_allocation(memory->data))
		return -ENOMEM;
	memory->dma_address = ib_dma_map_single(device, memory->data, size,
						memory_direction(memory));
	if (ib_dma_mapping_error(device, memory->dma_address)) {
		verbs_memory_free(memory);
		return -ENOMEM;
	}
	return 0;
}

void verbs_memory_unmap(struct verbs_stream *stream,
			struct verbs_memory *memory)
{
	if (!memory->data)
		return;
	ib_dma_unmap_single(stream->id->device, memory->dma_address,
			    memory->size, memory_direction(memory));
}

void verbs_memory_free(struct verbs_memory *memory)
{
	count_free(memory->data);
	if (memory->size >= PAGE_SIZE)
		free_pages((unsigned long)memory->data,
			   get_order(memory->size));
	else
		kfree(memory->data);
	memory->data = NULL;
}

void verbs_sync_for_cpu(struct verbs_stream *stream,
			const struct verbs_memory *memory, u32 offset,
			u32 length)
{
	ib_dma_sync_single_for_cpu(stream->id->device,
				   memory->dma_address + offset, length,
				   memory_direction(memory));
}

void verbs_sync_for_device(struct verbs_stream *stream,
			   const struct verbs_memory *memory, u32 offset,
			   u32 length)
{
	ib_dma_sync_single_for_device(stream->id->device,
				      memory->dma_address + offset, length,
				      memory_direction(memory));
}

/* Receives and Sends ---------------------------------------------------- */

static u32 set_pieces(struct verbs_stream *stream, struct ib_sge *sge,
		      const struct verbs_piece *pieces, u32 count, u32 limit)
{
	u32 i;

	if (WARN_ON_ONCE(count > limit))
		count = limit;
	for (i = 0; i < count; i++) {
		sge[i].addr = pieces[i].memory->dma_address + pieces[i].offset;
		sge[i].length = pieces[i].length;
		sge[i].lkey = stream->pd->local_dma_lkey;
	}
	return count;
}

static void receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_receive *self = container_of(wc->wr_cqe,
						  struct verbs_receive, cqe);
	struct verbs_stream *stream = wc->qp->qp_context;

	if (wc->status == IB_WC_SUCCESS)
		WRITE_ONCE(stream->heard, true);
	verbs_receive_done(self->context, wc->status,
			   wc->status == IB_WC_SUCCESS ? wc->byte_len : 0);
}

void verbs_receive_init(struct verbs_stream *stream, void *receive,
			const struct verbs_piece *pieces, u32 count,
			void *context)
{
	struct verbs_receive *self = receive;

	self->context = context;
	self->cqe.done = receive_done;
	self->wr = (struct ib_recv_wr) {
		.wr_cqe = &self->cqe,
		.sg_list = self->sge,
		.num_sge = set_pieces(stream, self->sge, pieces, count,
				      VERBS_RECEIVE_PIECES),
	};
}

int verbs_receive_post(struct verbs_stream *stream, void *receive)
{
	struct verbs_receive *self = receive;

	return ib_post_recv(stream->qp, &self->wr, NULL);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_send *self = container_of(wc->wr_cqe, struct verbs_send,
					       cqe);

	verbs_send_done(self->context, wc->status);
}

static void send_data_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_send *self = container_of(wc->wr_cqe, struct verbs_send,
					       data);

	if (wc->status != IB_WC_SUCCESS)
		verbs_send_data_failed(self->context, wc->status);
}

void verbs_send_init(void *send, void *context)
{
	struct verbs_send *self = send;

	self->context = context;
	self->cqe.done = send_done;
	self->data.done = send_data_done;
}

void verbs_send_set(struct verbs_stream *stream, void *send,
		    const struct verbs_piece *pieces, u32 count,
		    int with_invalidate, u32 invalidate, int signalled)
{
	struct verbs_send *self = send;

	self->wr = (struct ib_send_wr) {
		.wr_cqe = &self->cqe,
		.sg_list = self->sge,
		.num_sge = set_pieces(stream, self->sge, pieces, count,
				      VERBS_SEND_PIECES),
		.opcode = with_invalidate ? IB_WR_SEND_WITH_INV : IB_WR_SEND,
		.send_flags = signalled ? IB_SEND_SIGNALED : 0,
	};
	if (with_invalidate)
		self->wr.ex.invalidate_rkey = invalidate;
}

int verbs_send_post(struct verbs_stream *stream, void *send)
{
	struct verbs_send *self = send;

	return ib_post_send(stream->qp, &self->wr, NULL);
}

static void marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_stream *stream = container_of(wc->wr_cqe,
						   struct verbs_stream, marker);

	verbs_marker_done(stream->context, wc->status);
}

/* Without data no STag is looked at: IBA C9-88, and so it is over iWARP. */
int verbs_marker_post(struct verbs_stream *stream)
{
	const struct ib_rdma_wr marker = {
		.wr = {
			.wr_cqe = &stream->marker,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	stream->marker.done = marker_done;
	return ib_post_send(stream->qp, &marker.wr, NULL);
}

/* RDMA Reads and Writes ------------------------------------------------- */

/* It comes after all others of the operation, even if those failed. */
static void transfer_last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_transfer *self = container_of(wc->wr_cqe,
						   struct verbs_transfer, last);

	verbs_transfer_done(self->context, self->failure ?: wc->status);
}

/*
 * An early one tells the cause, the later ones that they were flushed.  But wait
 * for the last: until then the device may use @self.
 */
static void transfer_early_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_transfer *self = container_of(wc->wr_cqe,
						   struct verbs_transfer,
						   early);

	if (!self->failure)
		self->failure = wc->status;
}

void verbs_transfer_init(void *transfer, void *context)
{
	struct verbs_transfer *self = transfer;

	*self = (struct verbs_transfer) {
		.last.done = transfer_last_done,
		.early.done = transfer_early_done,
		.context = context,
	};
}

/* A list of its own for @length bytes at @offset of @from. */
static int copy_list(struct sg_table *copy, struct scatterlist *from,
		     u32 entries, u32 offset, u32 length)
{
	struct scatterlist *to;
	u32 i;
	int err;

	err = sg_alloc_table(copy, entries, GFP_KERNEL);
	if (err)
		return err;
	for_each_sg(copy->sgl, to, entries, i) {
		u32 part = min(from->length - offset, length);

		sg_set_page(to, sg_page(from), part, from->offset + offset);
		offset = 0;
		length -= part;
		from = sg_next(from);
	}
	return 0;
}

/*
 * rdma_rw takes a list to its end, and siw registers one from its beginning,
 * whatever offset it is told. So give it the part of the list that holds the
 * range, or a copy when the range begins or ends inside an entry.
 */
static int transfer_set_list(struct verbs_transfer *self,
			     const struct verbs_range *local)
{
	struct scatterlist *first = local->scatterlist;
	struct scatterlist *sg;
	u32 left = local->entries;
	u32 offset = local->offset;
	u64 end, seen = 0;
	u32 entries = 0;
	int err;

	for (; left && offset >= first->length; left--, first = sg_next(first))
		offset -= first->length;
	end = (u64)offset + local->length;
	for (sg = first; seen < end; sg = sg_next(sg)) {
		if (entries == left)
			return -EINVAL;
		seen += sg->length;
		entries++;
	}
	if (!entries || !local->length)
		return -EINVAL;

	self->entries = entries;
	self->list = first;
	if (!offset && seen == end)
		return 0;
	err = copy_list(&self->copy, first, entries, offset, local->length);
	if (err)
		return err;
	self->list = self->copy.sgl;
	return 0;
}

static void transfer_free_list(struct verbs_transfer *self)
{
	/* Nothing, if there is no copy. */
	sg_free_table(&self->copy);
}

int verbs_transfer_prepare(struct verbs_stream *stream, void *transfer,
			   const struct verbs_range *local, u64 remote_offset,
			   u32 stag, int read)
{
	struct verbs_transfer *self = transfer;
	int result;

	result = transfer_set_list(self, local);
	if (result)
		return result;
	self->direction = read ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	result = rdma_rw_ctx_init(&self->rw, stream->qp, stream->id->port_num,
				  self->list, self->entries, 0, remote_offset,
				  stag, self->direction);
	if (result < 0)
		transfer_free_list(self);
	return result;
}

int verbs_transfer_post(struct verbs_stream *stream, void *transfer,
			void *chained)
{
	struct verbs_transfer *self = transfer;
	struct verbs_send *send = chained;
	struct ib_send_wr *first, *wr;
	const struct ib_send_wr *bad;
	int err;

	self->failure = IB_WC_SUCCESS;
	first = rdma_rw_ctx_wrs(&self->rw, stream->qp, stream->id->port_num,
				&self->last, send ? &send->wr : NULL);
	for (wr = first; wr->next; wr = wr->next)
		wr->wr_cqe = send ? &send->data : &self->early;
	err = ib_post_send(stream->qp, first, &bad);
	/* The caller counts the slots, so that they cannot run out midway. */
	WARN_ONCE(err && bad != first, "send queue overrun: %d\n", err);
	return err;
}

void verbs_transfer_finish(struct verbs_stream *stream, void *transfer)
{
	struct verbs_transfer *self = transfer;

	rdma_rw_ctx_destroy(&self->rw, stream->qp, stream->id->port_num,
			    self->list, self->entries, self->direction);
	transfer_free_list(self);
}
