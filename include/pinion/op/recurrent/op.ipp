// Bodies of <pinion/op/recurrent/op.hpp>.
#pragma once

#include <string>
#include <vector>

#include <pinion/op/recurrent/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace cells {

// Reads the extents of a sequence from the shapes of a node's inputs, and fails where they disagree.
class sequence_shapes {
 public:
  sequence_shapes(const shape_context& c, int gates) : c_(c), gates_(gates) {}

  void see_steps(int input, int parts) {
    see_dtype(input);
    if (const shape* of = see(input, 3, "[length, batch, " + std::to_string(parts) + " units]")) {
      join(length_, (*of)[0], input), join(batch_, (*of)[1], input);
      see_parts((*of)[2], parts, input);
    }
  }
  void see_state(int input) {
    see_dtype(input);
    if (const shape* of = see(input, 2, "[batch, units]")) join(batch_, (*of)[0], input), join(units_, (*of)[1], input);
  }
  void see_weights(int input) {
    see_dtype(input);
    if (const shape* of = see(input, 2, "[units, " + std::to_string(gates_) + " units]")) {
      join(units_, (*of)[0], input);
      see_parts((*of)[1], gates_, input);
    }
  }
  void see_lengths(int input) {
    if (input >= c_.inputs()) return;
    if (c_.dtype(input) != dtype::int32 && c_.dtype(input) != dtype::int64)
      c_.fail("lengths of " + std::string(to_string(c_.dtype(input))) + "; they are int32 or int64");
    if (const shape* of = see(input, 1, "[batch]")) join(batch_, (*of)[0], input);
  }

  shape steps(int parts) const { return {length_, batch_, units_ < 0 ? unknown : parts * units_}; }
  shape state() const { return {batch_, units_}; }
  shape weights() const { return {units_, units_ < 0 ? unknown : gates_ * units_}; }

 private:
  void see_dtype(int input) const {
    c_.expect_dtype(c_.dtype(input), dtypes::floating);
    c_.expect_same_dtype(input);
  }
  const shape* see(int input, int rank, const std::string& wanted) const {
    const shape& of = c_.shape(input);
    if (!of.has_rank()) return nullptr;
    if (of.rank() != rank)
      c_.fail("input " + std::to_string(input) + " of shape " + to_string(of) + " where " + wanted + " is expected");
    return &of;
  }
  void see_parts(std::int64_t extent, int parts, int input) {
    if (extent < 0) return;
    if (extent % parts != 0)
      c_.fail("input " + std::to_string(input) + " of shape " + to_string(c_.shape(input)) +
              ", whose last extent is no " + "multiple of " + std::to_string(parts));
    join(units_, extent / parts, input);
  }
  void join(std::int64_t& all, std::int64_t extent, int input) const {
    if (all >= 0 && extent >= 0 && all != extent)
      c_.fail("input " + std::to_string(input) + " of shape " + to_string(c_.shape(input)) + " has " +
              std::to_string(extent) + " where the inputs before have " + std::to_string(all));
    if (extent >= 0) all = extent;
  }

  const shape_context& c_;
  int gates_;
  std::int64_t length_ = unknown, batch_ = unknown, units_ = unknown;
};

// Declares the outputs of a cell of so many gates, states and parts that it keeps.
inline void infer(shape_context& c, int gates, int states, int kept) {
  expect_compute(c);
  sequence_shapes of(c, gates);
  of.see_steps(0, gates);
  for (int i = 1; i <= states; ++i) of.see_state(i);
  of.see_weights(states + 1);
  of.see_lengths(states + 2);
  c.output(c.dtype(0), of.steps(1));
  for (int i = 0; i < states; ++i) c.output(c.dtype(0), of.state());
  c.output(c.dtype(0), of.steps(kept));
}

inline void infer_gradient(shape_context& c, int gates, int states, int kept) {
  expect_compute(c);
  sequence_shapes of(c, gates);
  of.see_weights(0);
  for (int i = 1; i <= states; ++i) of.see_state(i);
  of.see_steps(states + 1, 1);
  of.see_steps(states + 2, kept);
  of.see_steps(states + 3, 1);
  for (int i = 0; i < states; ++i) of.see_state(states + 4 + i);
  of.see_lengths(2 * states + 4);
  c.output(c.dtype(0), of.steps(gates));
  for (int i = 0; i < states; ++i) c.output(c.dtype(0), of.state());
  c.output(c.dtype(0), of.weights());
}

inline void set_gradients(gradient_context& g, std::string_view gradient, int states) {
  if (g.has_output_gradient(states + 1)) g.fail("what a recurrent cell keeps for its gradient has none itself");
  const int weights = states + 1;
  std::vector<output> inputs{g.input(weights)};
  for (int i = 1; i <= states; ++i) inputs.push_back(g.input(i));
  inputs.push_back(g.output(0)), inputs.push_back(g.output(states + 1));
  for (int i = 0; i <= states; ++i) inputs.push_back(g.output_gradient(i));
  if (static_cast<int>(g.node().inputs.size()) > weights + 1) inputs.push_back(g.input(weights + 1));
  const output made = g.make(gradient, std::move(inputs), g.attrs());
  for (int i = 0; i <= weights; ++i) g.set(i, {made.node, i});
}

}}}}}  // namespace pinion::v0::op::detail::cells

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL double detail::recurrent::work(const work_context& c) {
  return 16 * c.elements();
}

PINION_DECL void lstm::infer(shape_context& c) {
  detail::cells::infer(c, 4, 2, 5);
}
PINION_DECL void lstm::gradient(gradient_context& g) {
  detail::cells::set_gradients(g, lstm_gradient::name, 2);
}
PINION_DECL void lstm_gradient::infer(shape_context& c) {
  detail::cells::infer_gradient(c, 4, 2, 5);
}

PINION_DECL void gru::infer(shape_context& c) {
  detail::cells::infer(c, 3, 1, 4);
}
PINION_DECL void gru::gradient(gradient_context& g) {
  detail::cells::set_gradients(g, gru_gradient::name, 1);
}
PINION_DECL void gru_gradient::infer(shape_context& c) {
  detail::cells::infer_gradient(c, 3, 1, 4);
}

PINION_DECL void simple_rnn::infer(shape_context& c) {
  detail::cells::infer(c, 1, 1, 1);
}
PINION_DECL void simple_rnn::gradient(gradient_context& g) {
  detail::cells::set_gradients(g, simple_rnn_gradient::name, 1);
}
PINION_DECL void simple_rnn_gradient::infer(shape_context& c) {
  detail::cells::infer_gradient(c, 1, 1, 1);
}

}}}  // namespace pinion::v0::op
