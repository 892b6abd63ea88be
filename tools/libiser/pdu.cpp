// SPDX-License-Identifier: GPL-2.0
#include "libiser/pdu.h"

#include <cstring>

#include "iser/message.h"
#include "iser/text.h"
#include "libiser/error.h"

namespace libiser {

namespace {

void append(ByteVector &to, const void *from, std::size_t length)
{
	auto bytes = static_cast<const std::uint8_t *>(from);

	to.insert(to.end(), bytes, bytes + length);
}

std::string to_string(base::Bytes bytes)
{
	return std::string(bytes.begin(), bytes.end());
}

/* A target's header has no STag and no reserved bit (RFC 7145 9.2). */
void check_header(const iser::ControlHeader &header)
{
	iser::ControlHeader expected = iser::ControlHeader::from_target();

	if (std::memcmp(&header, &expected, sizeof(header)))
		throw ProtocolError("the iSER header of a message of the "
				    "target is not 10 00 ... 00 "
				    "(RFC 7145 9.2)");
}

} // namespace

Pdu::Pdu(iser::IscsiOpcode opcode, bool immediate)
{
	head.header = iser::ControlHeader::from_target();
	head.bhs.opcode_and_immediate = static_cast<u8>(
		static_cast<u8>(opcode) |
		(immediate ? iser::Bhs::immediate_bit : 0));
}

Pdu::Pdu(const Received &message) : invalidated(message.invalidated)
{
	const iser::MessageLimits none = {1020, 0xffffff};
	auto length = static_cast<u32>(message.bytes.size());

	std::memcpy(&head, message.bytes.data(),
		    std::min<std::size_t>(length, sizeof(head)));

	iser::MessageCheck check = iser::check_message(head, length, none);

	if (!check.ok())
		throw ProtocolError(std::string("a message of the target: ") +
				    iser::text(check.cause));
	check_header(head.header);

	const std::uint8_t *rest = message.bytes.data() + sizeof(head);
	const iser::MessageLayout &layout = check.layout;

	ahs.assign(rest, rest + layout.ahs_length);
	data.assign(rest + layout.data_offset,
		    rest + layout.data_offset + layout.data_length);
}

void Pdu::set_lun(std::uint64_t lun)
{
	/* Flat addressing up to 255 LUNs (SAM-5 4.6.6). */
	head.bhs.lun[1] = static_cast<u8>(lun);
}

ByteVector Pdu::bytes() const
{
	Pdu honest = *this;

	honest.head.bhs.total_ahs_length = static_cast<u8>(ahs.size() / 4);
	honest.head.bhs.data_segment_length = static_cast<u32>(data.size());
	honest.data.resize(iser::padded(static_cast<u32>(data.size())));
	return honest.bytes_as_claimed();
}

ByteVector Pdu::bytes_as_claimed() const
{
	ByteVector result;

	append(result, &head, sizeof(head));
	append(result, ahs.data(), ahs.size());
	append(result, data.data(), data.size());
	return result;
}

ByteVector to_text(const TextKeys &keys)
{
	ByteVector text;

	for (const auto &[key, value] : keys) {
		append(text, key.data(), key.size());
		text.push_back('=');
		append(text, value.data(), value.size());
		text.push_back(0);
	}
	return text;
}

TextKeys from_text(ByteView text)
{
	iser::TextPairs pairs(base::Bytes(text.data(), text.size()));
	iser::TextPair pair;
	TextKeys keys;

	while (pairs.next(pair))
		keys.emplace_back(to_string(pair.key), to_string(pair.value));
	if (pairs.malformed())
		throw ProtocolError("the target's text is no key=value pairs "
				    "(RFC 7143 6.1)");
	return keys;
}

const std::string *find_key(const TextKeys &keys, const std::string &key)
{
	for (const auto &[name, value] : keys)
		if (name == key)
			return &value;
	return nullptr;
}

} // namespace libiser
