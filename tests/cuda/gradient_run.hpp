// Runs of the CUDA C kernels that compute the gradients of a map.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/cuda_map_gradient.hpp>

#include "laws/ops/map.hpp"

namespace cuda_tests {

using namespace pinion;

// The gradients of a program by inputs of some shapes, for a random gradient of its result.
class gradient_run {
 public:
  gradient_run(const scalar::program& p, std::vector<shape> inputs)
      : p_(scalar::executable(scalar::derive(p))), inputs_(with_space(std::move(inputs))), walk_(walk()) {
    std::mt19937 bits(7);
    for (const shape& s : inputs_) {
      operands_.emplace_back(p.arithmetic, s);
      fill(operands_.back(), [&] { return static_cast<double>(bits() % 16) / 8 + .5; });
    }
    for (std::size_t k = 0; k < p_.results.size(); ++k) operands_.emplace_back(p.arithmetic, inputs_[k]);
    form_ = op::cuda_gradient_form_of(p_, walk_, addresses());
    const op::cuda_gradient_run run(p_, walk_, form_);
    for (std::size_t k = 0; k < p_.results.size(); ++k) sums_.emplace_back(p.arithmetic, shape{run.partial_sums(k)});
  }

  const scalar::program& program() const { return p_; }
  const op::cuda_gradient_form& form() const { return form_; }
  void widen() { form_.walk.is_wide = true; }
  std::string text(const std::string& name) const { return op::cuda_gradient_text(p_, form_, name); }

  // Runs the pass by launch_pass(launch), and each sum by launch_sum(launch).
  template <class Pass, class Sum>
  void run(Pass launch_pass, Sum launch_sum) const {
    const op::cuda_gradient_run run(p_, walk_, form_);
    auto at = addresses();
    const auto result = [&](std::size_t k) -> const void*& { return at[p_.inputs + k]; };
    for (std::size_t k = 0; k < p_.results.size(); ++k)
      if (run.partial_sums(k) > 0) result(k) = sums_[k].byte_data();
    launch_pass(run.pass(at));
    for (std::size_t k = 0; k < p_.results.size(); ++k)
      if (run.partial_sums(k) > 0) launch_sum(run.sum(k, result(k), operands_[p_.inputs + k].byte_data()));
  }

  // The first element that is not the sum of its parts, in words; "" if there is none. Requires: sums of eighths times
  // eighths are exact.
  std::string first_wrong() const {
    laws::call c;
    laws::tensors x;
    for (std::size_t i = 0; i < p_.inputs; ++i) {
      c.inputs.push_back(operands_[i]);
      x.push_back(laws::numbers(operands_[i]));
    }
    const auto wanted = laws::program_reference(p_, c, x, true);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto got = laws::numbers(operands_[p_.inputs + k]);
      for (std::size_t e = 0; e < got.size(); ++e)
        if (got[e] != wanted[k][e].value)
          return "element " + std::to_string(e) + " of result " + std::to_string(k) + " is " + std::to_string(got[e]) +
                 ", not " + std::to_string(wanted[k][e].value);
    }
    return "";
  }

 private:
  // The inputs, then the gradient of the result.
  static std::vector<shape> with_space(std::vector<shape> inputs) {
    shape space{};
    for (const shape& s : inputs) {
      shape wider;
      broadcast(space, s, wider);
      space = wider;
    }
    inputs.push_back(space);
    return inputs;
  }
  broadcast_walk walk() const {
    std::vector<shape> all = inputs_;
    all.insert(all.end(), inputs_.begin(), inputs_.begin() + static_cast<std::ptrdiff_t>(p_.results.size()));
    return {inputs_.back(), all};
  }
  template <class F>
  static void fill(any_tensor& t, F number) {
    visit_plain(t.dtype(), [&]<class T>() {
      for (std::int64_t e = 0; e < t.count(); ++e) t.data<T>()[e] = static_cast<T>(number());
    });
  }
  std::vector<const void*> addresses() const {
    std::vector<const void*> all;
    for (const any_tensor& t : operands_) all.push_back(t.byte_data());
    return all;
  }

  scalar::program p_;
  std::vector<shape> inputs_;
  broadcast_walk walk_;
  std::vector<any_tensor> operands_;  // the inputs, the gradient, the results
  std::vector<any_tensor> sums_;
  op::cuda_gradient_form form_;
};

// x y + z, whose gradients have sums of three kinds.
inline scalar::program product_and_sum(dtype type) {
  scalar::program p;
  p.arithmetic = type;
  const auto x = p.emit_input(false), y = p.emit_input(false), z = p.emit_input(false);
  p.results.push_back({p.emit(scalar::opcode::add, p.emit(scalar::opcode::multiply, x, y), z), type});
  return p;
}

// Shapes of the three inputs that lead to a form of a pass.
inline std::vector<std::pair<std::string, std::vector<shape>>> gradient_cases() {
  return {{"no sums", {{1003}, {1003}, {1003}}},
          {"a scalar", {{1003}, {}, {1003}}},
          {"scalars alone", {{}, {}, {}}},
          {"a scalar in a long row", {{1 << 14}, {}, {1 << 14}}},
          {"a row", {{500, 32}, {32}, {500, 32}}},
          {"an odd row", {{500, 7}, {7}, {500, 7}}},
          {"a short row", {{3000, 2}, {2}, {3000, 2}}},
          {"a short row, many times", {{20000, 2}, {2}, {20000, 2}}},
          {"a long row", {{20, 1024}, {1024}, {20, 1024}}},
          {"a column", {{500, 32}, {500, 1}, {500, 32}}},
          {"a column beside long rows", {{20, 1024}, {20, 1}, {20, 1024}}},
          {"a column, a row", {{37, 1}, {32}, {37, 32}}},
          {"a column, a row, a scalar", {{37, 1}, {32}, {}}},
          {"a middle axis", {{7, 1, 16}, {5, 1}, {7, 5, 16}}},
          {"a middle axis, a scalar", {{7, 1, 16}, {5, 1}, {}}},
          {"a matrix, a row", {{4, 5, 6}, {5, 6}, {6}}},
          {"four axes", {{3, 1, 5, 1}, {4, 1, 6}, {3, 4, 5, 6}}},
          {"five axes", {{2, 1, 3, 1, 4}, {3, 1, 5, 1}, {2, 3, 3, 5, 4}}}};
}

}  // namespace cuda_tests
