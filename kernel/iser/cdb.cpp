// SPDX-License-Identifier: GPL-2.0
#include "iser/cdb.h"

namespace iser {
namespace {

/* SBC-3 and SPC-4; operations whose data goes one way in every form. */
constexpr struct {
	u8 operation_code;
	CdbDirection direction;
} directions[] = {
	{0x00, CdbDirection::None},	/* TEST UNIT READY */
	{0x03, CdbDirection::In},	/* REQUEST SENSE */
	{0x08, CdbDirection::In},	/* READ (6) */
	{0x0a, CdbDirection::Out},	/* WRITE (6) */
	{0x12, CdbDirection::In},	/* INQUIRY */
	{0x15, CdbDirection::Out},	/* MODE SELECT (6) */
	{0x1a, CdbDirection::In},	/* MODE SENSE (6) */
	{0x1b, CdbDirection::None},	/* START STOP UNIT */
	{0x25, CdbDirection::In},	/* READ CAPACITY (10) */
	{0x28, CdbDirection::In},	/* READ (10) */
	{0x2a, CdbDirection::Out},	/* WRITE (10) */
	{0x2e, CdbDirection::Out},	/* WRITE AND VERIFY (10) */
	{0x35, CdbDirection::None},	/* SYNCHRONIZE CACHE (10) */
	{0x3b, CdbDirection::Out},	/* WRITE BUFFER */
	{0x3c, CdbDirection::In},	/* READ BUFFER (10) */
	{0x41, CdbDirection::Out},	/* WRITE SAME (10) */
	{0x42, CdbDirection::Out},	/* UNMAP */
	{0x55, CdbDirection::Out},	/* MODE SELECT (10) */
	{0x5a, CdbDirection::In},	/* MODE SENSE (10) */
	{0x5e, CdbDirection::In},	/* PERSISTENT RESERVE IN */
	{0x5f, CdbDirection::Out},	/* PERSISTENT RESERVE OUT */
	{0x88, CdbDirection::In},	/* READ (16) */
	{0x89, CdbDirection::Out},	/* COMPARE AND WRITE */
	{0x8a, CdbDirection::Out},	/* WRITE (16) */
	{0x8e, CdbDirection::Out},	/* WRITE AND VERIFY (16) */
	{0x91, CdbDirection::None},	/* SYNCHRONIZE CACHE (16) */
	{0x93, CdbDirection::Out},	/* WRITE SAME (16) */
	{0x9e, CdbDirection::In},	/* SERVICE ACTION IN (16) */
	{0xa0, CdbDirection::In},	/* REPORT LUNS */
	{0xa8, CdbDirection::In},	/* READ (12) */
	{0xaa, CdbDirection::Out},	/* WRITE (12) */
	{0xae, CdbDirection::Out},	/* WRITE AND VERIFY (12) */
};

struct DirectionTable {
	CdbDirection at[256];
};

/* Each command looks it up. */
constexpr DirectionTable make_direction_table()
{
	DirectionTable table = {};

	for (CdbDirection &direction : table.at)
		direction = CdbDirection::Unknown;
	for (const auto &entry : directions)
		table.at[entry.operation_code] = entry.direction;
	return table;
}

constexpr DirectionTable by_operation_code = make_direction_table();

} // namespace

CdbDirection cdb_direction(u8 operation_code)
{
	return by_operation_code.at[operation_code];
}

bool flags_contradict_cdb(const ScsiCommandPdu &command)
{
	/* Without data it does not matter which way it would go. */
	if (command.expected_data_transfer_length == 0)
		return false;
	switch (cdb_direction(command.cdb[0])) {
	case CdbDirection::In:
		return command.write();
	case CdbDirection::Out:
		return command.read();
	default:
		return false;
	}
}

} // namespace iser
