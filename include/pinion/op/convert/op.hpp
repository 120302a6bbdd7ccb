// Conversions of elements from or to a dtype that is stored.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// x -> x with its elements converted to "dtype", by the rules of tensor/convert.hpp. One of the two dtypes at least is
// stored, such as half or int8; Cast converts between plain ones.
struct convert {
  static constexpr std::string_view name = "Convert";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::dtype("dtype")};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::moved, .gpu = {}};
  static void infer(shape_context& c);
  static constexpr std::string_view no_gradient =
      "gradients are float or double, and it converts elements that are stored; differentiate by what it yields";
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/convert/op.ipp>
#endif
