// The part of pinion::compiled that holds the kernels of its update rules, of learning rates, of the steps of
// optimizers, and of formulas in gradients.
#include <pinion/op/elementwise/held_formula.hpp>
#include <pinion/op/elementwise/program.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/train/optimizers/rates.hpp>
#include <pinion/train/optimizers/steps.hpp>

using namespace pinion;

namespace {

template <class Visit>
constexpr void for_each_program(Visit visit) {
  if constexpr (scalar::compiles_kernels) {
    for_each_type(rules::all{}, [&]<class Rule>() { op::for_each_program_of<Rule>(visit); });
    for_each_type(train::rates::all{}, [&]<class Rate>() {
      visit.template operator()<train::rates::compiled_rate<Rate, false>>();
      visit.template operator()<train::rates::compiled_rate<Rate, true>>();
    });
    for_each_type(train::steps::all{}, [&]<class Formula>() {
      visit.template operator()<train::steps::compiled_step<Formula, float>>();
      visit.template operator()<train::steps::compiled_step<Formula, double>>();
    });
    const auto visit_formula = [&]<class P>() {
      visit.template operator()<P>();
      visit.template operator()<dsl::gradient_of<P>>();
    };
    for_each_type(op::formula::all{}, [&]<class Formula>() {
      visit_formula.template operator()<op::compiled_formula<Formula, float>>();
      visit_formula.template operator()<op::compiled_formula<Formula, double>>();
    });
  }
}

constexpr std::size_t count = [] {
  std::size_t programs = 0;
  for_each_program([&]<class P>() { ++programs; });
  return programs;
}();

constexpr std::array<scalar::compiled_kernel, count> kernels = [] {
  std::array<scalar::compiled_kernel, count> all{};
  std::size_t at = 0;
  for_each_program([&]<class P>() { all[at++] = scalar::kernel_of<P>; });
  return all;
}();

}  // namespace

std::span<const scalar::compiled_kernel> scalar::held_kernels::of_rules() {
  return kernels;
}
