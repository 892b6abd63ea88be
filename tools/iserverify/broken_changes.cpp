// SPDX-License-Identifier: GPL-2.0
/* What a fault makes of a PDU. */
#include <algorithm>
#include <utility>

#include "broken_parts.h"

namespace iserverify {

namespace {

constexpr IscsiOpcode with_text[] = {
	IscsiOpcode::LoginRequest, IscsiOpcode::LoginResponse,
	IscsiOpcode::TextRequest, IscsiOpcode::TextResponse,
};

ResponsePdu &response_of(Pdu &pdu)
{
	return pdu.head.bhs.as<ResponsePdu>();
}

} // namespace

/* ---- fields -------------------------------------------------------------- */

Change response_is(std::uint8_t code)
{
	return [=](Pdu &pdu) { response_of(pdu).response = code; };
}

Change status_is(std::uint8_t status)
{
	return [=](Pdu &pdu) { response_of(pdu).status = status; };
}

Change residual_is(std::uint32_t count)
{
	return [=](Pdu &pdu) { response_of(pdu).residual = count; };
}

Change flags_without(std::uint8_t flags)
{
	return [=](Pdu &pdu) { pdu.head.bhs.flags &= ~flags; };
}

/* Behind the two bytes of SenseLength, in either format (SPC-4 4.5). */
Change sense_key_is(std::uint8_t key)
{
	return [=](Pdu &pdu) {
		if (pdu.data.size() < 5)
			return;
		pdu.data[(pdu.data[2] & 0x7e) == 0x72 ? 3 : 4] = key;
	};
}

Change login_status_is(std::uint16_t status)
{
	return [=](Pdu &pdu) {
		auto &response = pdu.head.bhs.as<iser::LoginResponsePdu>();

		response.status_class = static_cast<u8>(status >> 8);
		response.status_detail = static_cast<u8>(status);
	};
}

Change data_is(ByteVector data)
{
	return [=](Pdu &pdu) { pdu.data = data; };
}

Change data_of_size(std::size_t size)
{
	return [=](Pdu &pdu) { pdu.data.resize(size); };
}

Change data_without(std::size_t bytes)
{
	return [=](Pdu &pdu) {
		pdu.data.resize(pdu.data.size() -
				std::min(bytes, pdu.data.size()));
	};
}

Change data_shifted()
{
	return [](Pdu &pdu) { shift(pdu.data); };
}

/* ---- text ---------------------------------------------------------------- */

std::optional<TextKeys> keys_of(const Pdu &pdu)
{
	if (std::find(std::begin(with_text), std::end(with_text),
		      pdu.opcode()) == std::end(with_text))
		return std::nullopt;
	try {
		return from_text(pdu.data);
	} catch (const ProtocolError &) {
		return std::nullopt;
	}
}

Change keys(std::function<void(TextKeys &)> change)
{
	return [=](Pdu &pdu) {
		std::optional<TextKeys> found = keys_of(pdu);

		if (!found || found->empty())
			return;
		change(*found);
		pdu.data = to_text(*found);
	};
}

TextKeys::iterator pair_of(TextKeys &keys, const std::string &key)
{
	return std::find_if(keys.begin(), keys.end(), [&](const auto &pair) {
		return pair.first == key;
	});
}

/* In its place, since some keys belong to the one before them. */
Change key_is(const char *key, const char *value)
{
	return keys([=](TextKeys &keys) {
		const auto at = pair_of(keys, key);

		if (at != keys.end())
			at->second = value;
		else
			keys.emplace_back(key, value);
	});
}

Change key_becomes(const char *key, const char *value)
{
	return keys([=](TextKeys &keys) {
		const auto at = pair_of(keys, key);

		if (at != keys.end())
			at->second = value;
	});
}

Change key_added(const char *key, const char *value, unsigned times)
{
	return keys([=](TextKeys &keys) {
		keys.insert(keys.end(), times, {key, value});
	});
}

namespace {

/* Without the pairs for which @gone is true. */
Change keys_without(
	std::function<bool(const TextKeys::value_type &pair)> gone)
{
	return keys([=](TextKeys &keys) { std::erase_if(keys, gone); });
}

} // namespace

Change without_key(const char *key)
{
	return keys_without([=](const auto &pair) {
		return pair.first == key;
	});
}

Change without_value(const char *value)
{
	return keys_without([=](const auto &pair) {
		return pair.second == value;
	});
}

Change with_keys_only(std::initializer_list<const char *> keys)
{
	return keys_without([keys = std::vector<std::string>(keys.begin(),
							     keys.end())](
				    const auto &pair) {
		return std::find(keys.begin(), keys.end(), pair.first) ==
		       keys.end();
	});
}

Change without_repetition()
{
	return keys([](TextKeys &keys) {
		TextKeys once;

		for (const auto &pair : keys)
			if (!find_key(once, pair.first))
				once.push_back(pair);
		keys = once;
	});
}

/* Not by keys(): what the key is added to at last may be empty. */
Change key_with_transit(const char *key)
{
	return [=, held = std::make_shared<std::optional<std::string>>()](
		       Pdu &pdu) {
		TextKeys keys = from_text(pdu.data);
		const auto at = pair_of(keys, key);

		if (at != keys.end()) {
			*held = at->second;
			keys.erase(at);
		}
		if (*held && pdu.head.bhs.as<iser::LoginResponsePdu>().flags &
				     iser::LoginRequestPdu::transit_bit)
			keys.emplace_back(key, *std::exchange(
						       *held, std::nullopt));
		pdu.data = to_text(keys);
	};
}

Change without_ahs()
{
	return [](Pdu &pdu) { pdu.ahs.clear(); };
}

void shift(ByteVector &bytes)
{
	if (!bytes.empty())
		std::rotate(bytes.begin(), bytes.begin() + 1, bytes.end());
}

} // namespace iserverify
