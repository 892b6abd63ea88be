// SPDX-License-Identifier: GPL-2.0
#include "iser/login_keys.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/bytes.h"

namespace iser {
namespace {

using namespace std::string_view_literals;
using test::Buffer;
using test::str;

class LoginKeysTest : public testing::Test {
protected:
	/* One pair a call, as C text. */
	void request(const std::string &pair)
	{
		keys_.note_request(Buffer(pair + '\0'));
	}
	void response(const std::string &pair)
	{
		keys_.note_response(Buffer(pair + '\0'));
	}

	LoginKeys keys_;
};

/* The numbers: one function of LoginKeys each. */
struct NumberKey {
	const char *name;
	u32 (LoginKeys::*result)() const;
	u32 default_value;
	u32 min;
	u32 max;
};

class NumberKeyTest : public testing::TestWithParam<NumberKey> {
protected:
	u32 result() const { return (keys_.*GetParam().result)(); }
	void request(const std::string &value)
	{
		keys_.note_request(Buffer(
			std::string(GetParam().name) + "=" + value + '\0'));
	}
	void response(const std::string &value)
	{
		keys_.note_response(Buffer(
			std::string(GetParam().name) + "=" + value + '\0'));
	}

	LoginKeys keys_;
};

INSTANTIATE_TEST_SUITE_P(
	Keys, NumberKeyTest,
	testing::Values(
		NumberKey{"FirstBurstLength", &LoginKeys::first_burst_length,
			  65536, 512, 262144},
		NumberKey{"MaxBurstLength", &LoginKeys::max_burst_length,
			  262144, 512, 16777215},
		NumberKey{"MaxOutstandingR2T", &LoginKeys::max_outstanding_r2t,
			  1, 1, 65535},
		NumberKey{"ErrorRecoveryLevel",
			  &LoginKeys::error_recovery_level, 0, 0, 2},
		NumberKey{"TargetRecvDataSegmentLength",
			  &LoginKeys::target_recv_data_segment_length,
			  8192, 512, 16777215},
		NumberKey{"InitiatorRecvDataSegmentLength",
			  &LoginKeys::initiator_recv_data_segment_length,
			  8192, 512, 16777215}),
	[](const auto &info) { return std::string(info.param.name); });

TEST_P(NumberKeyTest, DefaultWhileNobodySpoke)
{
	EXPECT_EQ(result(), GetParam().default_value);
}

TEST_P(NumberKeyTest, K03_OfferAloneConcludesNothing)
{
	request(std::to_string(GetParam().max));
	EXPECT_EQ(result(), GetParam().default_value);
}

TEST_P(NumberKeyTest, SmallerOneWinsWhoeverOffers)
{
	u32 min = GetParam().min, max = GetParam().max;

	request(std::to_string(max));
	response(std::to_string(min));
	EXPECT_EQ(result(), min);
	keys_ = {};
	response(std::to_string(min));
	request(std::to_string(max));
	EXPECT_EQ(result(), min);
	keys_ = {};
	request(std::to_string(min));
	response(std::to_string(max));
	EXPECT_EQ(result(), min);
}

TEST_P(NumberKeyTest, LargestLegalValueIsTaken)
{
	request(std::to_string(GetParam().max));
	response(std::to_string(GetParam().max));
	EXPECT_EQ(result(), GetParam().max);
}

TEST_P(NumberKeyTest, K07_AfterARejectTheDefaultStays)
{
	for (const char *answer : {"Reject", "Irrelevant", "NotUnderstood"}) {
		keys_ = {};
		request(std::to_string(GetParam().max));
		response(answer);
		EXPECT_EQ(result(), GetParam().default_value) << answer;
		keys_ = {};
		response(std::to_string(GetParam().max));
		request(answer);
		EXPECT_EQ(result(), GetParam().default_value) << answer;
	}
}

TEST_P(NumberKeyTest, IllegalAnswerIsIgnored)
{
	request(std::to_string(GetParam().max));
	response("16777216");
	EXPECT_EQ(result(), GetParam().default_value);
	response("x");
	EXPECT_EQ(result(), GetParam().default_value);
}

TEST_P(NumberKeyTest, AnswerStandsWhereTheOfferWasIllegible)
{
	request("010000");
	response(std::to_string(GetParam().min));
	EXPECT_EQ(result(), GetParam().min);
}

TEST_F(LoginKeysTest, NumbersBelowTheirRangeAreIgnored)
{
	request("TargetRecvDataSegmentLength=511");
	response("TargetRecvDataSegmentLength=511");
	EXPECT_EQ(keys_.target_recv_data_segment_length(), 8192u);
	request("MaxOutstandingR2T=0");
	response("MaxOutstandingR2T=0");
	EXPECT_EQ(keys_.max_outstanding_r2t(), 1u);
	request("ErrorRecoveryLevel=3");
	response("ErrorRecoveryLevel=3");
	EXPECT_EQ(keys_.error_recovery_level(), 0u);
}

TEST_F(LoginKeysTest, FirstBurstNeverExceedsMaxBurst)
{
	request("MaxBurstLength=4096");
	response("MaxBurstLength=4096");
	EXPECT_EQ(keys_.first_burst_length(), 4096u);
}

TEST_F(LoginKeysTest, B004_RdmaExtensionsNeedsBothEnds)
{
	EXPECT_FALSE(keys_.rdma_extensions());
	request("RDMAExtensions=Yes");
	EXPECT_FALSE(keys_.rdma_extensions());
	response("RDMAExtensions=Yes");
	EXPECT_TRUE(keys_.rdma_extensions());
}

TEST_F(LoginKeysTest, T022_TargetMayOfferRdmaExtensions)
{
	response("RDMAExtensions=Yes");
	EXPECT_FALSE(keys_.rdma_extensions());
	request("RDMAExtensions=Yes");
	EXPECT_TRUE(keys_.rdma_extensions());
}

TEST_F(LoginKeysTest, B005_ASingleNoKillsRdmaExtensions)
{
	request("RDMAExtensions=Yes");
	response("RDMAExtensions=No");
	EXPECT_FALSE(keys_.rdma_extensions());
	keys_ = {};
	request("RDMAExtensions=No");
	response("RDMAExtensions=Yes");
	EXPECT_FALSE(keys_.rdma_extensions());
}

TEST_F(LoginKeysTest, RdmaExtensionsIsOnlyExactlyYes)
{
	for (const char *value : {"yes", "1", "", "Yes,No", "Irrelevant"}) {
		keys_ = {};
		request(std::string("RDMAExtensions=") + value);
		response("RDMAExtensions=Yes");
		EXPECT_FALSE(keys_.rdma_extensions()) << value;
		keys_ = {};
		request("RDMAExtensions=Yes");
		response(std::string("RDMAExtensions=") + value);
		EXPECT_FALSE(keys_.rdma_extensions()) << value;
	}
}

TEST_F(LoginKeysTest, ImmediateDataIsAnd)
{
	EXPECT_TRUE(keys_.immediate_data());
	request("ImmediateData=Yes");
	response("ImmediateData=No");
	EXPECT_FALSE(keys_.immediate_data());
	response("ImmediateData=Yes");
	EXPECT_TRUE(keys_.immediate_data());
}

TEST_F(LoginKeysTest, K03_NoToImmediateDataNeedsNoAnswer)
{
	request("ImmediateData=No");
	EXPECT_FALSE(keys_.immediate_data());
}

TEST_F(LoginKeysTest, InitialR2tIsOr)
{
	EXPECT_TRUE(keys_.initial_r2t());
	request("InitialR2T=No");
	EXPECT_TRUE(keys_.initial_r2t());
	response("InitialR2T=Yes");
	EXPECT_TRUE(keys_.initial_r2t());
	response("InitialR2T=No");
	EXPECT_FALSE(keys_.initial_r2t());
	request("InitialR2T=Yes");
	EXPECT_TRUE(keys_.initial_r2t());
}

TEST_F(LoginKeysTest, SessionIsNormalUnlessDiscoveryIsDeclared)
{
	EXPECT_FALSE(keys_.discovery());
	request("SessionType=Normal");
	EXPECT_FALSE(keys_.discovery());
	request("SessionType=Discovery");
	EXPECT_TRUE(keys_.discovery());
	keys_ = {};
	response("SessionType=Discovery");
	EXPECT_FALSE(keys_.discovery());
}

TEST_F(LoginKeysTest, MaxRecvDataSegmentLengthIsTheInitiators)
{
	EXPECT_EQ(keys_.max_recv_data_segment_length(), 8192u);
	request("MaxRecvDataSegmentLength=65536");
	response("MaxRecvDataSegmentLength=1024");
	EXPECT_EQ(keys_.max_recv_data_segment_length(), 65536u);
	request("MaxRecvDataSegmentLength=511");
	request("MaxRecvDataSegmentLength=16777216");
	request("MaxRecvDataSegmentLength=x");
	EXPECT_EQ(keys_.max_recv_data_segment_length(), 65536u);
}

TEST_F(LoginKeysTest, N018_TaggedBufferForSolicitedDataOnlyIsDeclared)
{
	auto declared = [this] {
		return keys_.tagged_buffer_for_solicited_data_only();
	};

	EXPECT_EQ(declared(), Declared::Silent);
	request("TaggedBufferForSolicitedDataOnly=maybe");
	EXPECT_EQ(declared(), Declared::Silent);
	response("TaggedBufferForSolicitedDataOnly=Yes");
	EXPECT_EQ(declared(), Declared::Silent);
	request("TaggedBufferForSolicitedDataOnly=Yes");
	EXPECT_EQ(declared(), Declared::Yes);
	request("TaggedBufferForSolicitedDataOnly=No");
	EXPECT_EQ(declared(), Declared::No);
}

TEST_F(LoginKeysTest, N019_HelloRequiredIsDeclared)
{
	EXPECT_EQ(keys_.iser_hello_required(), Declared::Silent);
	request("iSERHelloRequired=Yes");
	EXPECT_EQ(keys_.iser_hello_required(), Declared::Yes);
	request("iSERHelloRequired=No");
	EXPECT_EQ(keys_.iser_hello_required(), Declared::No);
	EXPECT_FALSE(keys_.illegal_declaration());
}

TEST_F(LoginKeysTest, N015_UnexpectedPdusAreDeclared)
{
	EXPECT_FALSE(keys_.declares_max_outstanding_unexpected_pdus());
	request("MaxOutstandingUnexpectedPDUs=7");
	EXPECT_TRUE(keys_.declares_max_outstanding_unexpected_pdus());
	EXPECT_EQ(keys_.max_outstanding_unexpected_pdus(), 7u);
	EXPECT_FALSE(keys_.illegal_declaration());
}

TEST_F(LoginKeysTest, K06_IllegalDeclarationsAreNoticed)
{
	for (const char *pair : {"MaxOutstandingUnexpectedPDUs=1",
				 "MaxOutstandingUnexpectedPDUs=4294967296",
				 "MaxOutstandingUnexpectedPDUs=many",
				 "MaxAHSLength=1", "MaxAHSLength=x",
				 "iSERHelloRequired=yes",
				 "TaggedBufferForSolicitedDataOnly=1"}) {
		LoginKeys keys;

		keys.note_request(Buffer(std::string(pair) + '\0'));
		EXPECT_TRUE(keys.illegal_declaration()) << pair;
	}
	for (const char *pair : {"MaxOutstandingUnexpectedPDUs=0",
				 "MaxOutstandingUnexpectedPDUs=2",
				 "MaxOutstandingUnexpectedPDUs=4294967295",
				 "MaxAHSLength=0", "MaxAHSLength=1020"}) {
		LoginKeys keys;

		keys.note_request(Buffer(std::string(pair) + '\0'));
		EXPECT_FALSE(keys.illegal_declaration()) << pair;
	}
}

TEST_F(LoginKeysTest, K08_NotUnderstoodForbidsTheSolicitedOnlyLayout)
{
	request("TaggedBufferForSolicitedDataOnly=Yes");
	response("TaggedBufferForSolicitedDataOnly=NotUnderstood");
	EXPECT_EQ(keys_.tagged_buffer_for_solicited_data_only(),
		  Declared::No);
}

TEST_F(LoginKeysTest, NamesOutliveTheTextTheyCameIn)
{
	{
		Buffer text("InitiatorName=iqn.a:b\0TargetName=iqn.t\0"sv);

		keys_.note_request(text);
	}
	EXPECT_EQ(str(keys_.initiator_name()), "iqn.a:b");
	EXPECT_EQ(str(keys_.target_name()), "iqn.t");
}

TEST_F(LoginKeysTest, NamesHaveAtMost223Bytes)
{
	request("InitiatorName=" + std::string(223, 'n'));
	EXPECT_EQ(keys_.initiator_name().size(), 223u);
	keys_ = {};
	request("InitiatorName=" + std::string(224, 'n'));
	EXPECT_TRUE(keys_.initiator_name().empty());
	request("TargetName=" + std::string(8000, 'n'));
	EXPECT_TRUE(keys_.target_name().empty());
}

TEST_F(LoginKeysTest, NamesCannotForgeALogLine)
{
	for (const char *name : {"iqn.a\nlio_iser: all is well", "iqn.a\x1b[2J",
				 "iqn.a b", "iqn.a\x7f", "\t"}) {
		request(std::string("InitiatorName=") + name);
		EXPECT_TRUE(keys_.initiator_name().empty()) << name;
	}
	request("InitiatorName=iqn.\xc3\xa4");
	EXPECT_EQ(str(keys_.initiator_name()), "iqn.\xc3\xa4");
}

TEST_F(LoginKeysTest, NamesInResponsesAreNotThePeers)
{
	response("InitiatorName=iqn.x");
	EXPECT_TRUE(keys_.initiator_name().empty());
}

TEST_F(LoginKeysTest, NothingIsReadBehindAMalformedPair)
{
	keys_.note_request(Buffer("\0SessionType=Discovery\0"sv));
	EXPECT_FALSE(keys_.discovery());
}

TEST_F(LoginKeysTest, F35_OQ34_DialogueWithOpenIscsi)
{
	keys_.note_request(Buffer(
		"InitiatorName=iqn.1993-08.org.debian:01:abc\0"
		"InitiatorAlias=host\0"
		"TargetName=iqn.2003-01.org.linux-iscsi.host:disk\0"
		"SessionType=Normal\0"sv));
	keys_.note_response(Buffer("TargetPortalGroupTag=1\0"sv));
	/* RDMAExtensions comes last, behind the keys that depend on it. */
	keys_.note_request(Buffer(
		"DefaultTime2Wait=2\0DefaultTime2Retain=0\0"
		"IFMarker=No\0OFMarker=No\0ErrorRecoveryLevel=0\0"
		"InitialR2T=No\0ImmediateData=Yes\0"
		"MaxBurstLength=16776192\0FirstBurstLength=262144\0"
		"MaxOutstandingR2T=1\0MaxConnections=1\0"
		"DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0"
		"InitiatorRecvDataSegmentLength=262144\0"
		"TargetRecvDataSegmentLength=262144\0"
		"RDMAExtensions=Yes\0"sv));
	keys_.note_response(Buffer(
		"DefaultTime2Wait=2\0DefaultTime2Retain=0\0"
		"IFMarker=No\0OFMarker=No\0ErrorRecoveryLevel=0\0"
		"InitialR2T=Yes\0ImmediateData=Yes\0"
		"MaxBurstLength=262144\0FirstBurstLength=65536\0"
		"MaxOutstandingR2T=1\0MaxConnections=1\0"
		"DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0"
		"InitiatorRecvDataSegmentLength=262144\0"
		"TargetRecvDataSegmentLength=8192\0"
		"RDMAExtensions=Yes\0"sv));

	EXPECT_TRUE(keys_.rdma_extensions());
	EXPECT_FALSE(keys_.discovery());
	EXPECT_TRUE(keys_.immediate_data());
	EXPECT_TRUE(keys_.initial_r2t());
	EXPECT_EQ(keys_.first_burst_length(), 65536u);
	EXPECT_EQ(keys_.max_burst_length(), 262144u);
	EXPECT_EQ(keys_.max_outstanding_r2t(), 1u);
	EXPECT_EQ(keys_.error_recovery_level(), 0u);
	EXPECT_EQ(keys_.target_recv_data_segment_length(), 8192u);
	EXPECT_EQ(keys_.initiator_recv_data_segment_length(), 262144u);
	EXPECT_EQ(keys_.tagged_buffer_for_solicited_data_only(),
		  Declared::Silent);
	EXPECT_EQ(str(keys_.initiator_name()),
		  "iqn.1993-08.org.debian:01:abc");
}

} // namespace
} // namespace iser
