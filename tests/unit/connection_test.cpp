// SPDX-License-Identifier: GPL-2.0
#include "iser/connection.h"

#include <cstring>

#include <gtest/gtest.h>

#include "unit/bytes.h"
#include "unit/fake_stream.h"

namespace iser {
namespace {

using base::Error;
using test::FakeReceive;
using test::FakeStream;

/* Notes what the iSCSI layer is told. */
class FakeIscsi : public di::IscsiLayer {
public:
	void connection_established() override { calls += "established "; }
	void login_notify(di::ControlPdu &pdu) override
	{
		calls += "login ";
		note(pdu);
	}
	void login_sent(bool ok) override
	{
		calls += ok ? "login_sent " : "login_not_sent ";
	}
	void control_notify(di::ControlPdu &pdu) override
	{
		calls += pdu.again ? "control_again " : "control ";
		note(pdu);
	}
	void control_sent(TaskResources &task, bool ok) override
	{
		calls += ok ? "sent " : "not_sent ";
		last_task = &task;
	}
	void data_completion_notify(TaskResources &task, bool ok) override
	{
		calls += ok ? "data " : "no_data ";
		last_task = &task;
	}
	void connection_terminate_notify(Cause cause, const char *) override
	{
		calls += "terminate:" + std::string(name(cause)) + " ";
	}
	void connection_released() override { calls += "released "; }

	std::string calls;
	MessageLayout layout = {};
	RemoteMapping mapping = {};
	TaskResources *last_task = nullptr;

private:
	void note(const di::ControlPdu &pdu)
	{
		layout = pdu.layout;
		mapping = pdu.mapping;
	}
};

class ConnectionTest : public testing::Test {
protected:
	ConnectionTest() { attach({.send_with_invalidate = true}); }

	void attach(const Options &options)
	{
		connection_.attach(base::OwnPtr<rcap::Stream>(
					   FakeStream::create(stream_)),
				   options);
	}
	void full_feature()
	{
		ASSERT_EQ(connection_.allocate_connection_resources(
				  {.receives = 8, .receive_data = 4096,
				   .max_ahs = 256, .sends = 8}), Error::None);
		ASSERT_EQ(connection_.enable_datamover({}, {}), Error::None);
		stream_.calls.clear();
		stream_.sends.clear();
	}
	/* A message with @data bytes of data, of which @sent arrive. */
	void receive(IscsiOpcode opcode, u32 data, u32 sent, u8 first = 0x10)
	{
		std::vector<u8> message(sizeof(MessageHead) + sent);
		auto &head = *reinterpret_cast<MessageHead *>(message.data());

		head.header.opcode_and_flags = first;
		head.header.read_stag = 0x99;
		head.header.read_base_offset = 0x2000;
		head.bhs.opcode_and_immediate = static_cast<u8>(opcode);
		head.bhs.data_segment_length = data;
		receive_.fill(message);
		connection_.received(receive_);
	}
	void full_feature_with(const std::string &declared);
	void receive_hello(u16 ird, size_t length = 28);
	static Bhs bhs(IscsiOpcode opcode)
	{
		Bhs bhs = {};

		bhs.opcode_and_immediate = static_cast<u8>(opcode);
		return bhs;
	}
	void advertise(u64 read_base, u64 write_base)
	{
		task_.mapping.read_valid = true;
		task_.mapping.read = {Stag{0x99}, read_base};
		task_.mapping.write_valid = true;
		task_.mapping.write = {Stag{0x77}, write_base};
	}

	FakeIscsi iscsi_;
	FakeStream::Log stream_;
	FakeReceive receive_{8192, 384};
	TaskResources task_;
	Connection connection_{iscsi_};
};

TEST_F(ConnectionTest, LoginReceivesArePostedBeforeThePeerMaySend)
{
	EXPECT_EQ(connection_.allocate_login_resources(), Error::None);
	EXPECT_EQ(connection_.accept({}), Error::None);
	EXPECT_EQ(stream_.calls,
		  "allocate_receives:login post_receives:login accept ");
	EXPECT_EQ(stream_.shape.count, 1u);
	EXPECT_GE(stream_.shape.body, 8192u);
}

TEST_F(ConnectionTest, WithoutReceivesThereIsNoLogin)
{
	stream_.fail_at = 1;
	EXPECT_EQ(connection_.allocate_login_resources(), Error::NoMemory);
	EXPECT_EQ(stream_.calls,
		  "allocate_receives:login post_receives:login ");
}

TEST_F(ConnectionTest, B029_EveryPduGetsAHeaderWithoutStags)
{
	const u8 header[28] = {0x10};
	Bhs pdu = bhs(IscsiOpcode::NopIn);

	connection_.send_control(task_, pdu, {});
	ASSERT_EQ(stream_.sends.size(), 1u);
	EXPECT_EQ(std::memcmp(stream_.sends[0]->head, header, 28), 0);
	EXPECT_EQ(std::memcmp(stream_.sends[0]->head + 28, &pdu, 48), 0);
	EXPECT_EQ(stream_.sends[0], &task_.control);
}

TEST_F(ConnectionTest, T008_FullFeatureReceivesComeBeforeTheFinalResponse)
{
	ASSERT_EQ(connection_.allocate_connection_resources(
			  {.receives = 8, .receive_data = 4096,
			   .max_ahs = 256, .sends = 8}), Error::None);
	EXPECT_EQ(stream_.shape.count, 8u);
	EXPECT_EQ(stream_.shape.body, 4096u);
	EXPECT_GE(stream_.shape.tail, 256u + 3);
	stream_.calls.clear();
	EXPECT_EQ(connection_.enable_datamover(
			  bhs(IscsiOpcode::LoginResponse), {}), Error::None);
	EXPECT_EQ(stream_.calls, "post_receives:full_feature send ");
}

TEST_F(ConnectionTest, F04_NoFinalResponseWithoutReceives)
{
	ASSERT_EQ(connection_.allocate_connection_resources(
			  {.receives = 8, .receive_data = 4096,
			   .max_ahs = 256, .sends = 8}), Error::None);
	stream_.fail_at = 2;
	EXPECT_EQ(connection_.enable_datamover({}, {}), Error::NoMemory);
	EXPECT_TRUE(stream_.sends.empty());
}

TEST_F(ConnectionTest, ReceivesForLoadAreLikeTheFirst)
{
	full_feature();
	EXPECT_EQ(connection_.allocate_receives_for_load(56), Error::None);
	EXPECT_EQ(stream_.shape.count, 56u);
	EXPECT_EQ(stream_.shape.body, 4096u);
	EXPECT_GE(stream_.shape.tail, 256u + 3);
	EXPECT_EQ(stream_.calls, "allocate_receives:load post_receives:load ");
}

/* Full feature phase with an initiator that declared this of the Hello. */
void ConnectionTest::full_feature_with(const std::string &declared)
{
	LoginKeys keys;
	const std::string text = declared + '\0';

	keys.note_request(test::Buffer(std::string_view(text)));
	connection_.notice_key_values(keys);
	full_feature();
}

void ConnectionTest::receive_hello(u16 ird, size_t length)
{
	std::vector<u8> message(length);

	message[0] = 0x20;
	message[1] = 0xaa;
	message[2] = static_cast<u8>(ird >> 8);
	message[3] = static_cast<u8>(ird);
	receive_.fill(message);
	connection_.received(receive_);
}

TEST_F(ConnectionTest, T015_HelloIsAnsweredByTheFirstMessage)
{
	full_feature_with("iSERHelloRequired=Yes");
	EXPECT_TRUE(connection_.hello_is_due());
	receive_hello(4);
	EXPECT_EQ(stream_.calls, "limit_reads:4 give_back send ");
	ASSERT_EQ(stream_.sends.size(), 1u);
	EXPECT_EQ(stream_.sends[0]->head_length, 28u);
	EXPECT_EQ(stream_.sends[0]->head[0], 0x30);
	EXPECT_EQ(stream_.sends[0]->head[3], 4);
	EXPECT_TRUE(stream_.sends[0]->data.empty());
	connection_.sent(*stream_.sends[0], true);
	EXPECT_EQ(iscsi_.calls, "");
	EXPECT_FALSE(connection_.hello_is_due());
	receive(IscsiOpcode::NopOut, 0, 0);
	EXPECT_EQ(iscsi_.calls, "control ");
}

TEST_F(ConnectionTest, N010_HelloOfASilentInitiatorIsAnswered)
{
	full_feature_with("");
	EXPECT_FALSE(connection_.hello_is_due());
	receive_hello(4);
	EXPECT_EQ(stream_.sends.size(), 1u);
}

TEST_F(ConnectionTest, N008_HelloAgainstTheDeclarationEndsTheConnection)
{
	full_feature_with("iSERHelloRequired=No");
	receive_hello(4);
	EXPECT_TRUE(stream_.sends.empty());
	EXPECT_EQ(iscsi_.calls, "terminate:unexpected_hello ");
}

TEST_F(ConnectionTest, T015_CommandInPlaceOfTheHelloEndsTheConnection)
{
	full_feature_with("iSERHelloRequired=Yes");
	receive(IscsiOpcode::NopOut, 0, 0);
	EXPECT_EQ(iscsi_.calls, "terminate:hello_missing ");
}

TEST_F(ConnectionTest, SecondHelloEndsTheConnection)
{
	full_feature_with("iSERHelloRequired=Yes");
	receive_hello(4);
	receive_hello(4, 76);
	EXPECT_EQ(iscsi_.calls, "terminate:unexpected_hello ");
}

TEST_F(ConnectionTest, T067_ConnectionEndsBehindARejection)
{
	full_feature_with("iSERHelloRequired=Yes");

	std::vector<u8> message(28);

	message[0] = 0x20;
	message[1] = 0x22;
	receive_.fill(message);
	connection_.received(receive_);
	ASSERT_EQ(stream_.sends.size(), 1u);
	EXPECT_EQ(stream_.sends[0]->head[0], 0x31);
	EXPECT_EQ(iscsi_.calls, "");
	receive(IscsiOpcode::NopOut, 0, 0);
	EXPECT_EQ(iscsi_.calls, "");
	connection_.sent(*stream_.sends[0], true);
	EXPECT_EQ(iscsi_.calls, "terminate:hello_rejected ");
}

TEST_F(ConnectionTest, T043_WithoutReadsAWriteThatNeedsOneEndsTheConnection)
{
	full_feature_with("iSERHelloRequired=Yes");
	receive_hello(0);
	task_.mapping.write_valid = true;
	connection_.get_data(task_, {.length = 512}, 0);
	EXPECT_EQ(iscsi_.calls, "terminate:no_read_allowed no_data ");
	EXPECT_TRUE(stream_.transfers.empty());
}

TEST_F(ConnectionTest, WithoutReceivesForLoadItGoesOnAsItWas)
{
	full_feature();
	stream_.fail_at = 0;
	attach({});
	EXPECT_EQ(connection_.allocate_receives_for_load(56), Error::NoMemory);
	EXPECT_EQ(iscsi_.calls, "");
}

TEST_F(ConnectionTest, ReceivesThatAreHalfPostedEndTheConnection)
{
	full_feature();
	stream_.fail_at = 1;
	attach({});
	EXPECT_EQ(connection_.allocate_receives_for_load(56), Error::NoMemory);
	EXPECT_EQ(iscsi_.calls, "terminate:receive_failed ");
}

TEST_F(ConnectionTest, T066_FailedAllocationIsReported)
{
	for (int fails : {0, 1}) {
		stream_.fail_at = fails;
		attach({});
		EXPECT_EQ(connection_.allocate_connection_resources({}),
			  Error::NoMemory) << fails;
	}
}

TEST_F(ConnectionTest, LoginResourcesGoWhenTheFinalResponseIsSent)
{
	connection_.send_login({}, {});
	connection_.sent(*stream_.sends.back(), true);
	EXPECT_EQ(stream_.calls, "send ");
	ASSERT_EQ(connection_.enable_datamover({}, {}), Error::None);
	stream_.calls.clear();
	connection_.sent(*stream_.sends.back(), true);
	EXPECT_EQ(stream_.calls, "free_receives:login free_long_send ");
	EXPECT_EQ(iscsi_.calls, "login_sent login_sent ");
}

TEST_F(ConnectionTest, DiscoveryKeepsTheLongSendForItsAnswer)
{
	LoginKeys keys;

	keys.note_request(test::Buffer(
		std::string_view("SessionType=Discovery\0", 22)));
	connection_.notice_key_values(keys);
	ASSERT_EQ(connection_.enable_datamover({}, {}), Error::None);
	stream_.calls.clear();
	connection_.sent(*stream_.sends.back(), true);
	EXPECT_EQ(stream_.calls, "free_receives:login ");
}

TEST_F(ConnectionTest, LoginMessagesAreLoginNotifications)
{
	receive(IscsiOpcode::LoginRequest, 8192, 8192);
	EXPECT_EQ(iscsi_.calls, "login ");
	EXPECT_EQ(iscsi_.layout.data_length, 8192u);
	EXPECT_EQ(connection_.messages_received(), 1u);
}

TEST_F(ConnectionTest, F02_LyingLoginReachesNobody)
{
	receive(IscsiOpcode::LoginRequest, 101, 100);
	EXPECT_EQ(iscsi_.calls, "terminate:length_lies ");
}

TEST_F(ConnectionTest, F04_CommandBeforeFullFeatureReachesNobody)
{
	receive(IscsiOpcode::ScsiCommand, 0, 0);
	EXPECT_EQ(iscsi_.calls, "terminate:login_malformed ");
}

TEST_F(ConnectionTest, F01_ShortMessageAfterAFullOneReachesNobody)
{
	full_feature();
	receive(IscsiOpcode::NopOut, 0, 0);
	receive_.fill(std::vector<u8>(75, 0x10));
	connection_.received(receive_);
	EXPECT_EQ(iscsi_.calls, "control terminate:message_too_short ");
}

TEST_F(ConnectionTest, F03_LyingCommandReachesNobody)
{
	full_feature();
	receive(IscsiOpcode::ScsiCommand, 513, 512);
	EXPECT_EQ(iscsi_.calls, "terminate:length_lies ");
}

TEST_F(ConnectionTest, T021_LimitsAreThoseOfTheReceives)
{
	full_feature();
	receive(IscsiOpcode::ScsiCommand, 4096, 4096);
	receive(IscsiOpcode::ScsiCommand, 4097, 4097);
	EXPECT_EQ(iscsi_.calls, "control terminate:data_segment_too_long ");
}

TEST_F(ConnectionTest, T026_CommandBringsItsMapping)
{
	full_feature();
	receive(IscsiOpcode::ScsiCommand, 0, 0, 0x14);
	EXPECT_TRUE(iscsi_.mapping.read_valid);
	EXPECT_FALSE(iscsi_.mapping.write_valid);
	EXPECT_EQ(iscsi_.mapping.read.stag, Stag{0x99});
	EXPECT_EQ(iscsi_.mapping.read.base_offset, 0x2000u);
}

TEST_F(ConnectionTest, MessageCanBePresentedAgain)
{
	full_feature();
	receive(IscsiOpcode::NopOut, 0, 0);
	connection_.notify_again(receive_);
	EXPECT_EQ(iscsi_.calls, "control control_again ");
	EXPECT_EQ(connection_.messages_received(), 1u);
	connection_.done(receive_);
	EXPECT_EQ(stream_.calls, "give_back ");
}

TEST_F(ConnectionTest, EndIsToldOnceAndNothingComesBehindIt)
{
	full_feature();
	connection_.lost(rcap::Fault::DeviceRemoved, nullptr);
	connection_.lost(rcap::Fault::Disconnected, nullptr);
	receive(IscsiOpcode::NopOut, 0, 0);
	EXPECT_EQ(iscsi_.calls, "terminate:device_removed ");
}

TEST_F(ConnectionTest, EveryFaultHasItsCause)
{
	const std::pair<rcap::Fault, Cause> expected[] = {
		{rcap::Fault::Disconnected, Cause::PeerDisconnected},
		{rcap::Fault::ConnectFailed, Cause::ConnectFailed},
		{rcap::Fault::AddressChanged, Cause::AddressChanged},
		{rcap::Fault::DeviceRemoved, Cause::DeviceRemoved},
		{rcap::Fault::QueuePairFailed, Cause::QueuePairFailed},
		{rcap::Fault::ReceiveFailed, Cause::ReceiveFailed},
		{rcap::Fault::SendFailed, Cause::SendFailed},
		{rcap::Fault::ReadFailed, Cause::RdmaReadFailed},
		{rcap::Fault::WriteFailed, Cause::RdmaWriteFailed},
		{rcap::Fault::OutOfMemory, Cause::OutOfMemory},
	};

	for (auto [fault, cause] : expected) {
		FakeIscsi iscsi;
		Connection connection(iscsi);

		connection.lost(fault, nullptr);
		EXPECT_EQ(iscsi.calls,
			  "terminate:" + std::string(name(cause)) + " ");
	}
}

TEST_F(ConnectionTest, T029_T031_ResponseInvalidatesAndEndsTheMapping)
{
	advertise(0, 0);
	connection_.send_control(task_, bhs(IscsiOpcode::ScsiResponse), {});
	EXPECT_TRUE(task_.control.with_invalidate);
	EXPECT_EQ(task_.control.invalidate, 0x99u);
	EXPECT_FALSE(task_.mapping.read_valid);
	EXPECT_FALSE(task_.mapping.write_valid);
}

TEST_F(ConnectionTest, N004_OnlyAScsiResponseInvalidates)
{
	advertise(0, 0);
	for (IscsiOpcode opcode : {IscsiOpcode::NopIn, IscsiOpcode::Reject,
				   IscsiOpcode::TaskManagementResponse}) {
		connection_.send_control(task_, bhs(opcode), {});
		EXPECT_FALSE(task_.control.with_invalidate);
		EXPECT_TRUE(task_.mapping.read_valid);
	}
}

TEST_F(ConnectionTest, N005_PlainSendIfThePeerCannotInvalidate)
{
	attach({.send_with_invalidate = false});
	advertise(0, 0);
	connection_.send_control(task_, bhs(IscsiOpcode::ScsiResponse), {});
	EXPECT_FALSE(task_.control.with_invalidate);
	EXPECT_FALSE(task_.mapping.read_valid);
}

TEST_F(ConnectionTest, T036_PutDataWritesBehindTheReadBase)
{
	advertise(0x2000, 0);
	connection_.put_data(task_, {.length = 512}, 4096, true);
	EXPECT_EQ(stream_.calls, "write ");
	EXPECT_EQ(task_.data.remote_offset, 0x3000u);
	EXPECT_EQ(task_.data.stag, 0x99u);
	EXPECT_FALSE(task_.data.read);
	connection_.transferred(task_.data, true);
	EXPECT_EQ(iscsi_.calls, "data ");
	EXPECT_EQ(iscsi_.last_task, &task_);
}

TEST_F(ConnectionTest, T025_UnnotifiedDataLeavesWithTheResponse)
{
	advertise(0x2000, 0);
	connection_.put_data(task_, {.length = 512}, 0, false);
	EXPECT_EQ(stream_.calls, "");
	connection_.send_control(task_, bhs(IscsiOpcode::ScsiResponse), {});
	EXPECT_EQ(stream_.calls, "send ");
	EXPECT_EQ(task_.control.write, &task_.data);
	connection_.sent(task_.control, true);
	EXPECT_EQ(task_.control.write, nullptr);
	EXPECT_EQ(iscsi_.calls, "sent ");
	EXPECT_EQ(iscsi_.last_task, &task_);
}

TEST_F(ConnectionTest, OQ01_F42_SilentInitiatorsBaseIsBehindTheUnsolicited)
{
	advertise(0, 0x1000);
	task_.unsolicited = 512;
	connection_.notice_key_values({});
	connection_.get_data(task_, {.length = 512}, 512);
	EXPECT_EQ(stream_.calls, "read ");
	EXPECT_EQ(task_.data.remote_offset, 0x1000u);
	EXPECT_EQ(task_.data.stag, 0x77u);
	EXPECT_TRUE(task_.data.read);
}

TEST_F(ConnectionTest, OQ01_OptionOrDeclarationSelectsTheWholeBuffer)
{
	LoginKeys declared;

	advertise(0, 0x1000);
	task_.unsolicited = 512;
	attach({.silent_means_solicited_only = false});
	connection_.notice_key_values({});
	connection_.get_data(task_, {.length = 512}, 512);
	EXPECT_EQ(task_.data.remote_offset, 0x1200u);

	attach({.silent_means_solicited_only = true});
	declared.note_request(test::Buffer(std::string_view(
		"TaggedBufferForSolicitedDataOnly=No")));
	connection_.notice_key_values(declared);
	connection_.get_data(task_, {.length = 512}, 1024);
	EXPECT_EQ(task_.data.remote_offset, 0x1400u);
}

TEST_F(ConnectionTest, N023_BufferThatWrapsEndsTheConnection)
{
	advertise(~u64{0} - 100, ~u64{0} - 100);
	connection_.get_data(task_, {.length = 512}, 0);
	EXPECT_EQ(iscsi_.calls, "terminate:offset_wraps no_data ");
	connection_.put_data(task_, {.length = 512}, 0, true);
	EXPECT_EQ(iscsi_.calls, "terminate:offset_wraps no_data no_data ");
	EXPECT_EQ(stream_.calls, "");
}

TEST_F(ConnectionTest, N023_NoStatusLeavesWithoutItsData)
{
	advertise(~u64{0} - 100, 0);
	connection_.put_data(task_, {.length = 512}, 0, false);
	connection_.send_control(task_, bhs(IscsiOpcode::ScsiResponse), {});
	EXPECT_EQ(stream_.calls, "");
	EXPECT_EQ(iscsi_.calls, "terminate:offset_wraps not_sent ");
}

TEST_F(ConnectionTest, EventsOfTheStreamArePassedOn)
{
	connection_.established();
	connection_.connection_terminate();
	connection_.released();
	EXPECT_EQ(stream_.calls, "close ");
	EXPECT_EQ(iscsi_.calls, "established released ");
}

} // namespace
} // namespace iser
