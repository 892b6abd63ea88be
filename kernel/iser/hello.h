// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/cause.h"
#include "iser/header.h"
#include "iser/login_keys.h"

namespace iser {

/* The only version there is (RFC 7145 9.3). */
inline constexpr u8 iser_version = 10;

/* Hello of an initiator, and the whole message (RFC 7145 9.3). */
struct Hello {
	u8 opcode_and_flags;
	u8 versions; /* the highest in the upper four bits, the lowest below */
	Be16 iser_ird;
	u8 reserved[24];

	u8 max_version() const { return versions >> 4; }
	u8 min_version() const { return versions & 0xf; }
};
static_assert(sizeof(Hello) == sizeof(ControlHeader) && alignof(Hello) == 1);

/* HelloReply of a target (RFC 7145 9.4). */
struct HelloReply {
	u8 opcode_and_flags;
	u8 versions; /* the highest, and the one that is used */
	Be16 iser_ord;
	u8 reserved[24];

	static constexpr u8 reject_bit = 0x01;
	bool rejects() const { return opcode_and_flags & reject_bit; }
};
static_assert(sizeof(HelloReply) == sizeof(ControlHeader) &&
	      alignof(HelloReply) == 1);

/* The first message of full feature phase, and whether it may be that. */
enum class FirstMessage : u8 {
	Ordinary, /* as any later one */
	Hello,	  /* to be answered */
	Illegal,  /* the other one was due */
};
/*
 * @required: what the initiator declared.  Silent leaves it the choice: a
 * target that knows the key answers all the same (RFC 7145 5.1.3).
 */
FirstMessage judge_first_message(IserOpcode opcode, Declared required);

/* What becomes of a Hello. */
struct HelloAnswer {
	/* Not None: a format error, and nothing is answered (10.1.3.3). */
	Cause cause = Cause::None;
	/* If it rejects, the connection ends behind it (10.1.3.2). */
	HelloReply reply = {};
	/* RDMA Reads we may have outstanding from now on (5.1.3). */
	u32 iser_ord = 0;
};
/* @received: bytes of the message.  @iser_ord: RDMA Reads we could start. */
HelloAnswer answer_hello(const Hello &hello, u32 received, u32 iser_ord);

} // namespace iser
