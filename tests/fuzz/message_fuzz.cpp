// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/message.h"

using namespace iser;

namespace {

/* The lengths, taken from the bytes without the types under test. */
struct Declared {
	explicit Declared(const u8 *message)
		: ahs(message[28 + 4] * 4u),
		  data(message[28 + 5] << 16 | message[28 + 6] << 8 |
		       message[28 + 7])
	{
	}
	u32 total() const { return 76 + ahs + data; }

	u32 ahs;
	u32 data;
};

void check_result(const MessageCheck &check, const u8 *message, u32 received,
		  const MessageLimits &limits)
{
	Declared declared(message);
	bool good = received >= 76 && message[0] >> 4 == 1 &&
		    declared.ahs <= limits.max_ahs &&
		    declared.data <= limits.max_data_segment &&
		    declared.total() <= received &&
		    received <= declared.total() + 3;

	CHECK(check.ok() == good);
	CHECK((check.cause == Cause::MessageTooShort) == (received < 76));
	if (!check.ok()) {
		/* Nobody is to find a way into a message that was refused. */
		CHECK(check.layout.ahs_length == 0);
		CHECK(check.layout.data_offset == 0);
		CHECK(check.layout.data_length == 0);
		return;
	}
	CHECK(check.layout.ahs_length == declared.ahs);
	CHECK(check.layout.data_offset == declared.ahs);
	CHECK(check.layout.data_length == declared.data);
	CHECK(76 + check.layout.data_offset + check.layout.data_length <=
	      received);
}

} // namespace

/* Limits, the received length, and the 76 bytes that may be stale. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz::Input input(data, size);
	MessageLimits limits = {
		.max_ahs = input.byte() * 4u,
		.max_data_segment = input.number() & 0xffffff,
	};
	u32 choice = input.number();
	std::vector<u8> message = input.bytes(sizeof(MessageHead));

	message.resize(sizeof(MessageHead));

	/* Any length, or one near the declared one, where the edges are. */
	u32 received = choice >> 31 ?
		Declared(message.data()).total() + choice % 16 - 8 : choice;
	const auto &head =
		*reinterpret_cast<const MessageHead *>(message.data());

	check_result(check_message(head, received, limits), message.data(),
		     received, limits);

	MessageCheck login = check_login_message(head, received);

	if ((message[28] & 0x3f) == 0x03)
		check_result(login, message.data(), received,
			     {.max_ahs = 0, .max_data_segment = 8192});
	else
		CHECK(!login.ok());
	return 0;
}
