// SPDX-License-Identifier: GPL-2.0
#include "lio/login.h"

#include "iser/flow_control.h"
#include "iser/key_limit.h"
#include "iser/text.h"
#include "iser/text_edit.h"

namespace lio {

using base::Bytes;
using base::Error;
using iser::Bhs;
using iser::LoginChain;
using iser::LoginRequestPdu;
using iser::LoginResponsePdu;

namespace {

/* RFC 7145 6.7 to 6.10 */
constexpr const char *ours[] = {
	"MaxOutstandingUnexpectedPDUs",
	"MaxAHSLength",
	"TaggedBufferForSolicitedDataOnly",
	"iSERHelloRequired",
};

/* Data-Outs that a first burst comes in. */
constexpr u32 first_burst_pdus = 4;

} // namespace

base::Result<base::OwnPtr<Login>> Login::create(u32 receive_data)
{
	base::OwnBytes request_text;
	base::OwnBytes response_text;

	if (Error error = request_text.allocate(iser::max_login_data);
	    error != Error::None)
		return error;
	if (Error error = response_text.allocate(iser::max_login_data);
	    error != Error::None)
		return error;
	return base::make<Login>(PORT_MAY_SLEEP, receive_data,
				 base::move(request_text),
				 base::move(response_text));
}

Login::Login(u32 receive_data, base::OwnBytes &&request_text,
	     base::OwnBytes &&response_text)
	: receive_data_(receive_data), request_text_(base::move(request_text)),
	  response_text_(base::move(response_text)),
	  chain_(request_text_.all())
{
}

LoginChain::Next Login::take(const di::ControlPdu &pdu)
{
	const auto &request = pdu.bhs.as<LoginRequestPdu>();

	request_ = pdu.bhs;
	buffer_ = &pdu.buffer;
	if (!answered_) {
		/* RFC 7143 11.12.9: the target starts at ExpStatSN. */
		stat_sn_ = request.exp_stat_sn;
		exp_cmd_sn_ = max_cmd_sn_ = request.cmd_sn;
		tsih_ = request.tsih;
		leading_ = tsih_ == 0;
	}
	const LoginChain::Next next =
		chain_.append(request, pdu.data_in_place());

	if (next == LoginChain::Next::Complete) {
		text_ = Bytes(request_text_.all())
				.first(limit_lengths(request_text_.all(),
						     chain_.text().size()));
		keys_.note_request(text_);
		/* A declaration has no answer that could refuse it. */
		rules_broken_ = keys_.illegal_declaration() ||
				!rules_.keeps(text_, request.current_stage());
		if (rules_broken_)
			return LoginChain::Next::Refuse;
		keep_keys_from_lio();
		complete_ = true;
	}
	return next;
}

/*
 * LIO agrees to any length of a PDU.  And unsolicited data takes receive
 * buffers, which solicited data does without: the more of it, the fewer
 * commands (iser/flow_control).
 */
size_t Login::limit_lengths(base::MutableBytes text, size_t length) const
{
	length = iser::limit_number(text, length,
				    "TargetRecvDataSegmentLength",
				    receive_data_);
	return iser::limit_number(text, length, "FirstBurstLength",
				  first_burst_pdus * receive_data_);
}

/*
 * LIO would answer NotUnderstood to these, and the initiator then behave as if
 * we did not (RFC 7143 6.2), while we obey them.  All are declarations, so no
 * answer is due.
 */
void Login::keep_keys_from_lio()
{
	size_t length = text_.size();

	for (const char *key : ours)
		length = iser::remove_key(request_text_.all(), length, key);
	/* RFC 7145 6.2: to be ignored, and LIO would agree to it. */
	if (!keys_.discovery())
		length = iser::remove_key(request_text_.all(), length,
					  "MaxRecvDataSegmentLength");
	text_ = Bytes(request_text_.all()).first(length);
}

LoginResponse Login::ask_for_more()
{
	LoginResponse response = {};

	answered_ = true;
	response.bhs.as<LoginResponsePdu>() = iser::empty_login_response(
		request_.as<LoginRequestPdu>(), stat_sn_++, exp_cmd_sn_,
		max_cmd_sn_, tsih_);
	return response;
}

LoginResponse Login::refuse(u8 status_class, u8 status_detail)
{
	LoginResponse response = {};

	answered_ = true;
	response.bhs.as<LoginResponsePdu>() =
		iser::login_failure(request_.as<LoginRequestPdu>(), stat_sn_++,
				    status_class, status_detail);
	return response;
}

/* The first @length bytes of response_text_, padded. */
Bytes Login::response_text(Bhs &bhs, size_t length)
{
	const size_t padded = iser::padded(static_cast<u32>(length));

	bhs.data_segment_length = static_cast<u32>(length);
	for (size_t i = length; i < padded; ++i)
		response_text_.all()[i] = 0;
	return Bytes(response_text_.all()).first(padded);
}

/*
 * Only to an initiator that knows the key: others end the login over it.
 * Returns the new length of the text.
 */
size_t Login::declare_unexpected_pdus(size_t length)
{
	iser::TextWriter writer(response_text_.all().from(length));

	writer.append("MaxOutstandingUnexpectedPDUs", iser::unexpected_pdus);
	return writer.truncated() ? length : length + writer.text().size();
}

LoginResponse Login::answer(const target_login_response &response)
{
	LoginResponse answer;

	base::copy({reinterpret_cast<u8 *>(&answer.bhs), sizeof(answer.bhs)},
		   {response.bhs, sizeof(answer.bhs)});
	const auto &pdu = answer.bhs.as<LoginResponsePdu>();
	size_t length = pdu.data_segment_length;

	answered_ = true;
	stat_sn_ = pdu.stat_sn + 1;
	exp_cmd_sn_ = pdu.exp_cmd_sn;
	max_cmd_sn_ = pdu.max_cmd_sn;
	tsih_ = pdu.tsih;
	/* LIO's failures carry no text. */
	if (response.failed) {
		answer.text = response_text(answer.bhs, 0);
		return answer;
	}
	if (length > iser::max_login_data)
		length = iser::max_login_data;
	base::copy(response_text_.all(), Bytes(response.text, length));
	/* What LIO offers itself is no more than what it may agree to. */
	length = limit_lengths(response_text_.all(), length);
	if (!declared_ && keys_.declares_max_outstanding_unexpected_pdus()) {
		declared_ = true;
		length = declare_unexpected_pdus(length);
	}
	note_response(Bytes(response_text_.all()).first(length));
	answer.text = response_text(answer.bhs, length);
	return answer;
}

void Login::note_response(Bytes text)
{
	keys_.note_response(text);
	rules_.note_response(text);
}

Error Login::present(iscsit_conn *conn, iscsi_login *login, bool first)
{
	if (!complete_)
		return Error::TimedOut;
	complete_ = false;
	/* LIO sees one request with all of the chain's text. */
	request_.data_segment_length = static_cast<u32>(text_.size());
	if (!first)
		target_set_stat_sn(conn, stat_sn_);
	return base::from_errno(target_login_request(
		conn, login, reinterpret_cast<const u8 *>(&request_),
		text_.data(), static_cast<u32>(text_.size()), first));
}

rcap::Receive *Login::take_buffer()
{
	rcap::Receive *buffer = buffer_;

	buffer_ = nullptr;
	return buffer;
}

} // namespace lio
