// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace libiser {

/*
 * Base of everything that libiser throws.  what() is one sentence that says
 * what failed and why; remedy() says what the user can do, or is empty.
 */
class Error : public std::runtime_error {
public:
	explicit Error(const std::string &what, std::string remedy = {})
		: std::runtime_error(what), remedy_(std::move(remedy))
	{
	}
	const std::string &remedy() const { return remedy_; }

private:
	std::string remedy_;
};

/* No RDMA connection could be made. */
class ConnectError : public Error {
	using Error::Error;
};

/* The peer did not do in time what was waited for; the connection is up. */
class TimedOut : public Error {
	using Error::Error;
};

/* The connection ended, whoever ended it. */
class ConnectionLost : public Error {
	using Error::Error;
};

/* The peer broke iSER or iSCSI; what() cites the rule. */
class ProtocolError : public Error {
	using Error::Error;
};

/* A Login Response with a status that is not success (RFC 7143 11.13.5). */
class LoginRefused : public Error {
public:
	LoginRefused(unsigned char status_class, unsigned char status_detail);
	unsigned status() const { return status_; }

private:
	unsigned status_; /* class in the high byte, detail in the low one */
};

/* The text of a login status, as RFC 7143 11.13.5 names it. */
const char *login_status_text(unsigned status);

} // namespace libiser
