// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/span.h"
#include "iser/bhs.h"
#include "iser/cause.h"

namespace iser {

using base::Bytes;
using base::MutableBytes;

/*
 * Joins the text of Login Requests that the initiator spread over several PDUs
 * with the C bit (RFC 7143 6.2): keys are looked at when the last one is here.
 */
class LoginChain {
public:
	/* What to do with the request just appended. */
	enum class Next : u8 {
		AnswerEmpty, /* more is to come: empty_login_response() */
		Complete,    /* text() is whole */
		Refuse,      /* against the rules, or more than fits */
	};

	/* @storage outlives the chain and bounds the text in total. */
	explicit LoginChain(MutableBytes storage) : storage_(storage) {}

	/* After Complete, the next request starts a new text. */
	Next append(const LoginRequestPdu &request, Bytes data);
	Bytes text() const { return Bytes(storage_).first(length_); }
	/* Why append() said Refuse. */
	Cause refusal() const { return refusal_; }
	void reset();

private:
	MutableBytes storage_;
	size_t length_ = 0;
	bool complete_ = false;
	Cause refusal_ = Cause::None;
};

/* Asks for the rest of a chain: no text, same stage, no transition. */
LoginResponsePdu empty_login_response(const LoginRequestPdu &request,
				      u32 stat_sn, u32 exp_cmd_sn,
				      u32 max_cmd_sn, u16 tsih);

/* Ends the login with a status of RFC 7143 11.13.5. */
LoginResponsePdu login_failure(const LoginRequestPdu &request, u32 stat_sn,
			       u8 status_class, u8 status_detail);

} // namespace iser
