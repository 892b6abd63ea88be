// SPDX-License-Identifier: GPL-2.0
#include "libiser/error.h"

namespace libiser {

namespace {

std::string refusal(unsigned status)
{
	char number[8];

	snprintf(number, sizeof(number), "0x%04x", status);
	return std::string("the target refused the login: ") +
	       login_status_text(status) + " (" + number + ")";
}

std::string refusal_remedy(unsigned status)
{
	switch (status) {
	case 0x0201:
		return "Check the CHAP name and secret.";
	case 0x0202:
		return "Let the target's administrator add this initiator.";
	case 0x0203:
		return "Check the target's name.";
	}
	return "See the kernel log of the target.";
}

} // namespace

LoginRefused::LoginRefused(unsigned char status_class,
			   unsigned char status_detail)
	: Error(refusal(status_class << 8u | status_detail),
		refusal_remedy(status_class << 8u | status_detail)),
	  status_(status_class << 8u | status_detail)
{
}

const char *login_status_text(unsigned status)
{
	switch (status) {
	case 0x0000: return "success";
	case 0x0101: return "target moved temporarily";
	case 0x0102: return "target moved permanently";
	case 0x0200: return "initiator error";
	case 0x0201: return "authentication failure";
	case 0x0202: return "authorization failure";
	case 0x0203: return "target not found";
	case 0x0204: return "target removed";
	case 0x0205: return "unsupported version";
	case 0x0206: return "too many connections";
	case 0x0207: return "missing parameter";
	case 0x0208: return "cannot include in session";
	case 0x0209: return "session type not supported";
	case 0x020a: return "session does not exist";
	case 0x020b: return "invalid request during login";
	case 0x0300: return "target error";
	case 0x0301: return "service unavailable";
	case 0x0302: return "out of resources";
	}
	return "status unknown to RFC 7143";
}

} // namespace libiser
