// The programs whose CUDA C is tested: those of the catalogue's ops, their gradients, the optimizers' rules, and those
// that the library holds compiled.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/scalar/compiled.hpp>

#include "laws/ops/map.hpp"

namespace cuda_tests {

using namespace pinion;

struct named_program {
  std::string about;  // "Elu of float"
  scalar::program program;
};

// Collects executable programs, each structure once.
class program_list {
 public:
  void add(std::string about, const scalar::program& p) {
    const scalar::program runs = scalar::executable(p);
    auto& alike = by_fingerprint_[scalar::fingerprint(runs)];
    for (const std::size_t at : alike)
      if (scalar::same_structure(all_[at].program, runs)) return;
    alike.push_back(all_.size());
    all_.push_back({std::move(about), runs});
  }
  void add_gradient(const std::string& about, const scalar::program& p) {
    const scalar::result& y = p.results[0];
    if (is_floating(p.arithmetic) && y.type == p.arithmetic)
      add("the gradient of " + about, scalar::derive_for_node(p));
  }
  std::vector<named_program> take() { return std::move(all_); }

 private:
  std::vector<named_program> all_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_fingerprint_;
};

inline std::string of_dtype(dtype type) {
  return " of " + std::string(to_string(type));
}

// Adds an op of the catalogue with its gradient; a cast to each dtype.
template <class Op>
void add_op(program_list& list, dtype type) {
  using functor = typename Op::functor;
  auto p = scalar::record<scalar::program, functor>(type, type);
  if (laws::is_real(p) && !is_floating(type)) return;
  if (scalar::facts(p.code[p.results[0].value].op).yields_mask) {
    p.results[0].type = dtype::boolean;
    if (scalar::of_masks<functor>) p.arithmetic = dtype::boolean;
  }
  const std::string about = std::string(Op::name) + of_dtype(p.arithmetic);
  list.add(about, p);
  list.add_gradient(about, p);
  if (Op::name != "Cast" || scalar::of_masks<functor>) return;
  for (const dtype to : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8}) {
    p.results[0].type = to;
    list.add(about + " to " + std::string(to_string(to)), p);
  }
}

template <class Rule>
void add_rule(program_list& list, dtype type) {
  std::array<double, Rule::numbers> numbers;
  numbers.fill(.25);
  const std::string about = "a rule of " + std::to_string(Rule::states) + " states" + of_dtype(type);
  list.add(about, op::rule_program<Rule, op::rate_is::input>(type, numbers));
  if constexpr (!op::rate_varies<Rule>) list.add(about, op::rule_program<Rule, op::rate_is::literal>(type, numbers));
}

// The programs of ops, gradients and rules.
inline std::vector<named_program> programs_of_catalogue() {
  program_list list;
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
    for_each_type(op::catalogue{}, [&]<class Op>() {
      if constexpr (laws::mapped_op<Op>) add_op<Op>(list, type);
    });
  for (const dtype type : {dtype::float32, dtype::float64})
    for_each_type(rules::all{}, [&]<class Rule>() { add_rule<Rule>(list, type); });
  return list.take();
}

// The fusions, and their gradients, that this build of the library holds compiled in float; none if it was built
// without optimization.
inline std::vector<named_program> fusions_of_library() {
  program_list list;
  for (const scalar::compiled_kernel& k : scalar::held_kernels::of_fusions_in_float()) {
    auto p = scalar::convert_program<scalar::program>(*k.computes);
    for (std::size_t i = 0; i < p.literals.size(); ++i) p.literals[i] = 0.5 + 0.25 * static_cast<double>(i);
    list.add("a fusion of the library:\n" + to_string(p) + "\n", p);
  }
  return list.take();
}

}  // namespace cuda_tests
