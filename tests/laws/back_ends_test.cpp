// The law of back ends: compiled kernel and interpreter agree with the plain program, in every instruction set.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/program_kernels.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>

#include "laws/ops/map.hpp"
#include "laws/reference.hpp"

namespace {

using namespace laws;

// Every op over plain operands, as the DSL instantiates it.
template <class Op, class T>
void instantiate() {
  using F = typename Op::functor;
  constexpr auto p = scalar::record<dsl::static_program, F>(dtype_of<T>, dtype_of<T>);
  constexpr bool mask = scalar::facts(p.code[p.results[0].value].op).yields_mask;
  using R = std::conditional_t<mask, bool, T>;
  using leaf = std::conditional_t<scalar::of_masks<F>, dsl::mask_argument, dsl::number_argument>;
  if constexpr (F::arity == 1)
    dsl::instantiate_kernels<dsl::mapped<F, T, R, leaf>>();
  else if constexpr (F::arity == 2)
    dsl::instantiate_kernels<dsl::mapped<F, T, R, leaf, leaf>>();
  else
    dsl::instantiate_kernels<dsl::mapped<F, T, R, dsl::mask_argument, leaf, leaf>>();
}

std::vector<double> values(bool mask, std::size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<double> all{0.0, -0.0, 1, -1, 0.5, 2, INFINITY, -INFINITY, NAN, 1e-40, 1e30, -1e30, 88, -104, 3, -0.25};
  while (all.size() < count) all.push_back(std::uniform_real_distribution<double>(-10, 10)(bits));
  std::shuffle(all.begin(), all.end(), bits);
  if (mask)
    for (double& v : all) v = v > 0;
  return all;
}

using row = std::vector<double>;

template <class T>
std::vector<row> run_program(const op::program_runner& run, const std::vector<row>& x) {
  const std::size_t n = x[0].size();
  const auto& p = run.program();
  std::vector<std::vector<T>> in(x.size()), out(p.results.size(), std::vector<T>(n));
  std::vector<std::unique_ptr<bool[]>> masks;
  std::vector<std::unique_ptr<bool[]>> bools;
  scalar::strip s;
  s.n = static_cast<std::int64_t>(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    in[i].assign(x[i].begin(), x[i].end());
    s.in[i] = in[i].data();
    s.advance[i] = ~std::int64_t{0};
  }
  for (const auto& c : p.code)
    if (c.op == scalar::opcode::input_mask) {
      masks.emplace_back(new bool[n]);
      std::transform(x[c.a].begin(), x[c.a].end(), masks.back().get(), [](double v) { return v != 0; });
      s.in[c.a] = masks.back().get();
    }
  for (std::size_t k = 0; k < p.results.size(); ++k) {
    bools.emplace_back(new bool[n]);
    s.out[k] = p.results[k].type == dtype::boolean ? static_cast<void*>(bools.back().get()) : out[k].data();
    s.how[k] = scalar::sink::store;
  }
  run(s);
  std::vector<row> y;
  for (std::size_t k = 0; k < p.results.size(); ++k)
    if (p.results[k].type == dtype::boolean)
      y.emplace_back(bools[k].get(), bools[k].get() + n);
    else
      y.emplace_back(out[k].begin(), out[k].end());
  return y;
}

template <class T>
void check(std::string_view name, const scalar::program& p) {
  constexpr std::size_t n = 83;
  std::vector<row> x;
  for (scalar::value_id k = 0; k < p.inputs; ++k) {
    const bool mask = std::any_of(p.code.begin(), p.code.end(),
                                  [&](auto& c) { return c.op == scalar::opcode::input_mask && c.a == k; });
    x.push_back(values(mask, n, 3 + k));
    for (double& v : x.back()) v = static_cast<double>(static_cast<T>(v));
  }
  for (int isa = 0; isa <= scalar::isa::best(); ++isa) {
    const op::program_runner fast(p, op::program_runner::any, isa), slow(p, op::program_runner::interpreter_only, isa);
    INFO(name << " on " << scalar::isa::name(isa));
    CHECK(fast.compiled());
    CHECK(!slow.compiled());
    const auto a = run_program<T>(fast, x), b = run_program<T>(slow, x);
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t i = 0; i < n; ++i) {
        row at;
        for (const row& r : x) at.push_back(r[i]);
        const evaluator plain(p, at);
        const ranged want = plain.result(k);
        const dtype type = p.results[k].type;
        if (admits(want, a[k][i], type) && admits(want, b[k][i], type)) continue;
        std::string from;
        for (double v : at) from += " " + std::to_string(v);
        FAIL_CHECK(name << " on " << scalar::isa::name(isa) << " result " << k << " of" << from << ": compiled "
                        << a[k][i] << ", interpreted " << b[k][i] << ", plainly " << want.value << " +- "
                        << want.slack);
      }
    ledger::get().count("(d) compiled = interpreted = plain, in each instruction set", name);
  }
}

template <class T>
void check_all() {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (mapped_op<Op>) {
      instantiate<Op, T>();
      auto p = scalar::record<scalar::program, typename Op::functor>(dtype_of<T>, dtype_of<T>);
      const bool mask = scalar::facts(p.code[p.results[0].value].op).yields_mask;
      if (mask) p.results[0].type = dtype::boolean;
      check<T>(Op::name, p);
      if (!mask) check<T>(std::string(Op::name) + "'", scalar::derive_for_node(p));
    }
  });
}

}  // namespace

TEST_CASE("compiled programs and the interpreter agree within 4 ulp a scalar op, in every instruction set") {
  check_all<float>();
}

TEST_CASE("the optimizers' rules, too, are the same in every instruction set and interpreted") {
  const auto check_rule = []<class Rule, op::rate_is Rate, class T>() {
    std::array<double, Rule::numbers> numbers;
    numbers.fill(.25);
    op::instantiate_rule<Rule>();
    check<T>("a rule of " + std::to_string(Rule::states) + " states and " + std::to_string(Rule::numbers) + " numbers",
             op::rule_program<Rule, Rate>(dtype_of<T>, numbers));
  };
  for_each_type(rules::all{}, [&]<class Rule>() {
    check_rule.template operator()<Rule, op::rate_is::input, float>();
    check_rule.template operator()<Rule, op::rate_is::input, double>();
    if constexpr (!op::rate_varies<Rule>) check_rule.template operator()<Rule, op::rate_is::literal, float>();
    if constexpr (!op::rate_varies<Rule>) check_rule.template operator()<Rule, op::rate_is::literal, double>();
  });
}
