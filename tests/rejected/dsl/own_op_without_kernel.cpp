// expect: kernels on CPU are declared, but there is none: static void cpu(pn::kernel_context&)
// An op of one's own that declares kernels and has none.
#include <pinion/session.hpp>

namespace pn = pinion;

struct idle {
  static constexpr std::string_view name = "Idle";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating};
  static constexpr std::string_view no_gradient = "it is only for tests";
  static void infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
#ifdef ACCEPT
  static void cpu(pn::kernel_context& c) {
    c.outputs[0] = c.input(0);
  }
#endif
};

auto program(pn::expr<float> x) {
  return pn::call<idle>(x);
}
