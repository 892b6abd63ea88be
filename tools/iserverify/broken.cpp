// SPDX-License-Identifier: GPL-2.0
#include "broken.h"

#include <algorithm>
#include <cstring>

namespace iserverify {

namespace {

/* Long enough for what is under way, on a machine that is busy. */
constexpr Milliseconds moment{300};

const std::string hung_up_cause = "the peer disconnected";

/* Memory that a target reads wrongly: a copy is what it finds. */
class WrongMemory final : public Registration {
public:
	WrongMemory(RawConnection &connection, ByteVector bytes)
		: bytes_(std::move(bytes)),
		  memory_(connection.register_memory(
			  bytes_, RawConnection::Access::RemoteRead))
	{
	}
	const RegisteredMemory &memory() const { return memory_; }

private:
	ByteVector bytes_;
	RegisteredMemory memory_;
};

/* Memory that a target writes to, known by its STag meanwhile. */
class KnownMemory final : public Registration {
public:
	KnownMemory(RegisteredMemory memory,
		    std::shared_ptr<MemoryByStag> memories)
		: memory_(std::move(memory)), memories_(std::move(memories))
	{
	}
	~KnownMemory() override { memories_->erase(memory_.stag()); }

private:
	RegisteredMemory memory_;
	std::shared_ptr<MemoryByStag> memories_;
};

} // namespace

const iser::MessageHead *head_of(const Message &message)
{
	if (message.bytes.size() < sizeof(iser::MessageHead))
		return nullptr;

	auto head = reinterpret_cast<const iser::MessageHead *>(
		message.bytes.data());

	return head->header.opcode() == iser::IserOpcode::Control ? head
								  : nullptr;
}

Pdu taken_apart(const Message &message)
{
	Pdu pdu;

	std::memcpy(&pdu.head, message.bytes.data(), sizeof(pdu.head));

	ByteView rest = ByteView(message.bytes).subspan(sizeof(pdu.head));
	const ByteView ahs = rest.first(std::min<std::size_t>(
		rest.size() & ~std::size_t{3}, pdu.head.bhs.ahs_bytes()));

	rest = rest.subspan(ahs.size());

	const ByteView data = rest.first(std::min<std::size_t>(
		rest.size(), pdu.head.bhs.data_segment_length));

	pdu.ahs.assign(ahs.begin(), ahs.end());
	pdu.data.assign(data.begin(), data.end());
	return pdu;
}

std::unique_ptr<RawConnection>
BrokenTarget::connect(const ConnectOptions &options)
{
	return std::make_unique<BrokenConnection>(*this, options,
						  connector_(options));
}

BrokenConnection::BrokenConnection(BrokenTarget &target,
				   const ConnectOptions &options,
				   std::unique_ptr<RawConnection> connection)
	: target_(target), options_(options), inner_(std::move(connection))
{
}

/* ---- connecting ---------------------------------------------------------- */

void BrokenConnection::request()
{
	for (const Breakage &breakage : target_.breakages())
		if (breakage.accepts && !breakage.accepts(options_))
			throw ConnectError("the target refuses the connection");
	inner_->request();
}

bool BrokenConnection::await_reply(Milliseconds timeout)
{
	return inner_->await_reply(timeout);
}

void BrokenConnection::establish()
{
	inner_->establish();
	private_data_ = inner_->peer_private_data();
	for (const Breakage &breakage : target_.breakages())
		if (breakage.private_data)
			breakage.private_data(private_data_);
}

unsigned BrokenConnection::peer_initiator_depth() const
{
	for (const Breakage &breakage : target_.breakages())
		if (breakage.initiator_depth)
			return *breakage.initiator_depth;
	return inner_->peer_initiator_depth();
}

/* ---- messages ------------------------------------------------------------ */

void BrokenConnection::note_request(const Message &message)
{
	const iser::MessageHead *head = head_of(message);

	if (head && head->bhs.opcode() == IscsiOpcode::ScsiCommand &&
	    head->header.opcode_and_flags &
		    iser::ControlHeader::read_stag_valid)
		read_stags_[head->bhs.itt] = head->header.read_stag;
}

void BrokenConnection::send(ByteView bytes, SendOpcode opcode,
			    std::uint32_t stag)
{
	Message message = {{bytes.begin(), bytes.end()}, opcode, stag, {}};

	if (hung_up_)
		throw ConnectionLost("the connection ended: " + hung_up_cause);
	note_request(message);
	for (const Breakage &breakage : target_.breakages())
		if (breakage.to_target && !breakage.to_target(*this, message))
			return;
	try {
		inner_->send(message.bytes, message.opcode, message.stag);
	} catch (const ConnectionLost &) {
		if (!never_hangs_up())
			throw;
	}
}

bool BrokenConnection::drain_sends(Milliseconds timeout)
{
	return !hung_up_ && inner_->drain_sends(timeout);
}

void BrokenConnection::note_response(const Message &message)
{
	const iser::MessageHead *head = head_of(message);

	if (!head)
		return;
	last_ = head->bhs.as<ResponsePdu>();
	if (head->bhs.opcode() == IscsiOpcode::LoginResponse)
		login_answered_ = true;
	if (head->bhs.opcode() != IscsiOpcode::ScsiResponse)
		return;

	const auto stag = read_stags_.find(head->bhs.itt);

	if (stag == read_stags_.end())
		return;

	last_read_stag_ = stag->second;
	read_stags_.erase(stag);

	const std::span<std::uint8_t> memory = last_placed();

	if (memory.empty())
		return;
	for (const Breakage &breakage : target_.breakages())
		if (breakage.placed)
			breakage.placed(memory);
}

std::span<std::uint8_t> BrokenConnection::last_placed() const
{
	const auto memory = memories_->find(last_read_stag_);

	return memory == memories_->end() ? std::span<std::uint8_t>()
					  : memory->second;
}

/* Nothing waits to be handed out when this is called. */
void BrokenConnection::take_in(Received received)
{
	Message message = {std::move(received.bytes), SendOpcode::Send, 0,
			   received.invalidated};

	note_response(message);
	for (const Breakage &breakage : target_.breakages())
		if (breakage.to_check && !breakage.to_check(*this, message))
			return;
	queue_.push_front(std::move(message));
}

void BrokenConnection::deliver(Message message)
{
	queue_.push_back(std::move(message));
}

void BrokenConnection::hang_up()
{
	hung_up_ = true;
	inner_->disconnect();
}

/* ---- waiting ------------------------------------------------------------- */

RawConnection::Clock::time_point BrokenConnection::now() const
{
	return inner_->now() + skipped_;
}

bool BrokenConnection::never_hangs_up() const
{
	const Breakages &breakages = target_.breakages();

	return std::any_of(breakages.begin(), breakages.end(),
			   [](const Breakage &breakage) {
				   return breakage.never_hangs_up;
			   });
}

Milliseconds BrokenConnection::patience(Milliseconds timeout) const
{
	return silent_ ? std::min(timeout, moment) : timeout;
}

/* Always false: what was waited for did not happen. */
bool BrokenConnection::pass_time(Clock::time_point deadline)
{
	skipped_ += std::max(deadline - now(), Clock::duration(0));
	return false;
}

std::optional<Received> BrokenConnection::receive(Milliseconds timeout)
{
	const auto deadline = now() + timeout;

	while (queue_.empty()) {
		if (hung_up_)
			throw ConnectionLost("the connection ended: " +
					     hung_up_cause);

		const auto left = std::chrono::ceil<Milliseconds>(
			std::max(deadline - now(), Clock::duration(0)));
		std::optional<Received> received;

		try {
			received = inner_->receive(patience(left));
		} catch (const ConnectionLost &) {
			if (!never_hangs_up())
				throw;
		}
		if (!received) {
			pass_time(deadline);
			return std::nullopt;
		}
		take_in(std::move(*received));
	}

	Message message = std::move(queue_.front());

	queue_.pop_front();
	return Received{std::move(message.bytes), message.invalidated};
}

bool BrokenConnection::wait_closed(Milliseconds timeout)
{
	const auto deadline = now() + timeout;

	if (hung_up_)
		return true;
	if (never_hangs_up())
		return pass_time(deadline);
	return inner_->wait_closed(patience(timeout)) || pass_time(deadline);
}

bool BrokenConnection::closed()
{
	return hung_up_ || (!never_hangs_up() && inner_->closed());
}

const std::string &BrokenConnection::end_cause() const
{
	static const std::string none;

	if (hung_up_)
		return hung_up_cause;
	return never_hangs_up() ? none : inner_->end_cause();
}

/* ---- memory -------------------------------------------------------------- */

RegisteredMemory
BrokenConnection::register_memory(std::span<std::uint8_t> memory,
				  Access access)
{
	if (access == Access::RemoteRead) {
		ByteVector bytes(memory.begin(), memory.end());

		for (const Breakage &breakage : target_.breakages())
			if (breakage.advertised)
				breakage.advertised(bytes);

		auto wrong = std::make_unique<WrongMemory>(*inner_,
							   std::move(bytes));
		const std::uint32_t stag = wrong->memory().stag();
		const std::uint64_t base = wrong->memory().base();

		return RegisteredMemory(stag, base, std::move(wrong));
	}

	RegisteredMemory inner = inner_->register_memory(memory, access);
	const std::uint32_t stag = inner.stag();
	const std::uint64_t base = inner.base();

	memories_->emplace(stag, memory);
	return RegisteredMemory(stag, base,
				std::make_unique<KnownMemory>(std::move(inner),
							      memories_));
}

} // namespace iserverify
