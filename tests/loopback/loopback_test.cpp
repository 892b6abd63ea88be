// SPDX-License-Identifier: GPL-2.0
/* What one initiator and the target do, step by step, in a fixed order. */
#include <gtest/gtest.h>

#include <numeric>

#include "host/host.h"
#include "libiser/command_queue.h"
#include "loopback/machine.h"

namespace {

using namespace loopback;
using libiser::ByteVector;
using libiser::CommandQueue;
using libiser::LoginOptions;
using libiser::Milliseconds;
using libiser::ScsiRequest;
using libiser::Session;
using libiser::TaskManagement;

/* @blocks blocks that no other @seed has. */
ByteVector pattern(u32 blocks, u8 seed)
{
	ByteVector data(size_t{blocks} * Disk::block);

	std::iota(data.begin(), data.end(), seed);
	for (size_t at = 0; at < data.size(); at += Disk::block)
		data[at] = static_cast<u8>(seed ^ at / Disk::block);
	return data;
}

class Loopback : public ::testing::Test {
protected:
	void SetUp() override { ASSERT_EQ(machine.open(), 0); }
	void TearDown() override { end(); }

	void end()
	{
		if (std::exchange(late_, false))
			machine.scheduler.wait("acknowledgements", nullptr,
					       machine.scheduler.now() +
						       2 * late_ms);
		machine.close();
		EXPECT_EQ(machine.leftovers(), "");
		EXPECT_EQ(machine.network.dry, 0u);
	}

	static LoginOptions with_keys(const libiser::TextKeys &keys)
	{
		LoginOptions options = Machine::login_options();

		options.keys = keys;
		return options;
	}

	/* Writes what was not there before, and reads it back. */
	static void write_and_read(Session &session, u32 lba, u32 blocks,
				   std::optional<u32> immediate = {})
	{
		ByteVector out = pattern(blocks, static_cast<u8>(lba + 3));
		ByteVector in(out.size());

		EXPECT_TRUE(session.scsi({.cdb = write_10(lba, blocks),
					  .out = out,
					  .immediate = immediate}).good());
		EXPECT_TRUE(session.scsi({.cdb = read_10(lba, blocks),
					  .in = in}).good());
		EXPECT_EQ(in, out);
	}

	/* From now on they come only when nothing else can happen. */
	void acknowledgements_are_late()
	{
		late_ = true;
		machine.network.acknowledgements_late = true;
		machine.scheduler.post([this] {
			machine.network.acknowledgements_late = false;
			machine.scheduler.settle();
			if (late_)
				acknowledgements_are_late();
		}, late_ms);
	}

	Machine machine;

private:
	/* So that no timer of the module comes at the same moment. */
	static constexpr u64 late_ms = 93;
	bool late_ = false;
};

/* Login -------------------------------------------------------------------- */

TEST_F(Loopback, LoginToLogout)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	EXPECT_TRUE(initiator.session.scsi({.cdb = {0, 0, 0, 0, 0, 0}}).good());
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, F10_ConnectionsAreListedWhileTheyComeAndGo)
{
	const auto listed = [] {
		std::string lines;

		lio_show_connections(host::reader(lines));
		return lines;
	};
	Initiator initiator;

	/* Machine's own reader does so in every allocation, as well. */
	EXPECT_EQ(listed(), "");
	initiator.session.login(Machine::login_options());

	const std::string line = listed();

	EXPECT_NE(line.find("state=full_feature"), line.npos) << line;
	EXPECT_NE(line.find(Machine::login_options().initiator_name),
		  line.npos) << line;
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, ALoginMayTakeSeveralRoundsAndChains)
{
	Initiator initiator;
	LoginOptions options = Machine::login_options();

	machine.lio.settings.login_rounds = 3;
	options.text_per_pdu = 100;
	initiator.session.login(options);
	write_and_read(initiator.session, 0, 1);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, ALoginToAnotherTargetIsRefused)
{
	Initiator initiator;
	LoginOptions options = Machine::login_options();

	options.target_name = "iqn.2003-01.org.example:another";
	EXPECT_THROW(initiator.session.login(options), libiser::LoginRefused);
}

TEST_F(Loopback, DiscoveryNamesTheTarget)
{
	Initiator initiator;
	LoginOptions options;

	options.discovery = true;
	initiator.session.login(options);

	const auto targets = initiator.session.discover();

	ASSERT_EQ(targets.size(), 1u);
	EXPECT_EQ(targets[0].name, Lio::target_name);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, F40_WhoSaysNothingHoldsUpNobody)
{
	Initiator silent;
	Initiator initiator;

	silent.session.connection().connect();
	initiator.session.login(Machine::login_options());
	EXPECT_EQ(initiator.session.logout(), 0);
	EXPECT_TRUE(silent.session.connection().wait_closed(
		Milliseconds(16000)));
}

TEST_F(Loopback, ALoginRequestMayComeBeforeTheResponseIsKnownToBeSent)
{
	Initiator initiator;

	machine.lio.settings.login_rounds = 2;
	acknowledgements_are_late();
	initiator.session.login(Machine::login_options());
	write_and_read(initiator.session, 0, 1);
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* Who stalls until LIO's own limit, and then leaves while LIO drops it. */
TEST_F(Loopback, F40_LiosLimitOfALoginDoesNotMeetOurs)
{
	Initiator slow;
	Session &session = slow.session;
	const LoginOptions options = Machine::login_options();

	machine.lio.settings.login_rounds = 2;
	lio_settings.login_timeout = 60;
	session.connection().connect();
	session.connection().send(session.login_request(
		options, 0x04,
		libiser::to_text(Session::identity_keys(options))).bytes());
	EXPECT_FALSE(session.connection().wait_closed(Milliseconds(15010)));
	session.connection().disconnect();
}

/* Data --------------------------------------------------------------------- */

TEST_F(Loopback, ImmediateDataIsWritten)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	/* All of it, and a part: the rest comes by RDMA Read. */
	write_and_read(initiator.session, 0, 8);
	write_and_read(initiator.session, 8, 16);
	write_and_read(initiator.session, 24, 16, 512);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, UnsolicitedDataIsWritten)
{
	Initiator initiator;

	machine.lio.settings.initial_r2t = false;
	initiator.session.login(with_keys({{"InitialR2T", "No"},
					   {"FirstBurstLength", "16384"}}));
	EXPECT_FALSE(initiator.session.parameters().initial_r2t);
	/* Less than the first burst, all of it, and more than it. */
	write_and_read(initiator.session, 0, 16);
	write_and_read(initiator.session, 16, 32);
	write_and_read(initiator.session, 48, 64);
	write_and_read(initiator.session, 112, 64, 0);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, WithoutImmediateDataAllComesByRdmaRead)
{
	Initiator initiator;

	initiator.session.login(with_keys({{"ImmediateData", "No"}}));
	write_and_read(initiator.session, 0, 64);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, DataBeyondABurstTakesSeveralOperations)
{
	Initiator initiator;

	initiator.session.login(with_keys({{"MaxBurstLength", "8192"},
					   {"FirstBurstLength", "8192"}}));
	write_and_read(initiator.session, 3, 200);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, K12_AWriteBaseAtTheFirstByteIsObeyed)
{
	Initiator initiator;

	initiator.session.login(
		with_keys({{"TaggedBufferForSolicitedDataOnly", "No"}}));
	write_and_read(initiator.session, 0, 32);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, ADeviceThatRegistersMemoryRunsOutOfRegistrations)
{
	Initiator initiator;

	machine.network.device.registrations = 2;
	initiator.session.login(Machine::login_options());

	CommandQueue queue(initiator.session, 8);
	std::vector<ByteVector> in(8, ByteVector(8 * Disk::block));
	unsigned good = 0;

	for (u32 i = 0; i < in.size(); ++i)
		queue.submit({.cdb = read_10(8 * i, 8), .in = in[i]},
			     [&](const auto &result) {
				     good += result.good();
			     });
	queue.drain();
	EXPECT_EQ(good, in.size());
	/* None that would be given back late. */
	EXPECT_EQ(machine.network.markers, 0u);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, AnOperationThatTheQueueCannotHoldEndsTheConnection)
{
	Initiator initiator;
	ByteVector in(512 * Disk::block);

	machine.network.device.pieces = 1;
	initiator.session.login(Machine::login_options());
	EXPECT_THROW(initiator.session.scsi({.cdb = read_10(0, 512), .in = in}),
		     libiser::ConnectionLost);
}

TEST_F(Loopback, TheStagOfACommandIsInvalidated)
{
	Initiator initiator;
	ByteVector in(Disk::block);

	initiator.session.login(Machine::login_options());

	const auto result = initiator.session.scsi({.cdb = read_10(0, 1),
						    .in = in});

	EXPECT_TRUE(result.invalidated.has_value());
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, ACommandThatFailsHasSenseData)
{
	Initiator initiator;
	ByteVector data(Disk::block);

	initiator.session.login(Machine::login_options());
	/* Neither the data of the first nor of the second goes anywhere. */
	for (ScsiRequest request : {ScsiRequest{.cdb = read_10(9999, 1),
						.in = data},
				    ScsiRequest{.cdb = write_10(9999, 1),
						.out = data},
				    ScsiRequest{.cdb = write_10(9999, 1),
						.out = data,
						.immediate = 0}}) {
		const auto result = initiator.session.scsi(request);

		EXPECT_EQ(result.sense_code(), 0x2100);
	}
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, AResidualIsReported)
{
	Initiator initiator;
	ByteVector in(4 * Disk::block);

	initiator.session.login(Machine::login_options());

	const auto result = initiator.session.scsi({.cdb = inquiry(36),
						    .in = in});

	EXPECT_TRUE(result.underflow);
	EXPECT_EQ(result.residual, in.size() - 36);
	EXPECT_EQ(in[35], 35);
	EXPECT_EQ(in[36], 0);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, TheWindowWidensForWhoUsesIt)
{
	Initiator initiator;

	machine.lio.settings.disk_ms = 5;
	initiator.session.login(Machine::login_options());

	CommandQueue queue(initiator.session, 64);
	std::vector<ByteVector> out;
	unsigned good = 0;

	for (u32 i = 0; i < 128; ++i)
		out.push_back(pattern(2, static_cast<u8>(i)));
	for (u32 i = 0; i < 128; ++i)
		queue.submit({.cdb = write_10(2 * i, 2), .out = out[i],
			      .immediate = 512},
			     [&](const auto &result) {
				     good += result.good();
			     });
	EXPECT_EQ(queue.under_way(), 64u);
	queue.drain();
	EXPECT_EQ(good, 128u);
	for (u32 i = 0; i < 128; ++i) {
		const auto blocks = machine.lio.disk.at(2 * i, 2);

		EXPECT_TRUE(std::equal(blocks.begin(), blocks.end(),
				       out[i].begin()));
	}
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* The status of a write is a Send that nobody waits for. */
TEST_F(Loopback, StatusesOfWritesShareACompletion)
{
	constexpr u32 writes = 400;
	Initiator initiator;
	ByteVector out = pattern(1, 7);

	initiator.session.login(Machine::login_options());

	const u64 before = machine.network.send_completions;

	for (u32 i = 0; i < writes; ++i)
		EXPECT_TRUE(initiator.session.scsi({.cdb = write_10(i, 1),
						    .out = out,
						    .immediate = 512}).good());
	EXPECT_EQ(machine.network.send_completions - before, writes / 8);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, AWriteIsOverSoonAfterItsStatusWithoutACompletion)
{
	Initiator initiator;
	ByteVector out = pattern(1, 7);

	/* So that the status does not leave while the command arrives. */
	machine.lio.settings.disk_ms = 5;
	initiator.session.login(Machine::login_options());
	for (u32 i = 0; i < 20; ++i) {
		EXPECT_TRUE(initiator.session.scsi({.cdb = write_10(i, 1),
						    .out = out,
						    .immediate = 512}).good());
		machine.scheduler.wait("what is to be done soon", nullptr,
				       machine.scheduler.now() + 15);
		EXPECT_EQ(machine.lio.commands, 0u);
	}
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, StatusesOfReadsShareACompletion)
{
	constexpr u32 reads = 400;
	Initiator initiator;
	ByteVector in(Disk::block);

	initiator.session.login(Machine::login_options());

	const u64 before = machine.network.send_completions;

	for (u32 i = 0; i < reads; ++i)
		EXPECT_TRUE(initiator.session.scsi({.cdb = read_10(i, 1),
						    .in = in}).good());
	machine.scheduler.wait("the last of them", nullptr,
			       machine.scheduler.now() + 1);
	EXPECT_EQ(machine.network.send_completions - before, reads / 8);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, AReadIsOverSoonAfterItsStatus)
{
	Initiator initiator;
	ByteVector in(Disk::block);

	initiator.session.login(Machine::login_options());
	for (u32 i = 1; i <= 20; ++i) {
		EXPECT_TRUE(initiator.session.scsi({.cdb = read_10(i, 1),
						    .in = in}).good());
		/* Until it is known, its data has to lie still. */
		EXPECT_EQ(machine.lio.commands, 1u);
		machine.scheduler.wait("what is to be done soon", nullptr,
				       machine.scheduler.now() + 15);
		EXPECT_EQ(machine.lio.commands, 0u);
		EXPECT_EQ(machine.network.markers, i);
	}
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* What they hold is told of at once. */
TEST_F(Loopback, AReadDoesNotWaitForWhatOthersHold)
{
	Initiator initiator;
	ByteVector in(37 * 4096);

	/* Of the send queue's 38 work requests for data it takes 37. */
	machine.network.device.pieces = 1;
	initiator.session.login(Machine::login_options());
	for (u32 i = 0; i < 3; ++i)
		EXPECT_TRUE(initiator.session.scsi(
			{.cdb = read_10(i, 1),
			 .in = std::span(in).first(Disk::block)}).good());

	const u64 before = machine.scheduler.now();

	EXPECT_TRUE(initiator.session.scsi(
		{.cdb = read_10(0, 37 * 8), .in = in}).good());
	EXPECT_LT(machine.scheduler.now() - before, 5u);
	EXPECT_EQ(machine.network.markers, 1u);
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* Its status has left meanwhile, and nobody but LIO's lock holds it up. */
TEST_F(Loopback, ACommandStaysUntilLioHasLookedAtIt)
{
	Initiator initiator;

	machine.lio.settings.disk_ms = 5;
	initiator.session.login(Machine::login_options());
	for (u32 i = 0; i < 40; ++i) {
		/* The one before is still to be taken back when this comes. */
		machine.lio.settings.lock_ms = i % 2 ? 20 : 0;
		EXPECT_TRUE(initiator.session.scsi(
			{.cdb = {0, 0, 0, 0, 0, 0}}).good());
	}
	EXPECT_EQ(initiator.session.logout(), 0);
	EXPECT_EQ(machine.lio.looked_too_late, 0u);
}

TEST_F(Loopback, F28_WithoutATagAPduWaits)
{
	Initiator initiator;

	machine.lio.settings.tags = 3;
	initiator.session.login(Machine::login_options());

	CommandQueue queue(initiator.session, 8);
	unsigned good = 0;

	for (u32 i = 0; i < 40; ++i)
		queue.submit({.cdb = {0, 0, 0, 0, 0, 0}},
			     [&](const auto &result) {
				     good += result.good();
			     });
	queue.drain();
	EXPECT_EQ(good, 40u);
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* The others --------------------------------------------------------------- */

TEST_F(Loopback, ANopOutComesBack)
{
	Initiator initiator;
	const ByteVector data = {1, 2, 3, 4, 5};

	initiator.session.login(Machine::login_options());
	EXPECT_EQ(initiator.session.ping(data), data);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, F37_WhoAnswersPingsStays)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	initiator.session.ping({});
	EXPECT_THROW(initiator.session.receive(Milliseconds(30000)),
		     libiser::TimedOut);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, F37_WhoDoesNotAnswerPingsGoes)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	initiator.session.ping({});
	EXPECT_TRUE(initiator.session.connection().wait_closed(
		Milliseconds(30000)));
	machine.scheduler.settle();
	EXPECT_NE(host::take_log().find("the peer did not answer a ping"),
		  std::string::npos);
}

TEST_F(Loopback, APingMayBeAnsweredBeforeItIsKnownToBeSent)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	initiator.session.ping({});
	acknowledgements_are_late();
	EXPECT_THROW(initiator.session.receive(Milliseconds(30000)),
		     libiser::TimedOut);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, APartOfATextMayBeAskedForBeforeTheLastIsKnownToBeSent)
{
	Initiator initiator;

	machine.lio.settings.text_part = 20;
	initiator.session.login(Machine::login_options());
	acknowledgements_are_late();
	EXPECT_EQ(initiator.session.discover().size(), 1u);
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* It would be answered twice by one command, and freed twice. */
TEST_F(Loopback, ATextThatHasNotAnsweredIsNotAskedForMore)
{
	Initiator initiator;
	Session &session = initiator.session;

	session.login(Machine::login_options());
	session.ping({});
	acknowledgements_are_late();

	libiser::Pdu first = session.make(iser::IscsiOpcode::TextRequest);
	libiser::Pdu more = session.make(iser::IscsiOpcode::TextRequest);

	first.request().specific_20 = iser::reserved_tag;
	first.data = libiser::to_text({{"SendTargets", "All"}});
	more.request().itt = u32{first.request().itt};
	more.request().specific_20 = 7;
	session.send(first);
	session.send(more);
	EXPECT_EQ(session.receive_for(first.request().itt,
				      Milliseconds(1000)).opcode(),
		  iser::IscsiOpcode::TextResponse);
	EXPECT_TRUE(session.receive_reject(Milliseconds(1000)));
	EXPECT_EQ(session.logout(), 0);
}

TEST_F(Loopback, F25_AWriteThatWaitsForDataIsAborted)
{
	Initiator initiator;
	ByteVector out = pattern(8, 1);

	machine.lio.settings.initial_r2t = false;
	initiator.session.login(with_keys({{"InitialR2T", "No"}}));

	const Session::Tag tag =
		initiator.session.start({.cdb = write_10(0, 8), .out = out,
					 .immediate = 512,
					 .withhold_data_out = true});

	EXPECT_EQ(initiator.session.task_management(TaskManagement::AbortTask,
						    {}, tag), 0);
	initiator.session.forget(tag);
	write_and_read(initiator.session, 0, 8);
	EXPECT_EQ(machine.lio.aborts, 1u);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, AnAbortedCommandGivesItsPlaceInTheWindowBack)
{
	Initiator initiator;
	ByteVector out = pattern(8, 1);

	machine.lio.settings.initial_r2t = false;
	machine.lio.settings.command_window = 4;
	initiator.session.login(with_keys({{"InitialR2T", "No"}}));
	for (u32 aborts = 0; aborts < 6; ++aborts) {
		const Session::Tag tag = initiator.session.start(
			{.cdb = write_10(0, 8), .out = out, .immediate = 0,
			 .withhold_data_out = true,
			 .timeout = Milliseconds(1000)});

		EXPECT_EQ(initiator.session.task_management(
				  TaskManagement::AbortTask, {}, tag), 0);
		initiator.session.forget(tag);
	}
	write_and_read(initiator.session, 0, 8);
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* RFC 7143 11.2.1.8: a tag is free when its response is here. */
TEST_F(Loopback, ATagMayComeAgainBeforeItsResponseIsKnownToBeSent)
{
	Initiator initiator;
	Session &session = initiator.session;
	ByteVector out = pattern(2, 5);

	machine.lio.settings.initial_r2t = false;
	session.login(with_keys({{"InitialR2T", "No"},
				 {"FirstBurstLength", "1024"}}));
	EXPECT_TRUE(session.scsi({.cdb = {0, 0, 0, 0, 0, 0}}).good());
	acknowledgements_are_late();

	const Session::Tag tag = session.start({.cdb = {0, 0, 0, 0, 0, 0}});

	EXPECT_TRUE(session.finish(tag).good());

	/* The same once more, with data that comes in a PDU of its own. */
	libiser::Pdu command = session.make(iser::IscsiOpcode::ScsiCommand);
	libiser::Pdu data(iser::IscsiOpcode::DataOut);
	auto &scsi = command.head.bhs.as<iser::ScsiCommandPdu>();
	auto &data_out = data.head.bhs.as<iser::DataOutPdu>();
	const ByteVector cdb = write_10(0, 2);

	scsi.flags = iser::ScsiCommandPdu::write_bit;
	scsi.itt = data_out.itt = tag;
	scsi.expected_data_transfer_length = static_cast<u32>(out.size());
	std::copy(cdb.begin(), cdb.end(), scsi.cdb);
	data_out.flags = iser::Bhs::final_bit;
	data_out.ttt = iser::reserved_tag;
	data.data = out;
	session.send(command);
	session.connection().send(data.bytes());
	EXPECT_EQ(session.receive_for(tag, Milliseconds(1000)).opcode(),
		  iser::IscsiOpcode::ScsiResponse);
	EXPECT_EQ(session.logout(), 0);
}

TEST_F(Loopback, WhatHasEndedIsNotAborted)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());

	const Session::Tag tag =
		initiator.session.start({.cdb = {0, 0, 0, 0, 0, 0}});

	EXPECT_TRUE(initiator.session.finish(tag).good());
	EXPECT_EQ(initiator.session.task_management(TaskManagement::AbortTask,
						    {}, tag), 1);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, AResetEndsWhatIsUnderWay)
{
	Initiator initiator;
	ByteVector in(8 * Disk::block);

	initiator.session.login(Machine::login_options());
	for (u32 i = 0; i < 6; ++i)
		initiator.session.start({.cdb = read_10(0, 8), .in = in});
	EXPECT_EQ(initiator.session.task_management(
			  TaskManagement::LogicalUnitReset), 0);
	write_and_read(initiator.session, 0, 8);
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, F38_AnAsyncMessageIsWellFormed)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	EXPECT_TRUE(initiator.session.scsi({.cdb = {0, 0, 0, 0, 0, 0}}).good());
	ASSERT_TRUE(machine.lio.send_async(0));

	const libiser::Pdu pdu = initiator.session.receive(Milliseconds(1000));
	const auto &async = pdu.head.bhs.as<iser::AsyncMessagePdu>();

	EXPECT_EQ(pdu.opcode(), iser::IscsiOpcode::AsyncMessage);
	EXPECT_EQ(async.async_event, 2);
	EXPECT_EQ(async.all_ones, 0xffffffff);
	/* What follows is acknowledged in order. */
	EXPECT_TRUE(initiator.session.scsi({.cdb = {0, 0, 0, 0, 0, 0}}).good());
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, UnknownOpcodesAreRejected)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	initiator.session.send(initiator.session.make(
		iser::IscsiOpcode::SnackRequest, true));
	EXPECT_TRUE(initiator.session.receive_reject(Milliseconds(1000)));
	EXPECT_EQ(initiator.session.logout(), 0);
}

/* The end ------------------------------------------------------------------ */

/* The device flushes the queue pair while the handler of the request runs. */
TEST_F(Loopback, F19_WhoLeavesBeforeTheReplyHoldsUpNobody)
{
	Initiator hasty;
	Initiator initiator;

	hasty.session.connection().request();
	hasty.session.connection().disconnect();
	initiator.session.login(Machine::login_options());
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, F19_AQueuePairThatFailsBeforeTheReplyHoldsUpNobody)
{
	Initiator unlucky;
	Initiator initiator;

	machine.network.device.fails_at_once = true;
	EXPECT_THROW(unlucky.session.connection().connect(),
		     libiser::ConnectError);
	machine.network.device.fails_at_once = false;
	initiator.session.login(Machine::login_options());
	EXPECT_EQ(initiator.session.logout(), 0);
}

TEST_F(Loopback, WhoLeavesAfterTheReplyLeavesNothing)
{
	Initiator initiator;

	initiator.session.connection().request();
	EXPECT_TRUE(initiator.session.connection().await_reply(
		Milliseconds(1000)));
	initiator.session.connection().disconnect();
}

TEST_F(Loopback, WhoLeavesInTheLoginLeavesNothing)
{
	LoginOptions options = Machine::login_options();
	const ByteVector text =
		libiser::to_text(Session::identity_keys(options));

	/* With the first request on its way, and after each answer. */
	for (int answers = 0; answers < 3; ++answers) {
		Initiator initiator;

		initiator.session.connection().connect();
		for (int i = 0; i < answers; ++i)
			initiator.session.login_exchange(options, 0x04, text);
		initiator.session.connection().send(
			initiator.session.login_request(options, 0x04, text)
				.bytes());
		initiator.session.connection().disconnect();
	}
}

TEST_F(Loopback, WhoLeavesWithCommandsUnderWayLeavesNothing)
{
	ByteVector in(64 * Disk::block);
	ByteVector out = pattern(64, 7);

	for (u32 steps = 0; steps < 60; ++steps) {
		Initiator initiator;

		initiator.session.login(Machine::login_options());
		initiator.session.start({.cdb = read_10(0, 64), .in = in});
		initiator.session.start({.cdb = write_10(64, 64), .out = out});
		/* A moment later each time. */
		for (u32 i = 0; i < steps; ++i)
			machine.scheduler.wait("a step", [] { return true; });
		initiator.session.connection().disconnect();
	}
}

TEST_F(Loopback, AnAdministratorEndsASession)
{
	Initiator initiator;

	initiator.session.login(Machine::login_options());
	machine.lio.stop_session(0);
	EXPECT_TRUE(initiator.session.connection().wait_closed(
		Milliseconds(1000)));
}

/* RFC 7143 6.3.5 */
TEST_F(Loopback, WhoLogsInAgainEndsHisSessionBefore)
{
	Initiator before;
	Initiator after;
	ByteVector in(64 * Disk::block);

	before.session.login(Machine::login_options());
	before.session.start({.cdb = read_10(0, 64), .in = in});
	after.session.login(Machine::login_options());
	EXPECT_TRUE(before.session.connection().wait_closed(Milliseconds(0)));
	write_and_read(after.session, 0, 8);
	EXPECT_EQ(after.session.logout(), 0);
}

/*
 * LIO ends the session before while nobody else can log in, so that must not
 * wait for a CM that has lost count of an id.
 */
TEST_F(Loopback, ACmThatKeepsAnIdKeepsNobodyFromLoggingIn)
{
	Initiator before;
	Initiator after;

	before.session.login(Machine::login_options());
	machine.network.ids_kept = true;
	after.session.login(Machine::login_options());
	write_and_read(after.session, 0, 8);
	EXPECT_EQ(after.session.logout(), 0);
	machine.network.ids_kept = false;
}

class ListenerMoves : public Loopback,
		      public ::testing::WithParamInterface<Network::Failure> {
};

/* F-13, F-15: sessions stay, and others may log in soon. */
TEST_P(ListenerMoves, AndListensAgain)
{
	Initiator before;
	Initiator after;

	before.session.login(Machine::login_options());
	machine.network.disturb_listeners(GetParam());
	EXPECT_THROW(before.session.receive(Milliseconds(1000)),
		     libiser::TimedOut);
	EXPECT_NE(host::take_log().find("listening again"), std::string::npos);
	after.session.already_connected();
	after.session.connection().connect();
	EXPECT_EQ(before.session.logout(), 0);
}

INSTANTIATE_TEST_SUITE_P(Loopback, ListenerMoves,
			 ::testing::Values(Network::Failure::AddressChanged,
					   Network::Failure::Removed));

class DeviceFails : public Loopback,
		    public ::testing::WithParamInterface<Network::Failure> {
};

TEST_P(DeviceFails, EndsTheConnectionAndLeavesNothing)
{
	Initiator initiator;
	ByteVector in(64 * Disk::block);

	initiator.session.login(Machine::login_options());
	initiator.session.start({.cdb = read_10(0, 64), .in = in});
	machine.network.fail(*initiator.link(), GetParam());
	EXPECT_TRUE(initiator.session.connection().wait_closed(
		Milliseconds(5000)));
}

INSTANTIATE_TEST_SUITE_P(Loopback, DeviceFails,
			 ::testing::Values(Network::Failure::QueuePair,
					   Network::Failure::AddressChanged,
					   Network::Failure::Removed));

} // namespace
