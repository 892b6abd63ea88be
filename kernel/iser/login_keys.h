// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "iser/text.h"

namespace iser {

/* What the initiator declared of a key that is Yes or No. */
enum class Declared : u8 { Silent, Yes, No };

/*
 * Listens to the text that both ends exchange in a login, and knows what they
 * concluded.  Whatever is not a legal value is ignored: to refuse it is the
 * iSCSI layer's business, and the login then fails.
 */
class LoginKeys {
public:
	/* All text of one request, C-bit chains joined. */
	void note_request(Bytes text);
	void note_response(Bytes text);

	bool rdma_extensions() const;
	bool discovery() const { return discovery_; }
	bool immediate_data() const;
	bool initial_r2t() const;
	u32 first_burst_length() const;
	u32 max_burst_length() const;
	u32 max_outstanding_r2t() const;
	u32 error_recovery_level() const;
	u32 target_recv_data_segment_length() const;
	u32 initiator_recv_data_segment_length() const;
	/* As the initiator declared it; only discovery sessions heed it. */
	u32 max_recv_data_segment_length() const
	{
		return max_recv_data_segment_length_;
	}
	Declared tagged_buffer_for_solicited_data_only() const
	{
		return solicited_only_;
	}
	Declared iser_hello_required() const { return hello_required_; }
	/*
	 * What the initiator declared to have room for; 0: it set no limit.
	 * Declared: a number that is allowed (RFC 7145 6.7).
	 */
	bool declares_max_outstanding_unexpected_pdus() const
	{
		return declares_unexpected_pdus_;
	}
	u32 max_outstanding_unexpected_pdus() const { return unexpected_pdus_; }
	/* A declaration of RFC 7145 had a value that is not allowed. */
	bool illegal_declaration() const { return illegal_declaration_; }
	/* Free of control characters; empty as long as there is none. */
	Bytes initiator_name() const { return initiator_name_.bytes(); }
	Bytes target_name() const { return target_name_.bytes(); }

	/* The keys that are negotiated: offered by one end, answered by the other. */
	enum class Negotiated : u8 {
		RdmaExtensions,
		ImmediateData,
		InitialR2t,
		FirstBurstLength,
		MaxBurstLength,
		MaxOutstandingR2t,
		ErrorRecoveryLevel,
		TargetRecvDataSegmentLength,
		InitiatorRecvDataSegmentLength,
	};
	static constexpr size_t negotiated_count = 9;

private:
	/* What one end said; booleans are 0 and 1. */
	struct Said {
		bool spoken = false;
		bool legal = false;
		u32 value = 0;
	};

	/* Whichever end speaks first offers, the other one answers. */
	struct Negotiation {
		Said initiator;
		Said target;
		bool target_offers = false;
	};

	/* An iSCSI name has at most 223 bytes (RFC 7143 4.2.7.1). */
	class Name {
	public:
		void set(Bytes name);
		Bytes bytes() const { return Bytes(bytes_).first(length_); }

	private:
		u8 bytes_[224] = {};
		size_t length_ = 0;
	};

	void note_negotiated(const TextPair &pair, bool by_target);
	void note_declared(const TextPair &pair);
	void note_declared_by_iser(const TextPair &pair);
	void note_boolean(const TextPair &pair, Declared &declared);
	u32 concluded(Negotiated key) const;

	Negotiation negotiations_[negotiated_count] = {};
	bool discovery_ = false;
	Declared solicited_only_ = Declared::Silent;
	Declared hello_required_ = Declared::Silent;
	bool declares_unexpected_pdus_ = false;
	u32 unexpected_pdus_ = 0;
	bool illegal_declaration_ = false;
	u32 max_recv_data_segment_length_ = 8192;
	Name initiator_name_;
	Name target_name_;
};

} // namespace iser
