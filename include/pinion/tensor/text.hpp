// Tensors as text: "[[1, 2], [3, 4]]", long axes shortened.
#pragma once

#include <string>

#include <fmt/format.h>

#include <pinion/base/config.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

std::string element_text(const any_tensor& t, std::int64_t at);

void write_axis(std::string& out, const any_tensor& t, int axis, std::int64_t& at);

}  // namespace detail

// Requires: on the host. A tensor without a value prints as "<empty>".
std::string to_string(const any_tensor& t);

template <element T>
std::string to_string(const tensor<T>& t) {
  return to_string(t.untyped());
}

}}  // namespace pinion::v0

template <pinion::element T>
struct fmt::formatter<pinion::tensor<T>> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const pinion::tensor<T>& t, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(to_string(t), context);
  }
};

#if PINION_HEADER_ONLY
#include <pinion/tensor/text.ipp>
#endif
