// The kernel of conversions on hosts.
#pragma once

#include <cstdint>
#include <memory>

#include <pinion/op/convert/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>
#include <pinion/tensor/convert.hpp>

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(convert, const kernel_setup& setup) {
  const dtype to = setup.node.outputs[0].dtype;
  return make_function_kernel([to, way = element_conversion(setup.input(0).dtype, to)](kernel_context& c) {
    const any_tensor x = c.input(0), y = c.allocate(0, to, x.shape());
    c.launch([x, y, way, services = c.services] {
      in_ranges(*services, x.count(), 1,
                [&](std::int64_t first, std::int64_t last) { way.run(x.byte_data(), first, last, y.byte_data()); });
    });
  });
}

}}}  // namespace pinion::v0::op
