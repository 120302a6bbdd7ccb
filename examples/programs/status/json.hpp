// A cluster's report as JSON. The keys are the names of the members of pn::cluster_report.
#pragma once

#include <string>

#include <pinion/distributed/status/inspect.hpp>

namespace status {

// The text of the report: one line, or with indentation for people. Texts that are no UTF-8 are mended.
std::string json_of(const pinion::cluster_report& of, bool indented);

}  // namespace status
