// SPDX-License-Identifier: GPL-2.0
/* What the abuse sends, without a target to send it to. */
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "grammar.h"
#include "harmless.h"
#include "iser/message.h"
#include "mutation.h"
#include "text_grammar.h"

namespace iserverify {

using libiser::to_text;

namespace {

constexpr PduKind pdus[] = {
	PduKind::NopOut, PduKind::Read, PduKind::Write,
	PduKind::TaskManagement, PduKind::Login, PduKind::Text,
	PduKind::DataOut, PduKind::Logout, PduKind::Snack,
};

Surroundings surroundings(bool may_write)
{
	Surroundings around;

	around.read_stag = 0x1234;
	around.write_stag = 0x4321;
	around.first_block = 2048;
	around.blocks = 63488;
	around.may_write = may_write;
	around.initial_r2t = false;
	return around;
}

Harmless harmless(bool may_write)
{
	Harmless harmless;

	harmless.may_write = may_write;
	harmless.first_block = 2048;
	harmless.end_block = 65536;
	harmless.innocent_isid = {0x80, 1, 2, 0, 0, 1};
	return harmless;
}

Message mutated(Surroundings &around, Random &random, unsigned families)
{
	Message message = legal_message(random.pick(pdus), around, random);
	const std::uint32_t changes = random.between(1, 4);

	for (std::uint32_t i = 0; i < changes; ++i)
		message.name += "; " + mutate(message, families, around,
					      random);
	/* So that a vector of tags does not grow for ever. */
	around.tags.resize(std::min<std::size_t>(around.tags.size(), 8));
	return message;
}

const iser::ScsiCommandPdu *command_in(const Message &message)
{
	if (message.bytes.size() < sizeof(iser::MessageHead))
		return nullptr;

	const auto &head = *reinterpret_cast<const iser::MessageHead *>(
		message.bytes.data());

	return head.bhs.opcode() == iser::IscsiOpcode::ScsiCommand ?
		&head.bhs.as<iser::ScsiCommandPdu>() : nullptr;
}

/* SPC-4 and SBC-3: they change the medium, or what others may do with it. */
const std::set<unsigned> changing = {
	0x04, 0x07, 0x0a, 0x15, 0x16, 0x17, 0x1b, 0x1d, 0x1e, 0x2a, 0x2e, 0x2f,
	0x3b, 0x3d, 0x3f, 0x41, 0x42, 0x48, 0x4c, 0x50, 0x51, 0x53, 0x54, 0x55,
	0x56, 0x57, 0x5f, 0x83, 0x85, 0x89, 0x8a, 0x8e, 0x92, 0x93, 0x95, 0x9a,
	0x9b, 0x9d, 0x9f, 0xa1, 0xa4, 0xaa, 0xae, 0xaf,
};

bool changes_something(const iser::ScsiCommandPdu &command)
{
	/* READ(32) is the only one of variable length that may pass. */
	if (command.cdb[0] == 0x7f)
		return command.cdb[8] != 0 || command.cdb[9] != 0x09;
	return command.write() || changing.contains(command.cdb[0]);
}

TEST(Grammar, LegalMessagesAreLegal)
{
	Random random(1);
	Surroundings around = surroundings(true);

	for (int i = 0; i < 20000; ++i) {
		const Message message = legal_message(random.pick(pdus),
						      around, random);
		const auto &head = *reinterpret_cast<
			const iser::MessageHead *>(message.bytes.data());
		const iser::MessageCheck check = iser::check_message(
			head, static_cast<u32>(message.bytes.size()),
			{256, around.data_segment});

		ASSERT_TRUE(check.ok()) << message.name << ": "
					<< iser::text(check.cause);
		ASSERT_TRUE(harmless(true).allows(message.bytes) ||
			    head.bhs.opcode() ==
				    iser::IscsiOpcode::LoginRequest)
			<< message.name;
	}
}

TEST(Grammar, FieldsLieWithinTheHeader)
{
	for (PduKind kind : pdus)
		for (const Field &field : fields_of(kind))
			EXPECT_LE(field.at + field.size,
				  iser::message_head_size) << field.name;
	for (const Field &field : fields_of(PduKind::Hello))
		EXPECT_LE(field.at + field.size, 28) << field.name;
}

TEST(Mutation, TheSameSeedMakesTheSameMessages)
{
	for (std::uint32_t number = 0; number < 500; ++number) {
		Random one = Random::of_case(42, number);
		Random two = Random::of_case(42, number);
		Surroundings here = surroundings(true);
		Surroundings there = surroundings(true);

		for (int i = 0; i < 10; ++i) {
			const Message first = mutated(here, one, of_all);
			const Message second = mutated(there, two, of_all);

			ASSERT_EQ(first.bytes, second.bytes);
			ASSERT_EQ(first.name, second.name);
			ASSERT_EQ(first.invalidate, second.invalidate);
		}
	}
}

TEST(Mutation, AnotherCaseMakesOtherMessages)
{
	std::set<ByteVector> seen;

	for (std::uint32_t number = 0; number < 500; ++number) {
		Random random = Random::of_case(42, number);
		Surroundings around = surroundings(true);

		seen.insert(mutated(around, random, of_all).bytes);
	}
	EXPECT_GE(seen.size(), 480u);
}

/* A family that changes nothing would be a test of nothing. */
TEST(Mutation, EachFamilyChangesMessages)
{
	for (unsigned family : {of_lengths, of_tags, of_stags, of_numbers,
				of_bytes, of_cdbs}) {
		int changed = 0;

		for (std::uint32_t number = 0; number < 400; ++number) {
			Random random = Random::of_case(family, number);
			Surroundings around = surroundings(true);
			Message message = legal_message(random.pick(pdus),
							around, random);
			const Message before = message;

			mutate(message, family, around, random);
			changed += message.bytes != before.bytes ||
				   message.opcode != before.opcode;
		}
		EXPECT_GE(changed, 300) << "family " << family;
	}
}

TEST(Harmless, NothingThatChangesTheDiskPassesWithoutWrite)
{
	Random random(3);
	Surroundings around = surroundings(false);
	const Harmless judge = harmless(false);
	unsigned commands = 0;
	unsigned held_back = 0;

	for (int i = 0; i < 300000; ++i) {
		const Message message = mutated(around, random, of_all);
		const iser::ScsiCommandPdu *command = command_in(message);

		if (!command)
			continue;
		++commands;
		if (!judge.allows(message.bytes))
			++held_back;
		else
			ASSERT_FALSE(changes_something(*command))
				<< message.name;
	}
	EXPECT_GE(commands, 10000u);
	EXPECT_GE(held_back, 1000u);
}

TEST(Harmless, WritesStayWithinTheirRange)
{
	Random random(4);
	Surroundings around = surroundings(true);
	const Harmless judge = harmless(true);
	unsigned writes = 0;

	for (int i = 0; i < 300000; ++i) {
		const Message message = mutated(around, random,
						of_cdbs | of_bytes | of_tags);
		const iser::ScsiCommandPdu *command = command_in(message);

		if (!command || !changes_something(*command) ||
		    !judge.allows(message.bytes))
			continue;
		++writes;

		const unsigned operation = command->cdb[0];
		const Field lba = {"", static_cast<std::uint16_t>(62),
				   static_cast<std::uint16_t>(
					   operation >> 4 == 8 ? 8 : 4),
				   Meaning::Cdb};

		ASSERT_TRUE(command->write());
		ASSERT_GE(message.value(lba), 2048u);
		ASSERT_LE(message.value(lba), 65536u);
		ASSERT_EQ(command->lun[1], 0);
	}
	EXPECT_GE(writes, 5000u);
}

TEST(Harmless, OthersAreNotResetAndNotReplaced)
{
	libiser::Pdu reset(iser::IscsiOpcode::TaskManagementRequest);
	libiser::Pdu login(iser::IscsiOpcode::LoginRequest);
	const Harmless judge = harmless(true);

	for (unsigned function = 1; function <= 8; ++function) {
		reset.head.bhs.flags = static_cast<u8>(0x80 | function);
		EXPECT_EQ(judge.allows(reset.bytes()),
			  function != 6 && function != 7);
	}
	EXPECT_TRUE(judge.allows(login.bytes()));
	std::copy_n(judge.innocent_isid.begin(), 6, login.head.bhs.lun);
	EXPECT_FALSE(judge.allows(login.bytes()));
}

TEST(Text, LegalLoginsEndInFullFeaturePhase)
{
	libiser::LoginOptions options;

	options.target_name = "iqn.2003-01.org.lio-iser:disk";
	for (std::uint32_t number = 0; number < 2000; ++number) {
		Random random = Random::of_case(5, number);
		const LoginPlan plan = legal_login(options, random);
		ByteVector chain;

		ASSERT_FALSE(plan.steps.empty());
		EXPECT_EQ(plan.steps.back().flags, 0x87);
		for (const LoginStep &step : plan.steps) {
			chain.insert(chain.end(), step.text.begin(),
				     step.text.end());
			if (step.flags & 0x40) {
				EXPECT_FALSE(step.flags & 0x80);
				continue;
			}
			EXPECT_FALSE(libiser::from_text(chain).empty());
			chain.clear();
		}
		EXPECT_TRUE(chain.empty());
	}
}

TEST(Text, MutationsChangeTheText)
{
	const ByteVector legal = libiser::to_text({{"InitialR2T", "Yes"},
					  {"MaxBurstLength", "262144"},
					  {"TargetName", "iqn.x:y"}});
	int changed = 0;

	for (std::uint32_t number = 0; number < 1000; ++number) {
		Random random = Random::of_case(6, number);
		ByteVector text = legal;

		mutate_text(text, random);
		changed += text != legal;
		EXPECT_LE(text.size(), legal.size() + 9000);
	}
	EXPECT_GE(changed, 850);
}

} // namespace

} // namespace iserverify
