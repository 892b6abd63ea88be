// SPDX-License-Identifier: GPL-2.0
#include "rcap/verbs/listener.h"

#include "rcap/verbs/stream.h"

namespace rcap {

using base::Bytes;
using base::Error;
using base::OwnPtr;
using base::Result;
using base::SpinGuard;

Result<OwnPtr<Listener>> listen_verbs(const port_address &address,
				      ListenerUser &user)
{
	auto listener = TRY(
		base::make<verbs::Listener>(PORT_MAY_SLEEP, address, user));

	if (Error error = listener->start(); error != Error::None)
		return error;
	return OwnPtr<Listener>(base::move(listener));
}

namespace verbs {

namespace {

/* Ports above the wanted one that are tried when it is taken. */
constexpr u16 ports_above = 16;
/* Waits before the next try to listen again: 0.1 s, doubling, up to 5 s. */
constexpr u32 first_retry_ms = 100;
constexpr u32 longest_retry_ms = 5000;

class Request final : public ConnectionRequest {
public:
	explicit Request(const verbs_request &request) : request_(request)
	{
		verbs_stream_traits(request.stream, &traits_);
	}

	Bytes private_data() const override
	{
		return {request_.private_data, request_.private_data_length};
	}
	const port_address &peer() const override { return request_.peer; }
	bool send_with_invalidate() const override
	{
		return traits_.send_with_invalidate;
	}
	Result<OwnPtr<rcap::Stream>> make_stream(const StreamShape &shape,
						 StreamUser &user) override
	{
		return OwnPtr<rcap::Stream>(
			TRY(Stream::create(request_, shape, user)));
	}
	void reject(Bytes why) override
	{
		verbs_stream_reject(request_.stream, why.data(),
				    static_cast<u8>(why.size()));
	}

private:
	const verbs_request &request_;
	verbs_device_traits traits_;
};

} // namespace

Listener::Listener(const port_address &address, ListenerUser &user)
	: wanted_(address), user_(user), lock_("listener"), actual_(address),
	  rebuild_(*this)
{
}

Listener::~Listener()
{
	{
		SpinGuard guard(lock_);

		stopping_ = true;
	}
	rebuild_.cancel_sync();
	if (handle_)
		verbs_listener_destroy(handle_);
}

Error Listener::start()
{
	return listen_somewhere();
}

port_address Listener::address() const
{
	SpinGuard guard(lock_);

	return actual_;
}

Error Listener::listen_at(const port_address &address)
{
	const Error error = base::from_errno(
		verbs_listener_create(&handle_, &address, this));

	if (error != Error::None) {
		handle_ = nullptr;
		return error;
	}
	SpinGuard guard(lock_);

	actual_ = address;
	return Error::None;
}

Error Listener::listen_somewhere()
{
	port_address address = wanted_;
	const u16 wanted_port = port_address_port(&wanted_);
	Error error = listen_at(address);

	for (u16 above = 1;
	     error == Error::AddressInUse && above <= ports_above; ++above) {
		if (wanted_port > 65535 - above)
			break;
		port_address_set_port(&address,
				      static_cast<u16>(wanted_port + above));
		error = listen_at(address);
	}
	return error;
}

void Listener::event(enum verbs_listener_event)
{
	/* Both end what we have; a new id cannot be made in the handler. */
	rebuild_.queue(first_retry_ms);
}

void Listener::rebuild()
{
	u32 delay = first_retry_ms;
	{
		SpinGuard guard(lock_);

		if (stopping_)
			return;
		delay <<= tries_;
		if (delay < longest_retry_ms)
			++tries_;
		else
			delay = longest_retry_ms;
	}
	if (handle_) {
		verbs_listener_destroy(handle_);
		handle_ = nullptr;
		user_.listening(address(), false);
	}
	if (listen_somewhere() != Error::None) {
		rebuild_.queue(delay);
		return;
	}
	{
		SpinGuard guard(lock_);

		tries_ = 0;
	}
	user_.listening(address(), true);
}

bool Listener::connect_request(const verbs_request &request)
{
	Request wrapped(request);

	return user_.connection_requested(wrapped);
}

} // namespace verbs
} // namespace rcap

/* The port calls back ------------------------------------------------------ */

using rcap::verbs::Listener;

void verbs_listener_event(void *context, enum verbs_listener_event event)
{
	static_cast<Listener *>(context)->event(event);
}

int verbs_connect_request(void *context, const struct verbs_request *request)
{
	return static_cast<Listener *>(context)->connect_request(*request);
}
