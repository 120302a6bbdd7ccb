// Bodies of <pinion/train/hooks/disk_trouble.hpp>.
#pragma once

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/harmless.hpp>
#include <pinion/train/hooks/disk_trouble.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL bool may_pass(const error& e) {
  switch (e.code()) {
    case errc::invalid_argument:
    case errc::failed_precondition:
    case errc::unimplemented:
    case errc::internal:
    // These are of the session that is saved, and never of a disk.
    case errc::cancelled:
    case errc::deadline_exceeded:
    case errc::aborted:
    case errc::unavailable: return false;
    default: return true;
  }
}

PINION_DECL void tell(const text_sink& to, const std::string& line) {
  to ? to(line) : fmt::print(stderr, "{}\n", harmless(line));
}

PINION_DECL disk_trouble::disk_trouble(std::string what, text_sink warn, bool has_worked)
    : what_(std::move(what)), warn_(std::move(warn)), has_worked_(has_worked) {}

PINION_DECL void disk_trouble::tell_or_throw(const error& caught) {
  if (!has_worked_ || !may_pass(caught)) throw;
  if (!std::exchange(told_, true)) tell(warn_, fmt::format("{}; training goes on without {}", caught.what(), what_));
}

}}}  // namespace pinion::v0::train
