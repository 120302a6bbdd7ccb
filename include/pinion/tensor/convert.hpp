// Conversions of elements from one dtype to another.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// The way from the elements of one dtype to those of another, both of dtypes::moved. A value, which any number of
// threads may use at once.
//
// Integers keep their low bits. A number with a fraction is cut off towards zero for an integer, and becomes the
// nearest integer that there is where it is beyond them; NaN becomes 0. A floating-point number is rounded once, to the
// nearest, and of two that are as near to the even one. A bool is true for all but 0, and counts as 1.
class element_conversion {
 public:
  // Throws invalid_argument for text, and for dtype::invalid.
  element_conversion(dtype from, dtype to);
  // Converts elements [first, last) of an array into the same places of another one, which does not overlap it.
  void run(const std::byte* from, std::int64_t first, std::int64_t last, std::byte* to) const;

 private:
  using step = void (*)(const void* from, std::int64_t n, void* to);
  template <class Wide, dtype_set From, dtype_set To>
  void go_through(dtype from, dtype to);

  step load_ = nullptr, store_ = nullptr;  // into a wide type, and from it
  std::size_t from_size_, to_size_;
};

// The tensor with its elements converted to a dtype, on the host: weights of half for a model of float, or the other
// way. A tensor of that dtype is returned as it is. Throws invalid_argument for text, for a tensor without a value, and
// for one that is not on the host.
//
//   pn::tensor<float> w{pn::converted(pn::files::read_npy("w.npy"), pn::dtype::float32)};
any_tensor converted(const any_tensor& x, dtype to);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/convert.ipp>
#endif
