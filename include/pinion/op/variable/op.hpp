// Variables: the node that names a state, and the ops that write it. An Identity on the reference reads it.
#pragma once

#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The kernels of variables. int32 variables live on the CPU only, as in TensorFlow.
inline constexpr kernel_set variable_kernels{.cpu = dtypes::all,
                                             .gpu = dtypes::floating | dtype_set{dtype::int64, dtype::boolean}};

// The node of a variable; its output is a reference. Attributes "dtype", "shape", "container", "shared_name".
struct variable {
  static constexpr std::string_view name = "VariableV2";
  static constexpr input_count inputs = 0;
  static constexpr attribute_list attrs = attr::state_key + attribute_list{attr::dtype("dtype"), attr::shape("shape")};
  static constexpr kernel_set kernels = variable_kernels;
  static constexpr bool hands_on = true;
  static constexpr bool stateful = true;
  static void infer(shape_context& c);
  static void gradient(gradient_context&) {}
};

namespace detail {
// The shape function of assignments: input 0 is the reference, input 1 the value. They yield the new value.
void infer_assignment(shape_context& c);
}  // namespace detail

template <class Self>
struct assignment {
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int states = 1;
  static constexpr kernel_set kernels = variable_kernels;
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient = "an assignment changes state; differentiate by the value assigned";
  static void infer(shape_context& c) { detail::infer_assignment(c); }
};
struct assign : assignment<assign> {
  static constexpr std::string_view name = "Assign";
  static constexpr std::string_view no_replay = "the variable may take over the memory of the value";
};
// The base of the assignments that compute, which take numbers only.
template <class Self>
struct counting_assignment : assignment<Self> {
  static constexpr kernel_set kernels{.cpu = dtypes::numbers, .gpu = dtypes::floating | dtype_set{dtype::int64}};
  static void infer(shape_context& c) {
    c.expect_dtype(c.dtype(0), dtypes::numbers);
    detail::infer_assignment(c);
  }
};
struct assign_add : counting_assignment<assign_add> {
  static constexpr std::string_view name = "AssignAdd";
};
struct assign_sub : counting_assignment<assign_sub> {
  static constexpr std::string_view name = "AssignSub";
};

struct assign_multiply : counting_assignment<assign_multiply> {
  static constexpr std::string_view name = "AssignMul";
};

namespace detail {
inline constexpr attribute_list update_attrs{attr::program("program"), attr::integer("states").between(1, 1 << 20)};
const scalar::program& update_program(const attributes& attrs);
// The form in which an update takes its gradient: as one input, as indices and rows, or as two factors.
enum class gradient_is { dense, sparse, product };
// Checks the inputs of an update, and returns the number of its states. The inputs are states, then the gradient, then
// scalars.
int expect_update(const shape_context& c, gradient_is form);
// Counts each instruction of the program once for each element that it updates.
double update_work(const work_context& c, gradient_is form);
}  // namespace detail

// One step of an optimizer: a scalar program over the elements of a variable and its slots, written in place, as one
// atomic update. Inputs: "states" references (the variable, then its slots), the gradient, scalars. Attribute "program"
// takes inputs in that order and has one result for each reference. Yields no value.
template <class Self>
struct update {
  static constexpr input_count inputs = by_program;
  static constexpr attribute_list attrs = detail::update_attrs;
  static constexpr bool bears_changing_inputs = true;
  static constexpr int states = states_of_attribute;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient = "an optimizer's update changes state";
  static dtype key(const node& n) { return detail::update_program(n.attrs).arithmetic; }
  static void infer(shape_context& c) { detail::expect_update(c, detail::gradient_is::dense); }
  static double work(const work_context& c) { return detail::update_work(c, detail::gradient_is::dense); }
};

// One step of an optimizer for some rows of a variable and its slots. Inputs: states, then indices [n] and rows [n,
// ...] of a sparse gradient, then scalars. Rows with the same index add up; rows that no index names stay as they are,
// in the slots too. Attribute "program" takes the states, one gradient, and the scalars.
template <class Self>
struct sparse_update {
  static constexpr input_count inputs = at_least(3);
  static constexpr attribute_list attrs = detail::update_attrs;
  static constexpr bool bears_changing_inputs = true;
  static constexpr int states = states_of_attribute;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = dtypes::floating};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient = "an optimizer's update changes state";
  static dtype key(const node& n) { return detail::update_program(n.attrs).arithmetic; }
  static void infer(shape_context& c) {
    const int first = detail::expect_update(c, detail::gradient_is::sparse);
    c.expect_rank(first, 1, "the indices of " + c.op());
    const shape &variable = c.shape(0), &rows = c.shape(first + 1);
    if (variable.has_rank() && variable.rank() == 0) c.fail("a scalar variable has no rows");
    shape wanted = variable;
    if (wanted.has_rank()) wanted.set(0, c.shape(first).has_rank() ? c.shape(first)[0] : unknown);
    if (!fits(rows, wanted))
      c.fail("rows of shape " + to_string(rows) + " at indices of shape " + to_string(c.shape(first)) +
             " are not rows of a variable of shape " + to_string(variable));
  }
  static double work(const work_context& c) { return detail::update_work(c, detail::gradient_is::sparse); }
};

// One step of an optimizer whose gradient is the product of two matrices and read by nothing else. Inputs: states, then
// both factors, then scalars. Each block of rows is updated while its gradient is in cache, and the whole gradient is
// never in memory. Attributes are those of an update and of a product. op::fold_gradients makes these nodes.
struct apply_product {
  static constexpr std::string_view name = "ApplyProduct";
  static constexpr bool rewrite = true;
  static constexpr input_count inputs = at_least(3);
  static constexpr attribute_list attrs =
      detail::update_attrs + attribute_list{attr::flag("transpose_a").optional(), attr::flag("transpose_b").optional(),
                                            attr::dtype("compute").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr int states = states_of_attribute;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient = "an optimizer's update changes state";
  static dtype key(const node& n) { return detail::update_program(n.attrs).arithmetic; }
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// The optimizers' ops; for sparse gradients "SparseApplyMomentum", and so on. Their rules make the nodes' programs.
#define PINION_UPDATE_OPS(X)                        \
  X(apply_gradient_descent, "ApplyGradientDescent") \
  X(apply_momentum, "ApplyMomentum")                \
  X(apply_adagrad, "ApplyAdagrad")                  \
  X(apply_rmsprop, "ApplyRMSProp")                  \
  X(apply_centered_rmsprop, "ApplyCenteredRMSProp") \
  X(apply_adam, "ApplyAdam")                        \
  X(apply_adamw, "ApplyAdamW")                      \
  X(apply_lion, "ApplyLion")                        \
  X(apply_moving_average, "ApplyMovingAverage")     \
  X(apply_moving_square, "ApplyMovingSquare")
#define PINION_UPDATE_TAG(tag, op_name)                        \
  struct tag : update<tag> {                                   \
    static constexpr std::string_view name = op_name;          \
  };                                                           \
  struct sparse_##tag : sparse_update<sparse_##tag> {          \
    static constexpr std::string_view name = "Sparse" op_name; \
  };
PINION_UPDATE_OPS(PINION_UPDATE_TAG)
#undef PINION_UPDATE_TAG

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/variable/op.ipp>
#endif
