// Kernels of sources: constants, zeros, and ops that pass values on.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include <pinion/base/arithmetic.hpp>
#include <pinion/op/source/extents.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/opkit/binding.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

struct gives_constant {
  any_tensor value;
  void operator()(kernel_context& c) const { c.outputs[0] = value; }
  bool bind(binding& b) const { return b.constant(0, value); }
};
struct passes_on {
  void operator()(kernel_context& c) const { c.outputs[0] = c.inputs[0]; }
  bool bind(binding& b) const {
    b.alias(0, b.input(0), b.input(0).shape);
    return true;
  }
};
struct does_nothing {
  void operator()(kernel_context&) const {}
  bool bind(binding&) const { return true; }
};
// Fills a tensor like its input with one value.
struct fills {
  int value;

  void operator()(kernel_context& c) const {
    const auto& in = c.input(0);
    auto& out = c.allocate(0, in.dtype(), in.shape());
    visit_plain<dtypes::moved>(in.dtype(), [&]<class T>() {
      c.launch([data = out.data<T>(), n = out.count(), value = value] { std::fill_n(data, n, static_cast<T>(value)); });
    });
  }
  bool bind(binding& b) const {
    any_tensor all(b.input(0).dtype, b.input(0).shape);
    visit_plain<dtypes::moved>(all.dtype(),
                               [&]<class T>() { std::fill_n(all.data<T>(), all.count(), static_cast<T>(value)); });
    return b.constant(0, all);
  }
};

}  // namespace detail

// The constant's value is copied into the device's memory once, when the kernel is made.
inline std::unique_ptr<kernel> make_kernel(constant, const kernel_setup& setup) {
  const auto& value = setup.attrs().get<any_tensor>("value");
  if (!setup.device.stream()) return make_function_kernel(detail::gives_constant{value});
  const any_tensor there = setup.device.from_host(value);
  there.held_by(setup.node.name);
  return make_function_kernel(detail::gives_constant{there});
}

inline std::unique_ptr<kernel> make_kernel(fill, const kernel_setup& setup) {
  return make_function_kernel(
      [value = setup.attrs().get<any_tensor>("value"), extent = setup.attrs().get<shape>("shape")](kernel_context& c) {
        const auto& y = c.allocate(0, value.dtype(), extent);
        visit_element(y.dtype(), [&]<class Element>() {
          c.launch([to = static_cast<Element*>(y.raw()), n = y.count(), each = *static_cast<Element*>(value.raw())] {
            std::fill_n(to, n, each);
          });
        });
      });
}

inline std::unique_ptr<kernel> make_kernel(placeholder, const kernel_setup& setup) {
  return make_function_kernel([type = setup.node.outputs[0]](kernel_context&) {
    throw error(errc::invalid_argument, "a placeholder of " + std::string(to_string(type.dtype)) + " " +
                                            to_string(type.shape) +
                                            " was not fed; give it a value in run({{…, value}}, …)");
  });
}

inline std::unique_ptr<kernel> make_kernel(identity, const kernel_setup& setup) {
  if (setup.input(0).reference)
    return make_function_kernel([state = state::find_variable(setup.services, setup.referenced(0))](kernel_context& c) {
      c.outputs[0] = state->read();
    });
  return make_function_kernel(detail::passes_on{});
}

inline std::unique_ptr<kernel> make_kernel(no_op, const kernel_setup&) {
  return make_function_kernel(detail::does_nothing{});
}

inline std::unique_ptr<kernel> make_kernel(zeros_like, const kernel_setup&) {
  return make_function_kernel(detail::fills{0});
}
inline std::unique_ptr<kernel> make_kernel(ones_like, const kernel_setup&) {
  return make_function_kernel(detail::fills{1});
}

namespace detail {

// Launches y = start, start + delta, ..., n numbers.
template <class T, class Number>
void run_range(kernel_context& c, Number start, Number delta, std::int64_t n) {
  const any_tensor y = c.allocate(0, dtype_of<T>, {n});
  c.launch([y, start, delta, n] {
    for (std::int64_t i = 0; i < n; ++i)
      y.data<T>()[i] = static_cast<T>(wrapped_sum(start, wrapped_product(static_cast<Number>(i), delta)));
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(range, const kernel_setup& setup) {
  return visit_plain(setup.node.outputs[0].dtype, [&]<class T>() {
    using number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    return make_function_kernel(
        [start = setup.attrs().get<number>("start"), delta = setup.attrs().get<number>("delta"),
         n = range::count(setup.attrs())](kernel_context& c) { detail::run_range<T>(c, start, delta, n); });
  });
}

inline std::unique_ptr<kernel> make_kernel(shape_of, const kernel_setup&) {
  return make_function_kernel([](kernel_context& c) {
    const shape extent = c.input(0).shape();
    const any_tensor y = c.allocate(0, dtype::int32, {extent.rank()});
    c.launch([y, extent] { detail::write_extents(extent, y.data<std::int32_t>()); });
  });
}

}}}  // namespace pinion::v0::op
