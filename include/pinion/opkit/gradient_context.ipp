// Bodies of <pinion/opkit/gradient_context.hpp>.
#pragma once

#include <utility>

#include <pinion/graph/op_names.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/gradient_context.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL gradient_context::gradient_context(graph& g, node_id of,
                                               std::vector<std::optional<gradient_value>> output_gradients,
                                               differentiator how, std::vector<bool> wanted, node_id original)
    : graph_(g),
      id_(of),
      of_output_(std::move(output_gradients)),
      wanted_(std::move(wanted)),
      differentiate_(how),
      of_input(g.peek(of).inputs.size()),
      original_(original == no_node ? of : original) {}

PINION_DECL std::string gradient_context::base_name() const {
  const std::string& full = graph_.peek(original_).name;
  return full.substr(full.rfind('/') + 1);
}

PINION_DECL pinion::output gradient_context::output_gradient(int i) {
  auto& dy = of_output_[static_cast<std::size_t>(i)];
  if (!dy)
    dy = gradient_value{make(op_names::zeros_like, {output(i)})};
  else if (dy->is_sparse())
    dy = gradient_value{make(op_names::scatter_dense, {dy->indices, dy->rows, output(i)})};
  return dy->dense;
}

PINION_DECL void gradient_context::pass(int output, int input) {
  of_input[static_cast<std::size_t>(input)] = of_output_[static_cast<std::size_t>(output)];
}

PINION_DECL pinion::output gradient_context::make(std::string_view op, std::vector<pinion::output> inputs,
                                                  attributes attrs) {
  return {build(graph_, {.op = op,
                         .base_name = base_name() + "_grad/" + std::string(op),
                         .inputs = std::move(inputs),
                         .attrs = std::move(attrs),
                         .where = node().where}),
          0};
}

PINION_DECL void gradient_context::set(int input, pinion::output dense) {
  of_input[static_cast<std::size_t>(input)] = gradient_value{dense, {}, {}};
}

PINION_DECL void gradient_context::set_sparse(int input, pinion::output indices, pinion::output rows) {
  of_input[static_cast<std::size_t>(input)] = gradient_value{{}, indices, rows};
}

PINION_DECL void gradient_context::fail(const std::string& sentence) const {
  throw error(errc::unimplemented, sentence);
}

}}  // namespace pinion::v0
