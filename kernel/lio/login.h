// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "base/memory.h"
#include "di/datamover.h"
#include "iser/login_chain.h"
#include "iser/login_keys.h"
#include "iser/login_rules.h"
#include "port/target.h"

namespace lio {

/* A Login Response, as it goes into a Send. */
struct LoginResponse {
	iser::Bhs bhs;
	base::Bytes text;
};

/*
 * The text and the numbers of one login.  Lives from the connection's creation
 * to full feature phase, and is touched by one context at a time: the receive
 * path while the initiator is to speak, LIO while the target is.
 */
class Login : public base::Allocated, base::Immovable {
public:
	/* @receive_data: the longest data segment that we receive. */
	static base::Result<base::OwnPtr<Login>> create(u32 receive_data);
	/* Prefer create(). */
	Login(u32 receive_data, base::OwnBytes &&request_text,
	      base::OwnBytes &&response_text);

	/* Takes a request in; what to do about it is as LoginChain says. */
	iser::LoginChain::Next take(const di::ControlPdu &pdu);
	/* Why take() said Refuse. */
	iser::Cause refusal() const
	{
		return rules_broken_ ? iser::Cause::LoginMalformed :
				       chain_.refusal();
	}
	/* The answer that asks for the rest of a C-bit chain. */
	LoginResponse ask_for_more();
	/* Ends the login with a status (RFC 7143 11.13.5). */
	LoginResponse refuse(u8 status_class, u8 status_detail);
	/* What LIO answers: notes the keys, keeps a copy until it is sent. */
	LoginResponse answer(const target_login_response &response);

	/* Hands the joined request to LIO.  Error: there is none, or refused. */
	base::Error present(iscsit_conn *conn, iscsi_login *login, bool first);

	const iser::LoginKeys &keys() const { return keys_; }
	/* It is to begin a session, not to join one. */
	bool leading() const { return leading_; }

	/* The buffer of the latest request, until it is posted again. */
	rcap::Receive *take_buffer();

private:
	size_t limit_lengths(base::MutableBytes text, size_t length) const;
	void keep_keys_from_lio();
	void note_response(base::Bytes text);
	base::Bytes response_text(iser::Bhs &bhs, size_t length);
	size_t declare_unexpected_pdus(size_t length);

	iser::LoginKeys keys_;
	iser::LoginRules rules_;
	bool rules_broken_ = false;
	iser::Bhs request_ = {};
	bool complete_ = false;
	rcap::Receive *buffer_ = nullptr;
	/* Of the next response, as far as we make one ourselves. */
	u32 stat_sn_ = 0;
	u32 exp_cmd_sn_ = 0;
	u32 max_cmd_sn_ = 0;
	u16 tsih_ = 0;
	bool leading_ = false;
	bool answered_ = false;
	/* We said how many unexpected PDUs we have room for. */
	bool declared_ = false;
	const u32 receive_data_;
	/* Joined, and with the numbers lowered to what we can do. */
	base::Bytes text_;
	/* max_login_data bytes each. */
	base::OwnBytes request_text_;
	base::OwnBytes response_text_;
	iser::LoginChain chain_;
};

} // namespace lio
