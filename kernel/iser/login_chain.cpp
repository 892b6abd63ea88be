// SPDX-License-Identifier: GPL-2.0
#include "iser/login_chain.h"

#include "iser/text.h"

namespace iser {
namespace {

/* RFC 7143 6.1; the core would copy a longer one. */
constexpr size_t max_key_name = 63;

bool has_long_key_name(Bytes text)
{
	TextPairs pairs(text);
	TextPair pair;

	while (pairs.next(pair))
		if (pair.key.size() > max_key_name)
			return true;
	return false;
}

/* What every answer to @request has in common; version 0 both ways. */
LoginResponsePdu response_to(const LoginRequestPdu &request)
{
	LoginResponsePdu response = {};

	response.opcode = static_cast<u8>(IscsiOpcode::LoginResponse);
	base::copy(response.isid, request.isid);
	response.tsih = request.tsih;
	response.itt = request.itt;
	return response;
}

} // namespace

LoginChain::Next LoginChain::append(const LoginRequestPdu &request,
				    Bytes data)
{
	if (complete_)
		reset();
	if (request.continues() && request.transit())
		refusal_ = Cause::LoginMalformed;
	else if (data.size() > storage_.size() - length_)
		refusal_ = Cause::LoginTextTooLong;
	if (refusal_ != Cause::None)
		return Next::Refuse;
	if (!data.empty())
		base::copy(storage_.from(length_), data);
	length_ += data.size();
	if (request.continues())
		return Next::AnswerEmpty;
	if (has_long_key_name(text())) {
		refusal_ = Cause::LoginMalformed;
		return Next::Refuse;
	}
	complete_ = true;
	return Next::Complete;
}

void LoginChain::reset()
{
	length_ = 0;
	complete_ = false;
	refusal_ = Cause::None;
}

LoginResponsePdu empty_login_response(const LoginRequestPdu &request,
				      u32 stat_sn, u32 exp_cmd_sn,
				      u32 max_cmd_sn, u16 tsih)
{
	LoginResponsePdu response = response_to(request);

	response.flags = static_cast<u8>(request.current_stage() << 2);
	response.tsih = tsih;
	response.stat_sn = stat_sn;
	response.exp_cmd_sn = exp_cmd_sn;
	response.max_cmd_sn = max_cmd_sn;
	return response;
}

LoginResponsePdu login_failure(const LoginRequestPdu &request, u32 stat_sn,
			       u8 status_class, u8 status_detail)
{
	LoginResponsePdu response = response_to(request);

	response.stat_sn = stat_sn;
	response.exp_cmd_sn = request.cmd_sn;
	response.max_cmd_sn = request.cmd_sn;
	response.status_class = status_class;
	response.status_detail = status_detail;
	return response;
}

} // namespace iser
