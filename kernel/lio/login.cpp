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
	}
	const LoginChain::Next next =
		chain_.append(request, pdu.data_in_place());

	if (next == LoginChain::Next::Complete) {
		limit_lengths();
		keys_.note_request(text_);
		/* A declaration has no answer that could refuse it. */
		if (keys_.illegal_declaration())
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
void Login::limit_lengths()
{
	size_t length = chain_.text().size();

	length = iser::limit_number(request_text_.all(), length,
				    "TargetRecvDataSegmentLength",
				    receive_data_);
	length = iser::limit_number(request_text_.all(), length,
				    "FirstBurstLength",
				    first_burst_pdus * receive_data_);
	text_ = Bytes(request_text_.all()).first(length);
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

Bytes Login::response_text(Bytes text)
{
	base::copy(response_text_.all(), text);
	return Bytes(response_text_.all()).first(text.size());
}

/*
 * Only to an initiator that knows the key: others end the login over it.  Its
 * own limit, 2 or more if it has one, needs no counting: one NOP-In at a time
 * is all that we send unasked (RFC 7145 8.1.2).
 */
Bytes Login::declare_unexpected_pdus(Bhs &bhs, Bytes text)
{
	const u32 length = bhs.data_segment_length;

	if (length > text.size())
		return text;
	iser::TextWriter writer(response_text_.all().from(length));

	writer.append("MaxOutstandingUnexpectedPDUs", iser::unexpected_pdus);
	if (writer.truncated())
		return text;

	const u32 longer = length + static_cast<u32>(writer.text().size());

	bhs.data_segment_length = longer;
	for (u32 i = longer; i < iser::padded(longer); ++i)
		response_text_.all()[i] = 0;
	return Bytes(response_text_.all()).first(iser::padded(longer));
}

LoginResponse Login::answer(const target_login_response &response)
{
	LoginResponse answer;

	base::copy({reinterpret_cast<u8 *>(&answer.bhs), sizeof(answer.bhs)},
		   {response.bhs, sizeof(answer.bhs)});
	const auto &pdu = answer.bhs.as<LoginResponsePdu>();
	u32 length = iser::padded(pdu.data_segment_length);

	if (length > iser::max_login_data)
		length = iser::max_login_data;
	if (response.failed) {
		/* LIO's failures carry no text. */
		length = 0;
		answer.bhs.data_segment_length = 0;
	}
	answered_ = true;
	stat_sn_ = pdu.stat_sn + 1;
	exp_cmd_sn_ = pdu.exp_cmd_sn;
	max_cmd_sn_ = pdu.max_cmd_sn;
	tsih_ = pdu.tsih;
	answer.text = response_text({response.text, length});
	if (!response.failed && !declared_ &&
	    keys_.declares_max_outstanding_unexpected_pdus()) {
		declared_ = true;
		answer.text = declare_unexpected_pdus(answer.bhs, answer.text);
	}
	if (length > 0)
		keys_.note_response(answer.text.first(
			pdu.data_segment_length < length ?
				static_cast<u32>(pdu.data_segment_length) :
				length));
	return answer;
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
