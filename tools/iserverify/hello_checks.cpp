// SPDX-License-Identifier: GPL-2.0
/* Hello and HelloReply, and the keys of RFC 7145 6.7 to 6.10. */
#include <algorithm>

#include "lab.h"

namespace iserverify {

namespace {

constexpr const char *hello_required = "iSERHelloRequired";
constexpr std::uint8_t version_10 = 0xaa;

ByteVector hello_message(std::uint8_t versions, std::uint16_t ird,
			 std::size_t size = 28)
{
	ByteVector message(size);

	message[0] = 0x20;
	message[1] = versions;
	message[2] = static_cast<std::uint8_t>(ird >> 8);
	message[3] = static_cast<std::uint8_t>(ird);
	return message;
}

/* Sends a Hello; the iSER-ORD of the reply, which is nothing but a header. */
unsigned exchange(Session &session, std::uint16_t ird)
{
	session.connection().send(hello_message(version_10, ird));

	auto reply = session.connection().receive(Milliseconds(8000));

	expect(reply.has_value(), "no HelloReply came");
	const ByteVector &bytes = reply->bytes;

	expect_equal(bytes.size(), 28u, "the length of the HelloReply");
	expect_equal(bytes[0], 0x30, "byte 0 of the HelloReply");
	expect_equal(bytes[1], version_10, "the versions of the HelloReply");
	expect(std::all_of(bytes.begin() + 4, bytes.end(),
			   [](std::uint8_t byte) { return byte == 0; }),
	       "reserved bits of the HelloReply are set");
	return bytes[2] << 8u | bytes[3];
}

void read_and_write(Lab &lab, Session &session)
{
	ByteVector data = pattern(64 * block, 11);
	ScsiRequest write;

	write.cdb = write_cdb(Lab::scratch, 64);
	write.out = data;
	expect(session.scsi(write).good(), "a write failed");
	lab.expect_data(Lab::scratch, data, "what was written");
}

void before_login(Lab &lab)
{
	for (std::size_t size : {12, 28}) {
		auto session = lab.connect();

		session->connection().send(hello_message(version_10, 8, size));
		expect_outcome(outcome_of(*session), {Outcome::Closed},
			       "Hello before the login");
	}
}

void required(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});

	expect(exchange(*session, 8) <= 8, "iSER-ORD is above the IRD");
	expect_usable(*session);
	read_and_write(lab, *session);
}

void silent(Lab &lab)
{
	auto session = lab.login({{hello_required, ""}});

	exchange(*session, 8);
	expect_usable(*session);
}

void declared_no(Lab &lab)
{
	auto session = lab.login({{hello_required, "No"}});

	session->connection().send(hello_message(version_10, 8));
	expect_closed(*session, "Hello behind iSERHelloRequired=No");
}

void missing(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});
	Pdu pdu = session->make(IscsiOpcode::NopOut, true);

	pdu.request().specific_20 = iser::reserved_tag;
	session->send(pdu);
	expect_closed(*session, "NOP-Out in the Hello's place");
}

void twice(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});

	exchange(*session, 8);
	session->connection().send(hello_message(version_10, 8));
	expect_closed(*session, "a second Hello");
}

void behind_a_command(Lab &lab)
{
	auto session = lab.login({{hello_required, ""}});

	expect_usable(*session);
	session->connection().send(hello_message(version_10, 8));
	expect_closed(*session, "Hello behind a command");
}

void other_versions(Lab &lab)
{
	for (std::uint8_t versions : {0x11, 0x22, 0xff}) {
		auto session = lab.login({{hello_required, "Yes"}});

		session->connection().send(hello_message(versions, 8));

		auto reply = session->connection().receive(Milliseconds(8000));

		expect(reply.has_value(), "no HelloReply came");
		expect_equal(reply->bytes.size(), 28u,
			     "the length of the HelloReply");
		expect_equal(reply->bytes[0], 0x31,
			     "byte 0 of the HelloReply that rejects");
		expect_closed(*session, "behind a HelloReply that rejects");
	}
}

void malformed(Lab &lab)
{
	const ByteVector messages[] = {
		hello_message(version_10, 8, 12),
		hello_message(version_10, 8, 27),
		hello_message(version_10, 8, 29),
		hello_message(version_10, 8, 76),
		/* The lowest version above the highest. */
		hello_message(0x1a, 8),
	};

	for (const ByteVector &message : messages) {
		auto session = lab.login({{hello_required, "Yes"}});

		session->connection().send(message);
		expect_outcome(outcome_of(*session), {Outcome::Closed},
			       "malformed Hello of " +
			       std::to_string(message.size()) + " bytes");
	}
}

void reserved_bits(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});
	ByteVector message = hello_message(version_10, 8);

	message[0] |= 0x0f;
	std::fill(message.begin() + 4, message.end(), 0xff);
	session->connection().send(message);

	auto reply = session->connection().receive(Milliseconds(8000));

	expect(reply && reply->bytes.size() == 28 && reply->bytes[0] == 0x30,
	       "Hello with reserved bits was not answered");
}

/* The result is the smaller one, and data moves with each. */
void read_depths(Lab &lab)
{
	unsigned largest = 0;

	for (std::uint16_t ird : {65535, 1, 2}) {
		auto session = lab.login({{hello_required, "Yes"}});
		const unsigned ord = exchange(*session, ird);

		largest = std::max(largest, ord);
		expect_equal(ord, std::min<unsigned>(ird, largest),
			     "iSER-ORD for an IRD of " + std::to_string(ird));
		read_and_write(lab, *session);
	}
}

void no_reads(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});
	ByteVector data = pattern(64 * block, 12);
	ScsiRequest write;

	expect_equal(exchange(*session, 0), 0u, "iSER-ORD for an IRD of 0");
	write.cdb = write_cdb(Lab::scratch, 64);
	write.out = data;
	session->start(write);
	expect_closed(*session, "a write that needs a read, with an IRD of 0");
}

/* With a version that overlaps, it is answered; without, never agreed to. */
void silent_with_other_versions(Lab &lab)
{
	auto session = lab.login({{hello_required, ""}});

	session->connection().send(hello_message(0x22, 8));
	try {
		const auto reply =
			session->connection().receive(Milliseconds(8000));

		expect(reply && !reply->bytes.empty() &&
		       reply->bytes[0] == 0x31,
		       "a Hello of versions that do not overlap: neither "
		       "refused nor the end");
	} catch (const ConnectionLost &) {
	}
	expect_closed(*session, "a Hello of versions that do not overlap");
}

/* Before a Hello has its say, the connection manager has had it. */
void depth_of_the_device(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});
	const unsigned depth = session->connection().peer_initiator_depth();

	if (depth == 0)
		throw NotApplicable("the reply to the connection names no "
				    "depth");
	expect_equal(exchange(*session, 65535), depth,
		     "iSER-ORD for an IRD without bounds");
}

/* A write that needs no RDMA Read does without any. */
void unsolicited_without_reads(Lab &lab)
{
	auto session = lab.login({{hello_required, "Yes"}});
	ByteVector data = pattern(4096, 13);
	ScsiRequest write;

	expect_equal(exchange(*session, 0), 0u, "iSER-ORD for an IRD of 0");
	write.cdb = write_cdb(Lab::scratch, 8);
	write.out = data;
	expect(session->scsi(write).good(),
	       "a write of immediate data alone failed, with an IRD of 0");
	lab.expect_data(Lab::scratch, data, "immediate data");
}

void unexpected_pdus(Lab &lab)
{
	auto session = lab.login({{"MaxOutstandingUnexpectedPDUs", "4"}});
	const std::string *answer =
		find_key(session->parameters().answers,
			 "MaxOutstandingUnexpectedPDUs");

	expect(answer && std::stoul(*answer) >= 2,
	       "the target did not declare its own number");
	expect_usable(*session);
}

/* An initiator that does not know the key ends the login over it. */
void nothing_volunteered(Lab &lab)
{
	auto session = lab.login({{"MaxOutstandingUnexpectedPDUs", ""},
				  {"MaxAHSLength", ""},
				  {"TaggedBufferForSolicitedDataOnly", ""},
				  {hello_required, ""}});

	for (const char *key : {"MaxOutstandingUnexpectedPDUs", "MaxAHSLength",
				hello_required,
				"TaggedBufferForSolicitedDataOnly"})
		expect(!find_key(session->parameters().answers, key),
		       std::string(key) + " was declared unasked");
}

} // namespace

std::vector<Check> hello_checks()
{
	return {
		{"hello", "hello-before-login", "E11 Hello before the login",
		 before_login, over_verbs},
		{"hello", "hello-required",
		 "T-015 T-063 T-064 T-065 Hello that was declared",
		 required, rfc7145_only},
		{"hello", "hello-silent",
		 "N-010 Hello that nothing was declared of",
		 silent, rfc7145_only},
		{"hello", "hello-declared-no",
		 "N-008 N-019 N-027 Hello behind iSERHelloRequired=No",
		 declared_no, rfc7145_only},
		{"hello", "hello-missing",
		 "E12 N-019 another message in the Hello's place",
		 missing, rfc7145_only},
		{"hello", "hello-twice", "E11 a second Hello",
		 twice, rfc7145_only},
		{"hello", "hello-late", "E11 Hello behind a command",
		 behind_a_command, rfc7145_only},
		{"hello", "hello-versions",
		 "E10 T-067 versions that do not overlap are rejected",
		 other_versions, rfc7145_only},
		{"hello", "hello-malformed", "B-035 malformed Hello",
		 malformed, rfc7145_only},
		{"hello", "hello-reserved",
		 "B-031 N-025 reserved bits of the Hello are ignored",
		 reserved_bits, rfc7145_only},
		{"hello", "hello-depths", "T-016 iSER-ORD is the smaller one",
		 read_depths, rfc7145_only},
		{"hello", "hello-no-reads",
		 "E21 T-043 no RDMA Read allowed and one needed",
		 no_reads, rfc7145_only},
		{"hello", "hello-silent-versions",
		 "N-026 T-067 undeclared Hello of versions that do not overlap",
		 silent_with_other_versions, rfc7145_only},
		{"hello", "hello-device",
		 "T-007 iSER-ORD starts as what the device has",
		 depth_of_the_device, rfc7145_only},
		{"hello", "hello-unsolicited",
		 "T-043 no RDMA Read allowed and none needed",
		 unsolicited_without_reads, rfc7145_only},
		{"hello", "keys-unexpected-pdus",
		 "N-015 MaxOutstandingUnexpectedPDUs is declared in return",
		 unexpected_pdus, rfc7145_only},
		{"hello", "keys-volunteered",
		 "RFC 7145 keys only to who knows them",
		 nothing_volunteered, every_profile},
	};
}

} // namespace iserverify
