// SPDX-License-Identifier: GPL-2.0
#include "libiser/session.h"

#include <algorithm>
#include <cstring>

#include "libiser/chap.h"
#include "libiser/verbs_connection.h"

namespace libiser {

using iser::IscsiOpcode;
using iser::LoginRequestPdu;
using iser::LoginResponsePdu;

namespace {

constexpr Milliseconds login_timeout{15000};
constexpr std::uint8_t security = 0;
constexpr std::uint8_t operational = 1;
constexpr std::uint8_t full_feature = 3;

std::uint8_t stages(std::uint8_t current, std::uint8_t next, bool transit)
{
	return static_cast<std::uint8_t>(
		current << 2 | (transit ? LoginRequestPdu::transit_bit | next
					: 0));
}

bool boolean(const TextKeys &answers, const char *key, bool otherwise)
{
	const std::string *value = find_key(answers, key);

	return value ? *value == "Yes" : otherwise;
}

std::uint32_t number(const TextKeys &answers, const char *key,
		     std::uint32_t otherwise)
{
	const std::string *value = find_key(answers, key);

	if (!value || value->empty() ||
	    value->find_first_not_of("0123456789") != std::string::npos)
		return otherwise;
	return static_cast<std::uint32_t>(std::stoul(*value));
}

/* The extended CDB of RFC 7143 11.2.2.3: what is behind the 16th byte. */
ByteVector extended_cdb(const ByteVector &cdb)
{
	std::size_t rest = cdb.size() - 16;
	ByteVector ahs = {
		static_cast<std::uint8_t>((rest + 1) >> 8),
		static_cast<std::uint8_t>(rest + 1),
		1, /* type */
		0,
	};

	ahs.insert(ahs.end(), cdb.begin() + 16, cdb.end());
	ahs.resize(iser::padded(static_cast<u32>(ahs.size())));
	return ahs;
}

/* The data of a Reject is the BHS of what it rejects. */
bool rejects(const Pdu &pdu, std::uint32_t tag)
{
	iser::Bhs bhs;

	if (pdu.opcode() != IscsiOpcode::Reject ||
	    tag == iser::reserved_tag || pdu.data.size() < sizeof(bhs))
		return false;
	std::memcpy(&bhs, pdu.data.data(), sizeof(bhs));
	return bhs.itt == tag;
}

} // namespace

/* A command under way and what the target may access for it. */
struct Session::Task {
	std::uint32_t cmd_sn = 0;
	std::uint32_t unsolicited = 0;
	Milliseconds timeout{0};
	std::optional<RegisteredMemory> out;
	std::optional<RegisteredMemory> in;
};

std::uint8_t ScsiResult::sense_key() const
{
	if (sense.size() < 3)
		return 0;
	/* Descriptor format (0x72) has it one byte earlier (SPC-4 4.5). */
	return (sense[0] & 0x7e) == 0x72 ? sense[1] & 15 : sense[2] & 15;
}

std::uint16_t ScsiResult::sense_code() const
{
	std::size_t at = sense.empty() || (sense[0] & 0x7e) != 0x72 ? 12 : 2;

	if (sense.size() < at + 2)
		return 0;
	return static_cast<std::uint16_t>(sense[at] << 8 | sense[at + 1]);
}

Session::Session(ConnectOptions options)
	: Session(std::make_unique<VerbsConnection>(std::move(options)))
{
}

Session::Session(std::unique_ptr<RawConnection> connection)
	: connection_(std::move(connection))
{
}

Session::~Session() = default;

/* ---- sequence numbers, sending and receiving -------------------------- */

Pdu Session::make(IscsiOpcode opcode, bool immediate)
{
	Pdu pdu(opcode, immediate);
	RequestPdu &request = pdu.request();

	if (itt_ == iser::reserved_tag)
		itt_ = 0;
	request.flags = iser::Bhs::final_bit;
	request.itt = itt_++;
	request.cmd_sn = cmd_sn_;
	request.exp_stat_sn = exp_stat_sn_;
	if (opcode == IscsiOpcode::ScsiCommand)
		pdu.set_lun(lun_);
	return pdu;
}

void Session::send(const Pdu &pdu)
{
	connection_->send(pdu.bytes());
	if (!pdu.head.bhs.immediate())
		++cmd_sn_;
}

void Session::send_as_claimed(const Pdu &pdu)
{
	connection_->send(pdu.bytes_as_claimed());
	if (!pdu.head.bhs.immediate())
		++cmd_sn_;
}

/* A NOP-In that asks for an answer shows StatSN and does not consume it. */
void Session::take_numbers(const Pdu &pdu)
{
	const ResponsePdu &response = pdu.response();
	bool ping = pdu.opcode() == IscsiOpcode::NopIn &&
		    response.itt == iser::reserved_tag;

	if (!ping)
		exp_stat_sn_ = response.stat_sn + 1;
	max_cmd_sn_ = response.max_cmd_sn;
	if (logged_in_)
		longest_data_ = std::max(longest_data_, pdu.data.size());
}

bool Session::answered_ping(const Pdu &pdu)
{
	const ResponsePdu &response = pdu.response();

	if (pdu.opcode() != IscsiOpcode::NopIn ||
	    response.itt != iser::reserved_tag)
		return false;
	if (response.ttt == iser::reserved_tag)
		return true;

	Pdu answer = make(IscsiOpcode::NopOut, true);

	std::memcpy(answer.head.bhs.lun, response.lun, sizeof(response.lun));
	answer.request().itt = iser::reserved_tag;
	answer.request().specific_20 = response.ttt;
	send(answer);
	return true;
}

Pdu Session::receive(Milliseconds timeout)
{
	auto deadline = connection_->now() + timeout;

	for (;;) {
		auto left = std::chrono::ceil<Milliseconds>(
			deadline - connection_->now());
		auto message = connection_->receive(
			std::max(left, Milliseconds(0)));

		if (!message)
			throw TimedOut("no answer of the target within " +
				       std::to_string(timeout.count()) +
				       " ms");

		Pdu pdu(*message);

		take_numbers(pdu);
		if (!logged_in_ || !answered_ping(pdu))
			return pdu;
	}
}

Pdu Session::receive_for(Tag tag, Milliseconds timeout)
{
	auto deadline = connection_->now() + timeout;

	for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
		if (kept->response().itt != tag)
			continue;
		Pdu pdu = std::move(*kept);

		kept_.erase(kept);
		return pdu;
	}
	for (;;) {
		auto left = std::chrono::ceil<Milliseconds>(
			deadline - connection_->now());
		Pdu pdu = receive(std::max(left, Milliseconds(0)));

		if (pdu.response().itt == tag)
			return pdu;
		if (rejects(pdu, tag))
			throw ProtocolError(
				"the target rejected the request, reason " +
				std::to_string(pdu.response().response) +
				" (RFC 7143 11.17.1)");
		kept_.push_back(std::move(pdu));
	}
}

std::optional<Pdu> Session::receive_reject(Milliseconds timeout)
{
	try {
		Pdu pdu = receive_for(iser::reserved_tag, timeout);

		if (pdu.opcode() == IscsiOpcode::Reject)
			return pdu;
		kept_.push_back(std::move(pdu));
	} catch (const TimedOut &) {
	}
	return std::nullopt;
}

/* ---- login ------------------------------------------------------------- */

TextKeys Session::identity_keys(const LoginOptions &options)
{
	TextKeys keys = {{"InitiatorName", options.initiator_name}};

	if (options.discovery)
		keys.emplace_back("SessionType", "Discovery");
	else
		keys.insert(keys.end(), {{"SessionType", "Normal"},
					 {"TargetName", options.target_name}});
	return keys;
}

TextKeys Session::operational_keys(const LoginOptions &options)
{
	TextKeys keys = {{"HeaderDigest", "None"}, {"DataDigest", "None"},
			 {"DefaultTime2Wait", "2"}, {"DefaultTime2Retain", "0"},
			 {"ErrorRecoveryLevel", "0"}};

	if (options.discovery)
		keys.emplace_back("MaxRecvDataSegmentLength", "8192");
	else
		keys.insert(keys.end(), {
			{"RDMAExtensions", "Yes"},
			{"InitialR2T", "Yes"}, {"ImmediateData", "Yes"},
			{"MaxBurstLength", "262144"},
			{"FirstBurstLength", "65536"},
			{"MaxOutstandingR2T", "1"}, {"MaxConnections", "1"},
			{"DataPDUInOrder", "Yes"},
			{"DataSequenceInOrder", "Yes"},
			{"TargetRecvDataSegmentLength", "8192"},
			{"InitiatorRecvDataSegmentLength", "8192"},
		});
	for (const auto &[key, value] : options.keys) {
		auto same = std::find_if(keys.begin(), keys.end(),
					 [&](const auto &pair) {
						 return pair.first == key;
					 });

		if (same != keys.end())
			same->second = value;
		else
			keys.emplace_back(key, value);
	}
	std::erase_if(keys, [](const auto &pair) {
		return pair.second.empty();
	});
	return keys;
}

Pdu Session::login_request(const LoginOptions &options, std::uint8_t flags,
			   ByteView text)
{
	Pdu pdu(IscsiOpcode::LoginRequest, true);
	auto &request = pdu.head.bhs.as<LoginRequestPdu>();

	request.flags = flags;
	std::copy(options.isid.begin(), options.isid.end(), request.isid);
	request.tsih = options.tsih;
	request.itt = login_itt_;
	request.cid = options.cid;
	request.cmd_sn = cmd_sn_;
	request.exp_stat_sn = exp_stat_sn_;
	pdu.data.assign(text.begin(), text.end());
	return pdu;
}

Pdu Session::login_exchange(const LoginOptions &options, std::uint8_t flags,
			    ByteView text)
{
	if (!connected_) {
		connection_->connect();
		connected_ = true;
	}
	connection_->send(login_request(options, flags, text).bytes());

	Pdu answer = receive(login_timeout);

	if (answer.opcode() != IscsiOpcode::LoginResponse)
		throw ProtocolError("something else than a Login Response in "
				    "the login (RFC 7143 6.3)");
	return answer;
}

/* One whole stage, or one round of it if @transit is false. */
TextKeys Session::negotiate(const LoginOptions &options, std::uint8_t stage,
			    std::uint8_t next, const TextKeys &keys,
			    bool transit)
{
	ByteVector text = to_text(keys);
	ByteView rest = text;
	ByteVector answer;
	int silent = 0;

	for (int round = 0; round < 10000; ++round) {
		bool more = rest.size() > options.text_per_pdu;
		ByteView part = more ? rest.first(options.text_per_pdu) : rest;
		std::uint8_t flags = stages(stage, next, transit && !more);

		if (more)
			flags |= LoginRequestPdu::continue_bit;
		rest = rest.subspan(part.size());

		Pdu pdu = login_exchange(options, flags, part);
		const auto &response = pdu.head.bhs.as<LoginResponsePdu>();

		if (response.status_class)
			throw LoginRefused(response.status_class,
					   response.status_detail);
		if (more && !pdu.data.empty())
			throw ProtocolError("text in answer to a Login Request "
					    "with the C bit (RFC 7143 6.2)");
		answer.insert(answer.end(), pdu.data.begin(), pdu.data.end());
		parameters_.tsih = response.tsih;
		if (more || response.flags & LoginRequestPdu::continue_bit)
			continue;
		if (!transit || response.flags & LoginRequestPdu::transit_bit)
			return from_text(answer);
		/* Nothing was left open by us: it waits for an answer. */
		if (pdu.data.empty() || ++silent > 3)
			throw ProtocolError("the target does not end the stage "
					    "of the login (RFC 7143 6.3)");
	}
	throw ProtocolError("the target's login text does not end");
}

void Session::authenticate(const LoginOptions &options)
{
	bool chap = !options.chap.name.empty();
	TextKeys keys = identity_keys(options);

	keys.emplace_back("AuthMethod", chap ? "CHAP" : "None");
	if (!chap) {
		negotiate(options, security, operational, keys);
		return;
	}
	negotiate(options, security, operational, keys, false);

	TextKeys offer = negotiate(options, security, operational,
				   {{"CHAP_A", "5"}}, false);
	const std::string *identifier = find_key(offer, "CHAP_I");
	const std::string *challenge = find_key(offer, "CHAP_C");

	if (!identifier || !challenge)
		throw ProtocolError("CHAP without CHAP_I or CHAP_C "
				    "(RFC 7143 12.1.3)");

	ByteVector theirs = from_binary_value(*challenge);
	ByteVector ours = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
			   16};
	std::uint8_t number = static_cast<std::uint8_t>(
		std::stoul(*identifier, nullptr, 0));
	bool mutual = !options.mutual_chap.name.empty();
	const std::uint8_t our_identifier = 77;

	keys = {{"CHAP_N", options.chap.name},
		{"CHAP_R", to_hex(chap_response(number, options.chap.secret,
						theirs))}};
	if (mutual)
		keys.insert(keys.end(),
			    {{"CHAP_I", std::to_string(our_identifier)},
			     {"CHAP_C", to_hex(ours)}});

	TextKeys proof = negotiate(options, security, operational, keys);

	if (!mutual)
		return;

	const std::string *name = find_key(proof, "CHAP_N");
	const std::string *response = find_key(proof, "CHAP_R");
	Md5Digest expected = chap_response(our_identifier,
					   options.mutual_chap.secret, ours);

	if (!name || !response || *name != options.mutual_chap.name ||
	    from_binary_value(*response) !=
		    ByteVector(expected.begin(), expected.end()))
		throw Error("the target could not prove who it is (CHAP)",
			    "Check the mutual CHAP name and secret.");
}

const Parameters &Session::login(const LoginOptions &options)
{
	TextKeys keys = operational_keys(options);

	login_itt_ = itt_++;
	if (!options.chap.name.empty()) {
		authenticate(options);
	} else {
		TextKeys all = identity_keys(options);

		all.insert(all.end(), keys.begin(), keys.end());
		keys = all;
	}
	conclude(options, negotiate(options, operational, full_feature, keys));
	return parameters_;
}

void Session::conclude(const LoginOptions &options, const TextKeys &answers)
{
	const std::string *declared =
		find_key(options.keys, "TaggedBufferForSolicitedDataOnly");
	Parameters &p = parameters_;

	p.answers = answers;
	/* A No to the one, a Yes to the other need no answer (RFC 7143 6.2.2). */
	p.immediate_data = boolean(answers, "ImmediateData",
				   boolean(options.keys, "ImmediateData", true));
	p.initial_r2t = boolean(answers, "InitialR2T",
				boolean(options.keys, "InitialR2T", true));
	p.first_burst_length = number(answers, "FirstBurstLength", 65536);
	p.max_burst_length = number(answers, "MaxBurstLength", 262144);
	p.target_recv_data_segment_length =
		number(answers, "TargetRecvDataSegmentLength", 8192);
	p.initiator_recv_data_segment_length =
		number(answers, "InitiatorRecvDataSegmentLength", 8192);
	/* Linux advances the offset without declaring it; so do we. */
	p.solicited_only = !declared || declared->empty() ||
			   *declared == "Yes";
	logged_in_ = true;
}

/* ---- SCSI --------------------------------------------------------------- */

/* A command beyond MaxCmdSN would be dropped by the target (RFC 7143 4.2.2.1). */
void Session::await_window(Milliseconds timeout)
{
	auto deadline = connection_->now() + timeout;

	while (static_cast<std::int32_t>(max_cmd_sn_ - cmd_sn_) < 0) {
		auto left = std::chrono::ceil<Milliseconds>(
			deadline - connection_->now());

		kept_.push_back(receive(std::max(left, Milliseconds(0))));
	}
}

void Session::expect_may_write() const
{
	if (!may_write_)
		throw Error("this session must not write to the LUN");
}

Session::Tag Session::start(const ScsiRequest &request)
{
	if (!request.out.empty())
		expect_may_write();

	await_window(request.timeout);

	Pdu pdu = make(IscsiOpcode::ScsiCommand);
	auto &command = pdu.head.bhs.as<iser::ScsiCommandPdu>();
	auto task = std::make_unique<Task>();
	const Parameters &p = parameters_;
	bool write = !request.out.empty();
	auto out_size = static_cast<std::uint32_t>(request.out.size());
	std::uint32_t edtl = request.expected_data_transfer_length.value_or(
		write ? out_size
		      : static_cast<std::uint32_t>(request.in.size()));
	std::uint32_t immediate = 0;

	if (write) {
		std::uint32_t most = p.immediate_data ?
			std::min({out_size, p.first_burst_length,
				  p.target_recv_data_segment_length}) : 0;

		immediate = std::min(request.immediate.value_or(most),
				     out_size);
	}

	bool more = write && !p.initial_r2t && immediate < edtl &&
		    immediate < p.first_burst_length;

	task->cmd_sn = cmd_sn_;
	task->timeout = request.timeout;
	task->unsolicited = more ? std::min(edtl, p.first_burst_length)
				 : immediate;

	pdu.set_lun(request.lun.value_or(lun_));
	command.flags = more ? 0 : iser::Bhs::final_bit;
	command.flags |= 1; /* simple task */
	if (write)
		command.flags |= iser::ScsiCommandPdu::write_bit;
	if (!request.in.empty())
		command.flags |= iser::ScsiCommandPdu::read_bit;
	command.expected_data_transfer_length = edtl;
	std::copy_n(request.cdb.begin(),
		    std::min<std::size_t>(request.cdb.size(), 16), command.cdb);
	if (request.ahs)
		pdu.ahs = *request.ahs;
	else if (request.cdb.size() > 16)
		pdu.ahs = extended_cdb(request.cdb);
	pdu.data.assign(request.out.begin(), request.out.begin() + immediate);

	iser::ControlHeader &header = pdu.head.header;

	if (out_size > task->unsolicited && !request.hide_stags) {
		/* Not one byte more than what the target may read. */
		std::uint32_t first = p.solicited_only ? task->unsolicited : 0;

		task->out.emplace(connection_->register_memory(
			request.out.subspan(first),
			RawConnection::Access::RemoteRead));
		header.opcode_and_flags |=
			iser::ControlHeader::write_stag_valid;
		header.write_stag = task->out->stag();
		header.write_base_offset = task->out->base();
	}
	if (!request.in.empty() && !request.hide_stags) {
		task->in.emplace(connection_->register_memory(
			request.in, RawConnection::Access::RemoteWrite));
		header.opcode_and_flags |= iser::ControlHeader::read_stag_valid;
		header.read_stag = task->in->stag();
		header.read_base_offset = task->in->base();
	}

	Tag tag = command.itt;

	send(pdu);
	if (more && !request.withhold_data_out)
		send_data_out(*task, request, pdu);
	tasks_[tag] = std::move(task);
	return tag;
}

void Session::send_data_out(Task &task, const ScsiRequest &request,
			    const Pdu &command)
{
	std::uint32_t end = std::min<std::uint32_t>(
		task.unsolicited,
		static_cast<std::uint32_t>(request.out.size()));
	auto offset = static_cast<std::uint32_t>(command.data.size());
	std::uint32_t most = parameters_.target_recv_data_segment_length;

	if (request.data_out_size)
		most = request.data_out_size;
	for (std::uint32_t data_sn = 0; offset < end; ++data_sn) {
		std::uint32_t length = std::min(most, end - offset);
		ByteView part = request.out.subspan(offset, length);
		Pdu pdu(IscsiOpcode::DataOut);
		auto &data_out = pdu.head.bhs.as<iser::DataOutPdu>();

		std::memcpy(data_out.lun, command.head.bhs.lun, 8);
		data_out.flags = offset + length == end ? iser::Bhs::final_bit
							: 0;
		data_out.itt = command.head.bhs.itt;
		data_out.ttt = iser::reserved_tag;
		data_out.exp_stat_sn = exp_stat_sn_;
		data_out.data_sn = data_sn;
		data_out.buffer_offset = offset;
		pdu.data.assign(part.begin(), part.end());
		connection_->send(pdu.bytes());
		offset += length;
	}
}

std::optional<Session::Tag> Session::any_finished(Milliseconds timeout)
{
	const auto deadline = connection_->now() + timeout;
	const auto ends_task = [this](const Pdu &pdu) {
		return tasks_.contains(pdu.response().itt);
	};

	for (;;) {
		const auto found = std::find_if(kept_.begin(), kept_.end(),
						ends_task);

		if (found != kept_.end())
			return found->response().itt;

		const auto left = std::chrono::ceil<Milliseconds>(
			deadline - connection_->now());

		try {
			kept_.push_back(receive(std::max(left,
							 Milliseconds(0))));
		} catch (const TimedOut &) {
			return std::nullopt;
		}
	}
}

ScsiResult Session::finish(Tag tag)
{
	auto found = tasks_.find(tag);

	if (found == tasks_.end())
		throw Error("no such task");

	Pdu pdu = receive_for(tag, found->second->timeout);
	const ResponsePdu &response = pdu.response();
	ScsiResult result;

	if (pdu.opcode() != IscsiOpcode::ScsiResponse)
		throw ProtocolError("a command was answered by something else "
				    "than a SCSI Response (RFC 7145 7.3.2)");
	tasks_.erase(found);
	result.response = response.response;
	result.status = response.status;
	result.overflow = response.flags & ResponsePdu::overflow_bit;
	result.underflow = response.flags & ResponsePdu::underflow_bit;
	result.residual = response.residual;
	result.invalidated = pdu.invalidated;
	if (pdu.data.size() >= 2) {
		std::size_t length = pdu.data[0] << 8 | pdu.data[1];

		if (length + 2 > pdu.data.size())
			throw ProtocolError("SenseLength is beyond the data "
					    "segment (RFC 7143 11.4.7)");
		result.sense.assign(pdu.data.begin() + 2,
				    pdu.data.begin() + 2 + length);
	}
	return result;
}

ScsiResult Session::scsi(const ScsiRequest &request)
{
	return finish(start(request));
}

void Session::forget(Tag tag)
{
	tasks_.erase(tag);
}

std::uint32_t Session::cmd_sn_of(Tag tag) const
{
	auto found = tasks_.find(tag);

	return found == tasks_.end() ? 0 : found->second->cmd_sn;
}

/* ---- everything else ---------------------------------------------------- */

ByteVector Session::ping(ByteView data, Milliseconds timeout)
{
	await_window(timeout);

	Pdu pdu = make(IscsiOpcode::NopOut);
	Tag tag = pdu.request().itt;

	pdu.request().specific_20 = iser::reserved_tag;
	pdu.data.assign(data.begin(), data.end());
	send(pdu);

	Pdu answer = receive_for(tag, timeout);

	if (answer.opcode() != IscsiOpcode::NopIn)
		throw ProtocolError("a NOP-Out was answered by something else "
				    "than a NOP-In (RFC 7143 11.19)");
	return answer.data;
}

std::uint8_t Session::task_management(TaskManagement function,
				      std::optional<std::uint64_t> lun, Tag tag,
				      Milliseconds timeout)
{
	Pdu pdu = make(IscsiOpcode::TaskManagementRequest, true);
	RequestPdu &request = pdu.request();
	Tag own = request.itt;

	pdu.set_lun(lun.value_or(lun_));
	request.flags = static_cast<u8>(iser::Bhs::final_bit |
					static_cast<u8>(function));
	request.specific_20 = tag;
	/* A task that is not known was sent before: its CmdSN is past. */
	request.ref_cmd_sn = tasks_.contains(tag) ? cmd_sn_of(tag)
						  : cmd_sn_ - 1;
	send(pdu);

	Pdu answer = receive_for(own, timeout);

	if (answer.opcode() != IscsiOpcode::TaskManagementResponse)
		throw ProtocolError("task management was answered by something "
				    "else (RFC 7143 11.6)");
	return answer.response().response;
}

TextKeys Session::text(const TextKeys &keys)
{
	constexpr Milliseconds timeout{10000};

	await_window(timeout);

	Pdu pdu = make(IscsiOpcode::TextRequest);
	Tag tag = pdu.request().itt;
	std::uint32_t ttt = iser::reserved_tag;
	ByteVector answer;

	pdu.data = to_text(keys);
	for (int pdus = 0; pdus < 10000; ++pdus) {
		pdu.request().itt = tag;
		pdu.request().specific_20 = ttt;
		send(pdu);

		Pdu part = receive_for(tag, timeout);

		if (part.opcode() != IscsiOpcode::TextResponse)
			throw ProtocolError("a Text Request was answered by "
					    "something else (RFC 7143 11.11)");
		answer.insert(answer.end(), part.data.begin(), part.data.end());
		ttt = part.response().ttt;
		if (part.head.bhs.final())
			return from_text(answer);
		if (ttt == iser::reserved_tag)
			throw ProtocolError("a Text Response that is not the "
					    "last one has no Target Transfer "
					    "Tag (RFC 7143 11.11.4)");
		await_window(timeout);
		pdu = make(IscsiOpcode::TextRequest);
	}
	throw ProtocolError("the target's text does not end");
}

std::vector<DiscoveredTarget> Session::discover()
{
	std::vector<DiscoveredTarget> targets;

	for (const auto &[key, value] : text({{"SendTargets", "All"}})) {
		if (key == "TargetName")
			targets.push_back({value, {}});
		else if (key == "TargetAddress" && !targets.empty())
			targets.back().addresses.push_back(value);
		else
			throw ProtocolError("SendTargets was answered with " +
					    key);
	}
	return targets;
}

/* Immediate: it may be a command that never ends which closes the window. */
std::uint8_t Session::logout(std::uint8_t reason, Milliseconds timeout)
{
	Pdu pdu = make(IscsiOpcode::LogoutRequest, true);
	Tag tag = pdu.request().itt;

	pdu.request().flags = static_cast<u8>(iser::Bhs::final_bit | reason);
	pdu.request().specific_20 = 1u << 16; /* CID 1 */
	send(pdu);

	Pdu answer = receive_for(tag, timeout);

	if (answer.opcode() != IscsiOpcode::LogoutResponse)
		throw ProtocolError("a logout was answered by something else "
				    "(RFC 7143 11.15)");
	if (answer.response().response)
		return answer.response().response;
	if (!connection_->wait_closed(timeout))
		throw TimedOut("the target does not close the connection after "
			       "the logout (RFC 7145 5.2.2)");
	return 0;
}

} // namespace libiser
