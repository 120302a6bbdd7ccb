// What the programs of these tests include and do: enough to need definitions, not only declarations.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

#include <string>

namespace use {

inline std::string touch() {
  return pinion::error{pinion::errc::not_found, "no such device"}.on_device("/gpu:7").what();
}

}  // namespace use
