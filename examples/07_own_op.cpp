// An op of one's own: a type with a shape function, a kernel and a gradient. It is placed, differentiated and shipped
// to other tasks like the library's.
//
//   x [2, 3] ── RunningSum ── y ── sum of squares      and back: the same op, from the other end
//
#include <pinion/session.hpp>

namespace pn = pinion;

// y[..., i] = x[..., 0] + ... + x[..., i]; with attribute "reverse" from the last one on. float.
struct running_sum {
  static constexpr std::string_view name = "RunningSum";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::attribute_list attrs{pn::attr::flag("reverse").optional()};
  static constexpr pn::kernel_set kernels{.cpu = pn::dtype_set{pn::dtype::float32}};

  static void infer(pn::shape_context& c) {
    if (c.shape(0).rank() == 0) c.fail("RunningSum needs an axis to sum along; a scalar has none");
    c.output(c.dtype(0), c.shape(0));
  }
  static void gradient(pn::gradient_context& g) {
    g.set(0, g.make(name, {g.output_gradient(0)}, {{"reverse", !g.attrs().get_or("reverse", false)}}));
  }
  static void cpu(pn::kernel_context& c) {
    const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
    const std::int64_t n = x.shape()[x.shape().rank() - 1];
    const bool reverse = c.node->attrs.get_or("reverse", false);
    for (std::int64_t row = 0; row < x.count(); row += n) {
      float sum = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = row + (reverse ? n - 1 - i : i);
        y.data<float>()[at] = sum += x.data<float>()[at];
      }
    }
  }
};

int main() {
  auto x = pn::variable(pn::constant<float>({{1, 2, 3}, {4, 5, 6}}), {.name = "x"});
  auto y = pn::call<running_sum>(x);  // registers it; a server that shall run it calls pn::register_op<running_sum>()
  auto [slope] = pn::gradients(pn::reduce_sum(y * y), x);

  pn::session sess;
  sess.run(x.initializer());
  fmt::print("{}\n{}\n", pn::to_string(sess.run(y)), pn::to_string(sess.run(slope)));
}
