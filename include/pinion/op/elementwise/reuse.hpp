// The input of an elementwise node whose memory its result may take.
#pragma once

#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The number of an input that nobody else holds, with the dtype and shape of the result; 0 where there is none.
inline int reusable(const kernel_context& c, dtype result, const shape& space) {
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i].dtype() == result && c.inputs[i].shape() == space && c.inputs[i].unique())
      return static_cast<int>(i);
  return 0;
}

}}}}  // namespace pinion::v0::op::detail
