// Booleans from a file are 0 or 1.
#pragma once

#include <cstddef>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

// A bool of any other value is undefined behaviour, so a tensor that holds one is data_loss; `what` begins the
// sentence.
inline void check_booleans(const any_tensor& t, const std::string& what) {
  if (t.dtype() != dtype::boolean) return;
  const auto* bytes = static_cast<const unsigned char*>(t.raw());
  for (std::size_t i = 0; i < t.bytes(); ++i)
    if (bytes[i] > 1) throw error(errc::data_loss, what + " has a boolean of " + std::to_string(bytes[i]));
}

}}}  // namespace pinion::v0::files
