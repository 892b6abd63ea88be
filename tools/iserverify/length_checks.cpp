// SPDX-License-Identifier: GPL-2.0
/* Messages that are too short, and lengths that lie: F-01, F-02, F-03. */
#include <string>

#include "lab.h"

namespace iserverify {

namespace {

constexpr std::size_t lengths[] = {0, 1, 27, 28, 29, 47, 48, 75, 76, 77};

std::string of_length(const char *what, std::size_t length)
{
	return std::string(what) + " of " + std::to_string(length) + " bytes";
}

/* Headers and BHS alone, cut or lengthened. */
ByteVector cut(const Pdu &pdu, std::size_t length)
{
	ByteVector bytes = pdu.bytes();

	bytes.resize(length);
	return bytes;
}

/* Whole or one byte too many: whatever the target does, it is no accident. */
bool whole(std::size_t length)
{
	return length >= iser::message_head_size;
}

void short_first_login(Lab &lab)
{
	for (std::size_t length : lengths) {
		auto session = lab.connect();
		Pdu pdu = session->login_request(lab.login_options(), 0x04, {});

		session->connection().send(cut(pdu, length));
		expect_outcome(outcome_of(*session),
			       whole(length) ?
			       std::initializer_list<Outcome>{
				       Outcome::Closed, Outcome::Refused} :
			       std::initializer_list<Outcome>{Outcome::Closed},
			       of_length("first login PDU", length));
	}
}

/* Takes part in a login that is not at its end. */
void first_round(Lab &lab, Session &session, const LoginOptions &options)
{
	Pdu answer = session.login_exchange(
		options, 0x04, to_text(Session::identity_keys(options)));

	(void)lab;
	expect_equal(answer.head.bhs.as<iser::LoginResponsePdu>().status_class,
		     0, "status class of the first Login Response");
}

void short_second_login(Lab &lab)
{
	for (std::size_t length : lengths) {
		LoginOptions options = lab.login_options();
		Session session(lab.raw_connection());

		first_round(lab, session, options);
		session.connection().send(
			cut(session.login_request(options, 0x04, {}), length));

		Outcome outcome = outcome_of(session);

		if (!whole(length))
			expect_outcome(outcome, {Outcome::Closed},
				       of_length("second login PDU", length));
		else
			expect_outcome(outcome, {Outcome::Closed,
						 Outcome::Refused,
						 Outcome::Answered},
				       of_length("second login PDU", length));
	}
}

void short_in_full_feature(Lab &lab)
{
	for (std::size_t length : lengths) {
		auto session = lab.login();
		Pdu pdu = session->make(IscsiOpcode::NopOut, true);

		pdu.request().specific_20 = iser::reserved_tag;
		session->connection().send(cut(pdu, length));

		Outcome outcome = outcome_of(*session);

		if (!whole(length))
			expect_outcome(outcome, {Outcome::Closed},
				       of_length("NOP-Out", length));
		else if (length == iser::message_head_size)
			expect_outcome(outcome, {Outcome::Answered},
				       of_length("NOP-Out", length));
		else
			expect_outcome(outcome, {Outcome::Answered,
						 Outcome::Closed,
						 Outcome::Rejected},
				       of_length("NOP-Out", length));
	}
}

/* What a DataSegmentLength claims where @real bytes are sent. */
std::vector<std::uint32_t> lies(std::size_t real)
{
	auto padded = static_cast<std::uint32_t>((real + 3) & ~std::size_t{3});

	return {padded + 1, padded + 4096, 8192, 8193, 0xffffff};
}

std::string claiming(const char *what, std::uint32_t claimed)
{
	return std::string(what) + " that claims " + std::to_string(claimed) +
	       " bytes of data";
}

void login_lies(Lab &lab, bool first)
{
	LoginOptions options = lab.login_options();
	ByteVector text = to_text(Session::identity_keys(options));

	for (std::uint32_t claimed : lies(text.size())) {
		Session session(lab.raw_connection());

		options = lab.login_options();
		if (first) {
			session.connection().connect();
			session.already_connected();
		} else {
			first_round(lab, session, options);
			text = to_text({{"X-lio-iser.test", "1"}});
		}

		Pdu pdu = session.login_request(options, 0x04, text);

		pdu.head.bhs.data_segment_length = claimed;
		session.connection().send(pdu.bytes_as_claimed());
		expect_outcome(outcome_of(session),
			       {Outcome::Closed, Outcome::Refused},
			       claiming("login PDU", claimed));
	}
}

void first_login_lies(Lab &lab)
{
	login_lies(lab, true);
}

void later_login_lies(Lab &lab)
{
	login_lies(lab, false);
}

/* Neither carried out nor passed over. */
void expect_refusal(Session &session, const std::string &what)
{
	expect_outcome(outcome_of(session), {Outcome::Closed, Outcome::Rejected,
					     Outcome::Failed}, what);
}

void command_lies(Lab &lab)
{
	const ByteVector old = pattern(65536, 20);
	ByteVector data = pattern(512, 21);

	lab.write(Lab::scratch, old);
	for (std::uint32_t claimed : lies(data.size())) {
		auto session = lab.login();
		Pdu pdu = command_by_hand(*session, 0xa1, 65536,
						  write_cdb(Lab::scratch, 128));

		pdu.data = data;
		pdu.head.bhs.data_segment_length = claimed;
		session->send_as_claimed(pdu);
		expect_refusal(*session, claiming("SCSI Command", claimed));
		session.reset();
		lab.expect_data(Lab::scratch, old, "data on the LUN");
	}
}

void data_out_lies(Lab &lab)
{
	const ByteVector old = pattern(8192, 22);

	lab.write(Lab::scratch, old);
	for (std::uint32_t claimed : lies(512)) {
		WaitingWrite write(lab);
		Pdu pdu = write.data_out(0, 512);

		pdu.head.bhs.data_segment_length = claimed;
		write.session->connection().send(pdu.bytes_as_claimed());
		expect_refusal(*write.session, claiming("Data-Out", claimed));
		write.session.reset();
		lab.expect_data(Lab::scratch, old, "data on the LUN");
	}
}

/* Requests without an effect on the LUN, with @data. */
void request_lies(Lab &lab, IscsiOpcode opcode, const char *what,
		  const ByteVector &data)
{
	for (std::uint32_t claimed : lies(data.size())) {
		auto session = lab.login();
		Pdu pdu = session->make(opcode);

		pdu.request().specific_20 = iser::reserved_tag;
		pdu.data = data;
		pdu.data.resize((data.size() + 3) & ~std::size_t{3});
		pdu.head.bhs.data_segment_length = claimed;
		session->send_as_claimed(pdu);
		expect_refusal(*session, claiming(what, claimed));
	}
}

void text_lies(Lab &lab)
{
	request_lies(lab, IscsiOpcode::TextRequest, "Text Request",
		     to_text({{"SendTargets", ""}}));
}

void nop_out_lies(Lab &lab)
{
	request_lies(lab, IscsiOpcode::NopOut, "NOP-Out", pattern(64, 24));
}

void logout_lies(Lab &lab)
{
	request_lies(lab, IscsiOpcode::LogoutRequest, "Logout Request", {});
}

void task_management_lies(Lab &lab)
{
	request_lies(lab, IscsiOpcode::TaskManagementRequest,
		     "Task Management Request", {});
}

void ahs_beyond_the_message(Lab &lab)
{
	for (unsigned words : {1u, 8u, 255u}) {
		auto session = lab.login();
		Pdu pdu = session->make(IscsiOpcode::ScsiCommand);

		pdu.head.bhs.total_ahs_length = static_cast<u8>(words);
		session->send_as_claimed(pdu);
		expect_refusal(*session, "TotalAHSLength of " +
			       std::to_string(words) + " words, none sent");
	}
}

void data_beyond_the_negotiated(Lab &lab)
{
	const ByteVector old = pattern(8192, 25);
	ByteVector data = pattern(8192, 26);

	lab.write(Lab::scratch, old);
	for (const char *length : {"512", "4096"}) {
		auto session = lab.login(
			{{"TargetRecvDataSegmentLength", length}});
		ScsiRequest request;

		expect_equal(session->parameters()
				     .target_recv_data_segment_length,
			     std::stoul(length), "TargetRecvDataSegmentLength");
		request.cdb = write_cdb(Lab::scratch, 16);
		request.out = data;

		Pdu pdu = command_by_hand(*session, 0xa1, 8192,
						  request.cdb);

		pdu.data = data;
		session->send(pdu);
		expect_refusal(*session, std::string("8192 bytes of immediate "
						     "data where ") + length +
			       " were negotiated");
		session.reset();
		lab.expect_data(Lab::scratch, old, "data on the LUN");
	}
}

} // namespace

std::vector<Check> length_checks()
{
	return {
		{"length", "short-first-login",
		 "F-01 first login PDU of 0 to 77 bytes", short_first_login},
		{"length", "short-second-login",
		 "F-01 second login PDU of 0 to 77 bytes", short_second_login},
		{"length", "short-full-feature",
		 "F-01 B-026 full feature PDU of 0 to 77 bytes",
		 short_in_full_feature},
		{"length", "lie-first-login",
		 "F-02 first login PDU claims more data than sent",
		 first_login_lies},
		{"length", "lie-later-login",
		 "F-02 later login PDU claims more data than sent",
		 later_login_lies},
		{"length", "lie-command",
		 "F-03 SCSI write claims more immediate data than sent",
		 command_lies},
		{"length", "lie-data-out",
		 "F-03 Data-Out claims more data than sent", data_out_lies},
		{"length", "lie-text",
		 "F-03 Text Request claims more data than sent", text_lies},
		{"length", "lie-nop-out",
		 "F-03 NOP-Out claims more data than sent", nop_out_lies},
		{"length", "lie-logout",
		 "F-03 Logout Request claims data that was not sent",
		 logout_lies},
		{"length", "lie-task-management",
		 "F-03 Task Management Request claims data not sent",
		 task_management_lies},
		{"length", "lie-ahs",
		 "F-03 TotalAHSLength beyond the message",
		 ahs_beyond_the_message},
		{"length", "beyond-negotiated",
		 "T-021 immediate data beyond TargetRecvDataSegmentLength",
		 data_beyond_the_negotiated},
	};
}

} // namespace iserverify
