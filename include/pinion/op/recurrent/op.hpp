// Recurrent cells along a sequence: LSTM, GRU and the plain one, each a whole sequence in one kernel.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/op/matmul/compute_dtype.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Ops of a sequence of steps [length, batch, ...]. Where the last input is lengths, [batch], int32 or int64, the steps
// of a row end there: its outputs behind are 0, and its state stays. "reverse" goes from the last step to the first.
// "compute" is for the products of states and weights (op/matmul/compute_dtype.hpp).
struct recurrent {
  static constexpr attribute_list attrs = attribute_list{attr::flag("reverse").optional()} + compute_attribute;
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static double work(const work_context& c);
};
struct recurrent_gradient : recurrent {
  static constexpr std::string_view no_gradient =
      "the gradient of a recurrent cell is not differentiated again; write the cell with pn::while_loop for that";
};

}  // namespace detail

// (x [length, batch, 4 u], h, c [batch, u], recurrent weights U [u, 4 u]), and lengths -> the outputs of all steps
// [length, batch, u], the last h and c, and what the gradient needs of each step, [length, batch, 5 u]. With gates i,
// f, g, o from x + h U, the first, second and last under a logistic function, g under tanh: c = f c + i g, h = o
// tanh(c).
struct lstm : detail::recurrent {
  static constexpr std::string_view name = "Lstm";
  static constexpr input_count inputs{4, 5};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};
// (U, h, c, outputs, what was kept, their gradients: of the outputs, of the last h and c), and lengths -> the gradients
// of x, h, c and U.
struct lstm_gradient : detail::recurrent_gradient {
  static constexpr std::string_view name = "LstmGrad";
  static constexpr input_count inputs{8, 9};
  static void infer(shape_context& c);
};

// (x [length, batch, 3 u], h [batch, u], U [u, 3 u]), and lengths -> outputs, the last h, and what was kept, [length,
// batch, 4 u]. With r and z, logistic functions of their parts of x + h U, and n = tanh(x + r h U) of the last one:
// h = n + z (h - n).
struct gru : detail::recurrent {
  static constexpr std::string_view name = "Gru";
  static constexpr input_count inputs{3, 4};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};
// (U, h, outputs, what was kept, the gradients of outputs and of the last h), and lengths -> those of x, h and U.
struct gru_gradient : detail::recurrent_gradient {
  static constexpr std::string_view name = "GruGrad";
  static constexpr input_count inputs{6, 7};
  static void infer(shape_context& c);
};

// (x [length, batch, u], h [batch, u], U [u, u]), and lengths -> outputs, the last h, and what was kept, [length,
// batch, u]: h = tanh(x + h U).
struct simple_rnn : detail::recurrent {
  static constexpr std::string_view name = "SimpleRnn";
  static constexpr input_count inputs{3, 4};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};
struct simple_rnn_gradient : detail::recurrent_gradient {
  static constexpr std::string_view name = "SimpleRnnGrad";
  static constexpr input_count inputs{6, 7};
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/recurrent/op.ipp>
#endif
