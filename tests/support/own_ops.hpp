// Ops that a user might bring along.
#pragma once

#include <pinion/session.hpp>

namespace own {

namespace pn = pinion;

// x times attribute "by", a double; 1 if absent.
struct scaled {
  static constexpr std::string_view name = "OwnScaled";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtype_set{pn::dtype::float32},
                                          .gpu = pn::dtype_set{pn::dtype::float32}};

  static void infer(pn::shape_context& c) {
    if (c.dtype(0) != pn::dtype::float32)
      c.fail("OwnScaled of " + std::string(pn::to_string(c.dtype(0))) + " is not defined");
    c.output(c.dtype(0), c.shape(0));
  }
  static void gradient(pn::gradient_context& g) { g.set(0, g.make(name, {g.output_gradient(0)}, g.attrs())); }
  static void cpu(pn::kernel_context& c) { launch(c); }
  static void gpu(pn::kernel_context& c) { launch(c); }

 private:
  static void launch(pn::kernel_context& c) {
    const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
    c.launch([x, y, by = static_cast<float>(c.node->attrs.get_or("by", 1.0))] {
      for (std::int64_t i = 0; i < x.count(); ++i) y.data<float>()[i] = by * x.data<float>()[i];
    });
  }
};

struct host_only {
  static constexpr std::string_view name = "OwnHostOnly";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating};
  static constexpr std::string_view no_gradient = "it is only for tests";
  static void infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void cpu(pn::kernel_context& c) { c.outputs[0] = c.input(0); }
};

// The least and the greatest element, as two scalars.
struct extremes {
  static constexpr std::string_view name = "OwnExtremes";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtype_set{pn::dtype::float32}};
  static void infer(pn::shape_context& c) {
    c.output(c.dtype(0), {});
    c.output(c.dtype(0), {});
  }
  static std::unique_ptr<pn::kernel> make_kernel(const pn::kernel_setup&) {
    return pn::make_function_kernel([](pn::kernel_context& c) {
      const pn::any_tensor x = c.input(0);
      const auto [low, high] = std::minmax_element(x.data<float>(), x.data<float>() + x.count());
      *c.allocate(0, x.dtype(), {}).data<float>() = *low;
      *c.allocate(1, x.dtype(), {}).data<float>() = *high;
    });
  }
};

}  // namespace own
