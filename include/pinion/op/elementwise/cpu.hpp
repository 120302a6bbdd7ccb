// Elementwise kernels. They run a node's program compiled if this binary holds a kernel of it, and interpreted
// otherwise.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <pinion/op/elementwise/bound.hpp>
#include <pinion/op/elementwise/launch.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/elementwise/reuse.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The kernel of every elementwise op. The result takes the memory of an input that nobody else holds.
class map_kernel final : public kernel {
 public:
  explicit map_kernel(const kernel_setup& setup)
      : program_(program_of(setup.attrs())),
        parts_(map_parts::of(setup.attrs(), setup.node.inputs.size())),
        services_(setup.services) {}

  void run(kernel_context& c) override {
    c.launch([launch = launch_of(c), services = &services_] { launch.run(*services); });
  }

  bool may_bind() const override { return true; }
  bool bind(binding& b) override {
    auto layout = std::make_shared<const map_layout>(layout_of(shapes_of(b.inputs())));
    if (!b.make(0, program_.program().results[0].type, layout->space)) return false;
    bind_program(b, program_, std::move(layout), {&b.output(0), 1}, services_);
    return true;
  }

 private:
  map_launch launch_of(kernel_context& c) {
    map_launch launch(program_, layouts_.find(c.inputs, [&] { return layout_of(shapes_of(c.inputs)); }));
    const shape& space = launch.layout().space;
    for (const auto& in : c.inputs) launch.operand(in);
    const dtype result = program_.program().results[0].type;
    launch.operand(c.reuse_or_allocate(0, detail::reusable(c, result, space), result, space));
    return launch;
  }
  map_layout layout_of(std::vector<shape> inputs) const { return parts_.layout(std::move(inputs), program_.program()); }

  const program_runner program_;
  const map_parts parts_;
  layout_cache layouts_;
  task_services& services_;
};

// The kernel of MapGrad: it computes all gradients in one pass, sums over broadcast axes included. A gradient that is
// not a sum takes the memory of an input that nobody else holds.
class map_gradient_kernel final : public kernel {
 public:
  explicit map_gradient_kernel(const kernel_setup& setup)
      : program_(program_of(setup.attrs())), services_(setup.services) {}

  void run(kernel_context& c) override {
    c.launch([launch = launch_of(c), services = &services_] { launch.run(*services); });
  }

  bool may_bind() const override { return true; }
  bool bind(binding& b) override {
    auto layout = std::make_shared<const map_layout>(layout_of(shapes_of(b.inputs())));
    const dtype type = program_.program().arithmetic;
    if (!cell::fits(type, layout->space)) return false;
    const std::size_t results = layout->how.size();
    for (std::size_t k = 0; k < results; ++k)
      if (b.wants(static_cast<int>(k)) && !b.make(static_cast<int>(k), type, layout->inputs[k])) return false;
    bind_program(b, program_, std::move(layout), {&b.output(0), results}, services_);
    return true;
  }

 private:
  map_launch launch_of(kernel_context& c) {
    const std::size_t results = program_.program().results.size();
    map_launch launch(program_, layouts_.find(c.inputs, [&] { return layout_of(shapes_of(c.inputs)); }),
                      c.device->memory());
    for (const auto& in : c.inputs) launch.operand(in);
    release_repeated(c.inputs);
    for (std::size_t k = 0; k < results; ++k)
      if (c.wants(static_cast<int>(k)))
        launch.operand(make_result(c, launch.layout(), k));
      else
        launch.unwanted_result();
    return launch;
  }
  map_layout layout_of(std::vector<shape> inputs) const {
    const shape space = map_layout::space_of(inputs);
    const auto& p = program_.program();
    const std::vector<shape> results(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(p.results.size()));
    return {std::move(inputs), space, results, p};
  }
  // Holds a tensor that is several inputs once, so that it counts as free where nobody else holds it. Another view of
  // its memory remains, since it is read in another order than results are written.
  static void release_repeated(std::span<any_tensor> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t j = i + 1; j < inputs.size(); ++j)
        if (inputs[i].raw() == inputs[j].raw() && inputs[i].shape() == inputs[j].shape()) {
          inputs[i] = {};
          break;
        }
  }
  any_tensor& make_result(kernel_context& c, const map_layout& layout, std::size_t k) const {
    const dtype type = program_.program().arithmetic;
    const shape& extent = layout.inputs[k];
    const auto is_free = [&](const any_tensor& t) {
      return t.unique() && t.dtype() == type && t.shape() == extent && layout.how[k] == scalar::sink::store;
    };
    const auto found = std::find_if(c.inputs.begin(), c.inputs.end(), is_free);
    if (found == c.inputs.end()) return c.allocate(static_cast<int>(k), type, extent);
    return c.outputs[k] = *found;
  }

  const program_runner program_;
  layout_cache layouts_;
  task_services& services_;
};

inline std::unique_ptr<kernel> make_kernel(select_text, const kernel_setup&) {
  return make_function_kernel([](kernel_context& c) {
    const shape space = map_layout::space_of(shapes_of(c.inputs));
    const bool* const condition = c.input(0).data<bool>();
    const std::string *const a = c.input(1).data<std::string>(), *const b = c.input(2).data<std::string>();
    std::string* const y = c.allocate(0, dtype::string, space).data<std::string>();
    if (space.count() == 0) return;
    const broadcast_walk walk(space, shapes_of(c.inputs));
    auto at = walk.cursor(0);
    for (std::int64_t row = 0; row < walk.outer(); ++row, at.next())
      for (std::int64_t i = 0; i < walk.inner(); ++i) {
        const auto from = [&](std::size_t k) { return at.offset(k) + (walk.advances(k) ? i : 0); };
        y[row * walk.inner() + i] = condition[from(0)] ? a[from(1)] : b[from(2)];
      }
  });
}

template <class Functor>
std::unique_ptr<kernel> make_kernel(const map<Functor>&, const kernel_setup& setup) {
  return std::make_unique<map_kernel>(setup);
}
inline std::unique_ptr<kernel> make_kernel(map_gradient, const kernel_setup& setup) {
  return std::make_unique<map_gradient_kernel>(setup);
}

}}}  // namespace pinion::v0::op
