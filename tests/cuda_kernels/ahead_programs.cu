// Programs whose kernels for GPUs are compiled with this unit, as pinion_cuda_sources has it: each op of the catalogue
// and its gradient, and those of a graph's expressions.
#include <pinion/op/catalogue.hpp>
#include <pinion/op/elementwise/program_kernels.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/session.hpp>

#include "cuda_kernels/ahead_programs.hpp"

namespace {

using namespace pinion;

template <class Op, class T>
void compile() {
  using F = typename Op::functor;
  constexpr auto p = scalar::record<dsl::static_program, F>(dtype_of<T>, dtype_of<T>);
  constexpr bool is_mask = scalar::facts(p.code[p.results[0].value].op).yields_mask;
  using A = std::conditional_t<scalar::of_masks<F>, bool, T>;
  using R = std::conditional_t<is_mask, bool, T>;
  using leaf = std::conditional_t<scalar::of_masks<F>, dsl::mask_argument, dsl::number_argument>;
  if constexpr (F::arity == 1)
    dsl::instantiate_kernels<dsl::mapped<F, A, R, leaf>>();
  else if constexpr (F::arity == 2)
    dsl::instantiate_kernels<dsl::mapped<F, A, R, leaf, leaf>>();
  else
    dsl::instantiate_kernels<dsl::mapped<F, A, R, dsl::mask_argument, leaf, leaf>>();
}

template <class F, class T>
constexpr bool has_real_function() {
  for (const auto& i : scalar::record<dsl::static_program, F>(dtype_of<T>, dtype_of<T>).code)
    if (scalar::is_real_function(i.op)) return true;
  return false;
}

template <class T>
void compile_all() {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (requires { typename Op::functor; })
      if constexpr (std::is_floating_point_v<T> || !has_real_function<typename Op::functor, T>()) compile<Op, T>();
  });
}

}  // namespace

void cuda_tests::compile_ahead_programs() {
  compile_all<float>();
  compile_all<double>();
  compile_all<std::int32_t>();
  compile_all<std::int64_t>();
  compile_all<std::uint8_t>();
  dsl::instantiate_kernels<dsl::mapped<scalar::functor::identity, float, double, dsl::number_argument>>();
  for_each_type(rules::all{}, []<class Rule>() { op::instantiate_rule<Rule, true>(); });
}

cuda_tests::ahead_model cuda_tests::make_ahead_model() {
  auto x = placeholder<float>({unknown, 8}, "x"), w = placeholder<float>({unknown, unknown}, "w");
  auto y = tanh(x * w + .5f) * x;
  auto z = cast<double>(tanh(x * w));
  return {x, w, y, z};
}
