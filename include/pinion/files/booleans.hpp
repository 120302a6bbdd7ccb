// The check of booleans that come from a file: they are 0 or 1.
#pragma once

#include <cstddef>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

// Throws data_loss if a tensor of booleans holds another byte than 0 or 1, which would be undefined behaviour.
// `what` begins the sentence, as in "tensor 'mask' in model.safetensors".
inline void check_booleans(const any_tensor& t, const std::string& what) {
  if (t.dtype() != dtype::boolean) return;
  const auto* bytes = static_cast<const unsigned char*>(t.raw());
  for (std::size_t i = 0; i < t.bytes(); ++i)
    if (bytes[i] > 1) throw error(errc::data_loss, what + " has a boolean of " + std::to_string(bytes[i]));
}

}}}  // namespace pinion::v0::files
