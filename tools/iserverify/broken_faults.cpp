// SPDX-License-Identifier: GPL-2.0
#include "broken_faults.h"

#include <algorithm>
#include <iterator>

namespace iserverify {

const std::vector<Fault> &all_faults()
{
	static const std::vector<Fault> all = [] {
		std::vector<Fault> faults;

		for (auto layer : {connection_faults, login_faults, key_faults,
				   data_faults, pdu_faults})
			std::ranges::move(layer(), std::back_inserter(faults));
		return faults;
	}();

	return all;
}

const Fault &find_fault(const std::string &name)
{
	for (const Fault &fault : all_faults())
		if (fault.name == name)
			return fault;
	throw Error("there is no fault " + name);
}

std::vector<Sighting> sightings_of(const std::string &check)
{
	std::vector<Sighting> found;

	std::ranges::copy_if(all_sightings(), std::back_inserter(found),
			     [&](const Sighting &one) {
				     return one.check == check;
			     });
	return found;
}

} // namespace iserverify
