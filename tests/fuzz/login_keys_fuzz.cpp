// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/login_keys.h"

using namespace iser;

namespace {

bool in_range(u32 value, u32 min, u32 max)
{
	return min <= value && value <= max;
}

bool harmless(base::Bytes name)
{
	for (u8 byte : name)
		if (byte <= 0x20 || byte == 0x7f)
			return false;
	return name.size() <= 223;
}

/* Whatever the peer said, what we go by is legal. */
void check_legal(const LoginKeys &keys)
{
	constexpr u32 max = 0xffffff;

	CHECK(in_range(keys.max_burst_length(), 512, max));
	CHECK(in_range(keys.first_burst_length(), 512,
		       keys.max_burst_length()));
	CHECK(in_range(keys.max_outstanding_r2t(), 1, 65535));
	CHECK(keys.error_recovery_level() <= 2);
	CHECK(in_range(keys.target_recv_data_segment_length(), 512, max));
	CHECK(in_range(keys.initiator_recv_data_segment_length(), 512, max));
	CHECK(in_range(keys.max_recv_data_segment_length(), 512, max));
	CHECK(harmless(keys.initiator_name()));
	CHECK(harmless(keys.target_name()));
}

/* What one end alone cannot bring about. */
void check_one_sided(const LoginKeys &keys)
{
	CHECK(!keys.rdma_extensions());
	CHECK(keys.initial_r2t());
	CHECK(keys.max_outstanding_r2t() == 1);
	CHECK(keys.error_recovery_level() == 0);
	CHECK(keys.max_burst_length() == 262144);
	CHECK(keys.target_recv_data_segment_length() == 8192);
}

bool contains(const std::string &text, const char *word)
{
	return text.find(word) != std::string::npos;
}

} // namespace

/* Texts behind a length byte each, from both ends in turn. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz::Input input(data, size);
	LoginKeys both, requests, responses;
	std::string requested, responded;
	bool request = true;

	while (!input.empty()) {
		size_t length = input.byte() * 8u;
		std::vector<u8> text = input.bytes(length);

		if (request) {
			both.note_request(fuzz::view(text));
			requests.note_request(fuzz::view(text));
			requested += fuzz::str(fuzz::view(text)) + '\0';
		} else {
			both.note_response(fuzz::view(text));
			responses.note_response(fuzz::view(text));
			responded += fuzz::str(fuzz::view(text)) + '\0';
		}
		check_legal(both);
		request = !request;
	}
	check_one_sided(requests);
	check_one_sided(responses);
	CHECK(responses.initiator_name().empty());
	if (both.rdma_extensions()) {
		CHECK(contains(requested, "RDMAExtensions=Yes"));
		CHECK(contains(responded, "RDMAExtensions=Yes"));
	}
	if (both.discovery())
		CHECK(contains(requested, "SessionType=Discovery"));
	if (!both.initial_r2t()) {
		CHECK(contains(requested, "InitialR2T=No"));
		CHECK(contains(responded, "InitialR2T=No"));
	}
	return 0;
}
