// SPDX-License-Identifier: GPL-2.0
#include "fuzz/fuzz.h"
#include "iser/message.h"

using namespace iser;

namespace {

/* A second walk, by recursion, to hold the first one against. */
struct Walk {
	bool well_formed = true;
	u32 cdbs = 0;
	u32 bidirectional = 0;
	u32 segments = 0;
	size_t cdb_at = 0;

	void over(const std::vector<u8> &ahs, size_t at)
	{
		if (at == ahs.size())
			return;
		if (at + 3 > ahs.size()) {
			well_formed = false;
			return;
		}

		size_t length = ahs[at] * 256u + ahs[at + 1];
		size_t next = at + (length + 3 + 3) / 4 * 4;
		u32 type = ahs[at + 2] % 64;

		if (length == 0 || next > ahs.size() ||
		    (type == 1 && (length < 2 || cdbs)) ||
		    (type == 2 && (length != 5 || bidirectional))) {
			well_formed = false;
			return;
		}
		++segments;
		cdbs += type == 1;
		bidirectional += type == 2;
		if (type == 1)
			cdb_at = at;
		over(ahs, next);
	}
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::vector<u8> ahs = fuzz::Input(data, size).bytes(1020);
	AhsCheck check = check_ahs(fuzz::view(ahs));
	Walk walk;

	walk.over(ahs, 0);
	CHECK((check.kind == AhsKind::Malformed) == !walk.well_formed);
	if (!walk.well_formed)
		return 0;
	CHECK((check.kind == AhsKind::None) == ahs.empty());
	CHECK((check.kind == AhsKind::ExtendedCdb) ==
	      (walk.segments == 1 && walk.cdbs == 1));
	if (check.kind != AhsKind::ExtendedCdb)
		return 0;

	ExtendedCdb cdb = check.extended_cdb;

	CHECK(cdb.length > 0 && cdb.offset + cdb.length <= ahs.size());
	/* LIO copies so many bytes from there, whatever we say. */
	CHECK(cdb.offset == walk.cdb_at + 4 && walk.cdb_at == 0);
	CHECK(cdb.length == ahs[0] * 256u + ahs[1] - 1);
	return 0;
}
