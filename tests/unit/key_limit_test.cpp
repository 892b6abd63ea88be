// SPDX-License-Identifier: GPL-2.0
#include "iser/key_limit.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace iser {
namespace {

std::string limited(std::string text, u32 limit)
{
	const size_t length = limit_number(
		{reinterpret_cast<u8 *>(text.data()), text.size()},
		text.size(), "TargetRecvDataSegmentLength", limit);

	return text.substr(0, length);
}

const std::string nul(1, '\0');

/* RFC 7145 6.4: the result is the smaller of both ends' values. */
TEST(KeyLimit, LowersAnOfferAboveTheLimit)
{
	EXPECT_EQ(limited("A=1" + nul + "TargetRecvDataSegmentLength=262144" +
				  nul + "RDMAExtensions=Yes" + nul, 4096),
		  "A=1" + nul + "TargetRecvDataSegmentLength=4096" + nul +
			  "RDMAExtensions=Yes" + nul);
}

TEST(KeyLimit, LeavesAnOfferAtOrBelowTheLimit)
{
	const std::string at = "TargetRecvDataSegmentLength=4096" + nul;
	const std::string below = "TargetRecvDataSegmentLength=512" + nul;

	EXPECT_EQ(limited(at, 4096), at);
	EXPECT_EQ(limited(below, 4096), below);
}

TEST(KeyLimit, ReadsHexadecimal)
{
	EXPECT_EQ(limited("TargetRecvDataSegmentLength=0x40000" + nul + "B=2" +
				  nul, 4096),
		  "TargetRecvDataSegmentLength=4096" + nul + "B=2" + nul);
}

TEST(KeyLimit, LeavesOtherKeysAndWhatIsNoNumber)
{
	for (const std::string &text :
	     {"InitiatorRecvDataSegmentLength=262144" + nul,
	      "XTargetRecvDataSegmentLength=262144" + nul,
	      "TargetRecvDataSegmentLength=many" + nul,
	      "TargetRecvDataSegmentLength=99999999999999" + nul,
	      std::string("=4" + nul + "TargetRecvDataSegmentLength=9999")})
		EXPECT_EQ(limited(text, 4096), text);
}

TEST(KeyLimit, WorksWithoutTheLastNul)
{
	EXPECT_EQ(limited("TargetRecvDataSegmentLength=9999", 4096),
		  "TargetRecvDataSegmentLength=4096");
}

} // namespace
} // namespace iser
