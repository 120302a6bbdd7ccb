// Bodies of <pinion/train/hooks/disk_trouble.hpp>.
#pragma once

#include <cstdio>

#include <pinion/train/hooks/disk_trouble.hpp>

namespace pinion::inline v0::train {

PINION_DECL bool may_pass(const error& e) {
  switch (e.code()) {
    case errc::invalid_argument:
    case errc::failed_precondition:
    case errc::unimplemented:
    case errc::internal: return false;
    default: return true;
  }
}

PINION_DECL void tell(const text_sink& to, const std::string& line) {
  to ? to(line) : fmt::print(stderr, "{}\n", line);
}

}  // namespace pinion::inline v0::train
