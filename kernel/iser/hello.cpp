// SPDX-License-Identifier: GPL-2.0
#include "iser/hello.h"

namespace iser {
namespace {

HelloReply make_reply(bool reject, u32 iser_ord)
{
	HelloReply reply = {};

	reply.opcode_and_flags = static_cast<u8>(
		static_cast<u8>(IserOpcode::HelloReply) << 4 |
		(reject ? HelloReply::reject_bit : 0));
	reply.versions = iser_version << 4 | iser_version;
	reply.iser_ord = static_cast<u16>(iser_ord);
	return reply;
}

bool speaks_our_version(const Hello &hello)
{
	return hello.min_version() <= iser_version &&
	       iser_version <= hello.max_version();
}

} // namespace

FirstMessage judge_first_message(IserOpcode opcode, Declared required)
{
	if (opcode == IserOpcode::Hello)
		return required == Declared::No ? FirstMessage::Illegal :
						  FirstMessage::Hello;
	return required == Declared::Yes ? FirstMessage::Illegal :
					   FirstMessage::Ordinary;
}

HelloAnswer answer_hello(const Hello &hello, u32 received, u32 iser_ord)
{
	const u32 ird = hello.iser_ird;
	const u32 ord = base::smaller(iser_ord, ird);

	if (received < sizeof(hello))
		return {.cause = Cause::MessageTooShort};
	if (received > sizeof(hello))
		return {.cause = Cause::MessageTooLong};
	if (hello.min_version() > hello.max_version())
		return {.cause = Cause::HelloMalformed};
	/* Without RDMA Reads on our side nothing but the first burst comes. */
	if (!speaks_our_version(hello) || (ird > 0 && iser_ord == 0))
		return {.reply = make_reply(true, ord), .iser_ord = ord};
	return {.reply = make_reply(false, ord), .iser_ord = ord};
}

} // namespace iser
