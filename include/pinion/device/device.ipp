// Bodies of <pinion/device/device.hpp>.
#pragma once

#include <utility>

#include <pinion/device/device.hpp>

namespace pinion { inline namespace v0 { namespace devices {

PINION_DECL device::device(const device_spec& spec, std::int64_t memory_limit, std::string description)
    : spec_(spec), name_(to_string(spec)), memory_limit_(memory_limit), description_(std::move(description)) {}

PINION_DECL any_tensor device::from_peer(const any_tensor& value, std::shared_ptr<event> ready) {
  (void)value, (void)ready;
  throw error(errc::internal, name_ + " takes no copies from other devices");
}

}}}  // namespace pinion::v0::devices
