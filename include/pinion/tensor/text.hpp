// Tensors as text: "[[1, 2], [3, 4]]". An axis of more than 12 elements shows its first and last three.
//
//   fmt::print("{}\n", x);                      // {fmt} prints tensor<T> too
#pragma once

#include <string>

#include <fmt/format.h>

#include <pinion/base/config.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// The text of one element.
std::string element_text(const any_tensor& t, std::int64_t at);

// Writes the elements of an axis and of the axes behind it. An axis of more than 12 elements shows its first and last
// three.
void write_axis(std::string& out, const any_tensor& t, int axis, std::int64_t& at);

}  // namespace detail

// The elements as nested lists; "<empty>" for a tensor without a value. Requires: it is on the host. Numbers have the
// fewest digits that read back as the same value; texts stand in quotes.
std::string to_string(const any_tensor& t);

// The text of a typed tensor.
//
//   pn::to_string(pn::tensor<int>::of({{1, 2}, {3, 4}}))           // [[1, 2], [3, 4]]
template <element T>
std::string to_string(const tensor<T>& t) {
  return to_string(t.untyped());
}

}}  // namespace pinion::v0

// Lets {fmt} print a tensor<T>, with the format specification of a string.
//
//   fmt::print("{:>12}\n", pn::tensor<float>(1.5f));               // right-aligned: "         1.5"
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
