// The one table of the laws: for each op of the catalogue a few nodes of it. A new op brings its rows here.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/op/catalogue.hpp>
#include <pinion/scalar/record.hpp>

namespace laws {

using namespace pinion;

// What stands at an input: numbers in [low, high], bools, indices in [0, high), a variable that holds numbers, or numbers
// of which each row adds up to 1.
enum class role { number, mask, index32, index64, state, distribution };
struct input {
  shape extent;
  role is = role::number;
  double low = -2, high = 2;
};

struct sample {
  std::string note;
  std::vector<input> inputs;
  std::function<attributes(dtype)> attrs = [](dtype) { return attributes{}; };  // by the dtype that selects the kernel
  std::optional<dtype> numbers = {};  // of number inputs, where it is not that one
  bool smooth = true;                 // may its gradient be compared with differences?
};

using program_ptr = std::shared_ptr<const scalar::program>;

// ---- programs -----------------------------------------------------------------------------------------------------

template <class Op>
concept mapped_op = requires { typename Op::functor; };

// The program of an elementwise op; a cast converts to `to`, and stands twice in the catalogue: of numbers, of bools.
inline std::optional<scalar::program> map_program(std::string_view op, dtype arithmetic, dtype to = dtype::invalid, bool second = false) {
  std::optional<scalar::program> found;
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (mapped_op<Op>) {
      if (Op::name != op || (found && !second)) return;
      auto p = scalar::record<scalar::program, typename Op::functor>(arithmetic, arithmetic);
      const bool mask = scalar::facts(p.code[p.results[0].value].op).yields_mask;
      p.results[0].type = mask ? dtype::boolean : to != dtype::invalid ? to : arithmetic;
      found = p;
    }
  });
  return found;
}

// Functions of real numbers alone, and those with corners or steps, of which differences say nothing.
inline bool is_real(scalar::opcode op) {
  using enum scalar::opcode;
  switch (op) {
    case power: case exp: case expm1: case log: case log1p: case sqrt: case rsqrt: case tanh: case erf: case sin:
    case cos: return true;
    default: return false;
  }
}
inline bool is_real(const scalar::program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [](const auto& i) { return is_real(i.op); });
}

inline sample map_sample(std::string_view op, std::string note, std::vector<input> inputs, dtype to = dtype::invalid,
                         bool second = false) {
  return {std::move(note), std::move(inputs), [op, to, second](dtype d) {
            return attributes{{"program", program_ptr(std::make_shared<scalar::program>(*map_program(op, d, to, second)))}};
          }};
}

// MapGrad of an op: its inputs, then the gradient of its output.
inline sample gradient_sample(std::string_view op, std::string note, std::vector<input> inputs) {
  return {std::string(op) + ", " + note, std::move(inputs), [op](dtype d) {
            return attributes{{"program", program_ptr(std::make_shared<scalar::program>(scalar::derive(*map_program(op, d))))}};
          }};
}

inline attributes update_attributes(dtype d, int states) {
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = d;
  using value = scalar::symbol<scalar::program>;
  std::vector<value> in;
  for (int i = 0; i <= states; ++i) in.push_back({p.get(), p->emit_input(false)});
  const value rate{p.get(), p->emit_literal(0.25)};
  const value step = states == 1 ? in[1] : in[1] * value{p.get(), p->emit_literal(0.5)} + in[2];
  p->results.push_back({(in[0] - step * rate).id, d});
  if (states == 2) p->results.push_back({step.id, d});
  return {{"program", program_ptr(p)}, {"states", std::int64_t{states}}};
}

// ---- the table ----------------------------------------------------------------------------------------------------

// m x n is the size of the matrices: small to be looked at, large to be split over threads.
inline std::vector<sample> map_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  const auto p = *map_program(op, dtype::float64);
  const bool masks = p.code[0].op == scalar::opcode::input_mask && p.inputs < 3;
  double low = -2, high = 2;
  if (op == "Log" || op == "Sqrt" || op == "Rsqrt" || op == "Pow" || op == "Cast") low = 0.5, high = 4;
  if (op == "Log1p") low = -0.5;
  const input matrix{{m, n}, masks ? role::mask : role::number, low, high};
  const auto of = [&](shape s) {
    input i = matrix;
    i.extent = s;
    return i;
  };
  const auto divisor = [&](shape s) {
    input i = of(s);
    if (op == "Div") i.low = 0.5;
    return i;
  };
  std::vector<sample> all;
  const auto add = [&](std::string note, std::vector<input> inputs) { all.push_back(map_sample(op, std::move(note), std::move(inputs))); };
  if (op == "Cast") {
    all.push_back(map_sample(op, "of bools", {{{m, n}, role::mask}}, dtype::invalid, true));
    for (dtype to : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
      all.push_back(map_sample(op, "to " + std::string(to_string(to)), {matrix}, to));
    all.push_back(map_sample(op, "of nothing", {of({0, n})}, dtype::float32));
  } else if (p.inputs == 1) {
    add("matrix", {matrix});
    add("scalar", {of({})});
    add("nothing", {of({0})});
    add("rank 4", {of({2, 1, m, 3})});
  } else if (p.inputs == 2) {
    add("matrices", {matrix, divisor({m, n})});
    add("matrix and row", {matrix, divisor({n})});
    add("column and row", {of({m, 1}), divisor({1, n})});
    add("scalar and matrix", {of({}), divisor({m, n})});
    add("nothing", {of({0, n}), divisor({n})});
    add("rank 3 and rank 4", {of({m, 1, n}), divisor({2, 1, 3, 1})});
  } else {
    const input mask{{m, n}, role::mask};
    add("matrices", {mask, matrix, matrix});
    add("row mask, scalar", {{{n}, role::mask}, matrix, of({})});
    add("column mask, row", {{{m, 1}, role::mask}, of({n}), of({m, 1})});
    add("nothing", {{{0}, role::mask}, of({0}), of({1})});
  }
  for (sample& s : all) s.smooth = op != "Floor" && op != "Ceil" && op != "Round" && op != "Sign";
  return all;
}

inline attributes axes(integers which, bool keep = false) {
  return {{"axes", std::move(which)}, {"keep_dims", keep}};
}

inline std::vector<sample> samples_of(std::string_view op, std::int64_t m = 5, std::int64_t n = 7) {
  using enum role;
  const auto plain = [](attributes a) { return [a](dtype) { return a; }; };
  const input matrix{{m, n}};
  if (op == "MapGrad")
    return {gradient_sample("Mul", "matrix and row", {matrix, {{n}}, matrix}),
            gradient_sample("Mul", "column and row", {{{m, 1}}, {{n}}, matrix}),
            gradient_sample("Sub", "matrix and scalar", {matrix, {{}}, matrix}),
            gradient_sample("Div", "rank 3", {{{2, m, 1}}, {{n}, number, 0.5, 2}, {{2, m, n}}}),
            gradient_sample("Elu", "matrix", {matrix, matrix}),
            gradient_sample("Select", "row mask", {{{n}, mask}, matrix, {{m, 1}}, matrix}),
            gradient_sample("Maximum", "nothing", {{{0, n}}, {{n}}, {{0, n}}}),
            gradient_sample("Pow", "scalars", {{{}, number, 0.5, 2}, {{}}, {{}}})};
  if (map_program(op, dtype::float64)) return map_samples(op, m, n);

  const auto typed = [](shape s) { return [s](dtype d) { return attributes{{"dtype", d}, {"shape", s}}; }; };
  if (op == "Const")
    return {{"matrix", {}, [=](dtype d) {
               any_tensor t(d, {m, n});
               if (d == dtype::string) t.data<std::string>()[1] = "text";
               else for (std::size_t i = 0; i < t.bytes(); ++i) t.byte_data()[i] = std::byte(i % 2);
               return attributes{{"value", t}};
             }}};
  if (op == "Placeholder") return {{"matrix", {}, typed({m, n})}};
  if (op == "Identity")
    return {{"matrix", {matrix}}, {"nothing", {{{0}}}}, {"variable", {{{m}, state}}}};
  if (op == "ZerosLike" || op == "OnesLike") return {{"matrix", {matrix}}, {"nothing", {{{0, 3}}}}, {"scalar", {{{}}}}};
  if (op == "NoOp") return {{"", {}}};
  if (op == "VariableV2") return {{"matrix", {}, typed({m, n})}};
  if (op == "Assign" || op == "AssignAdd" || op == "AssignSub")
    return {{"matrix", {{{m, n}, state}, matrix}}, {"scalar", {{{}, state}, {{}}}}, {"nothing", {{{0}, state}, {{0}}}}};
  if (op == "ApplyGradientDescent")
    return {{"matrix", {{{m, n}, state}, matrix}, [](dtype d) { return update_attributes(d, 1); }}};
  if (op == "ApplyMomentum")
    return {{"matrix", {{{m, n}, state}, {{m, n}, state}, matrix}, [](dtype d) { return update_attributes(d, 2); }}};
  if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || op == "Prod") {
    const double low = op == "Prod" ? 0.5 : -2, high = op == "Prod" ? 1.5 : 2;
    const auto of = [=](shape s) { return input{s, number, low, high}; };
    return {{"all", {of({m, n})}},
            {"rows", {of({m, n})}, plain(axes({1}))},
            {"columns, kept", {of({m, n})}, plain(axes({-2}, true))},
            {"no axis", {of({m, n})}, plain(axes({}))},
            {"outer and inner", {of({2, m, 3})}, plain(axes({0, 2}))},
            {"scalar", {of({})}},
            {"of nothing", {of({0, n})}, plain(axes({0}))},
            {"to nothing", {of({0, n})}, plain(axes({1}))}};
  }
  if (op == "ExpandLike")
    return {{"scalar", {{{}}, matrix}},
            {"rows, mean", {{{m}}, matrix}, [](dtype) { auto a = axes({1}); a.set("mean", true); return a; }},
            {"columns, kept", {{{1, n}}, matrix}, plain(axes({0}, true))},
            {"to nothing", {{{0}}, {{0, n}}}, plain(axes({1}))}};
  if (op == "ProdGrad")
    return {{"all", {{{}}, {{m}, number, 0.5, 1.5}}}, {"rows", {{{m}}, matrix}, plain(axes({1}))}};
  if (op == "ArgMax") {
    std::vector<sample> all;
    for (dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8}) {
      all.push_back({"rows of " + std::string(to_string(d)), {matrix}, plain({{"axis", std::int64_t{1}}}), d});
      all.push_back({"middle of " + std::string(to_string(d)), {{{2, m, 3}}}, plain({{"axis", std::int64_t{-2}}}), d});
    }
    return all;
  }
  if (op == "Softmax" || op == "LogSoftmax") return {{"matrix", {matrix}}, {"vector", {{{n}}}}, {"rank 3", {{{2, m, 3}}}}, {"nothing", {{{0, 3}}}}};
  if (op == "ScaleRows") return {{"matrix", {matrix, {{m}}}}, {"rank 3", {{{m, 2, 3}}, {{m}}}}, {"nothing", {{{0, 3}}, {{0}}}}};
  if (op == "SoftmaxCrossEntropyWithLogits") return {{"matrix", {{{m, n}, distribution, 0.1, 1}, matrix}}, {"nothing", {{{0, 3}, distribution}, {{0, 3}}}}};
  if (op == "SparseSoftmaxCrossEntropyWithLogits") {
    const double c = static_cast<double>(n);
    return {{"int32", {{{m}, index32, 0, c}, matrix}}, {"int64", {{{m}, index64, 0, c}, matrix}}, {"nothing", {{{0}, index32, 0, 3}, {{0, 3}}}}};
  }
  if (op == "InTopK") {
    std::vector<sample> all;
    const double c = static_cast<double>(n);
    for (dtype d : {dtype::float32, dtype::float64})
      for (role r : {index32, index64})
        all.push_back({std::string(to_string(d)), {matrix, {{m}, r, 0, c}}, plain({{"k", std::int64_t{2}}}), d});
    return all;
  }
  if (op == "RandomUniform" || op == "RandomStandardNormal" || op == "TruncatedNormal")
    return {{"matrix", {}, [=](dtype d) {
               attributes a{{"dtype", d}, {"shape", shape{m, n}}, {"seed", std::int64_t{7}}};
               if (op == "RandomUniform") a.set("minval", 0.0), a.set("maxval", 100.0);
               return a;
             }}};
  const double rows = static_cast<double>(m);
  if (op == "Gather")
    return {{"rows", {matrix, {{4}, index32, 0, rows}}}, {"matrix of indices", {matrix, {{2, 3}, index64, 0, rows}}},
            {"one", {{{m}}, {{}, index32, 0, rows}}}, {"nothing", {matrix, {{0}, index32, 0, 1}}}};
  if (op == "ScatterDense")
    return {{"rows", {{{4}, index32, 0, rows}, {{4, n}}, matrix}}, {"elements", {{{2 * m}, index64, 0, rows}, {{2 * m}}, {{m}}}},
            {"nothing", {{{0}, index32, 0, 1}, {{0, n}}, matrix}}};
  if (op == "Reshape") return {{"flat", {matrix}, plain({{"shape", shape{-1}}})}, {"cube", {{{2, m, 3}}}, plain({{"shape", shape{m, 6, 1}}})}};
  if (op == "ReshapeLike") return {{"matrix", {{{m * n}}, matrix}}, {"scalar", {{{1, 1}}, {{}}}}};
  if (op == "Transpose") return {{"matrix", {matrix}}, {"rank 3", {{{2, m, 3}}}, plain({{"perm", integers{1, 2, 0}}})}, {"scalar", {{{}}}}, {"nothing", {{{0, 3}}}}};
  if (op == "MatMul") {
    std::vector<sample> all;
    const std::int64_t k = 6;
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        all.push_back({std::string(ta ? "left" : "") + (tb ? "right" : "") + " turned",
                       {{ta ? shape{k, m} : shape{m, k}}, {tb ? shape{n, k} : shape{k, n}}},
                       plain({{"transpose_a", ta}, {"transpose_b", tb}})});
    all.push_back({"no columns", {{{m, 3}}, {{3, 0}}}});
    all.push_back({"nothing inside", {{{m, 0}}, {{0, n}}}});
    return all;
  }
  return {};
}


// ---- values -------------------------------------------------------------------------------------------------------

// The dtype of an input, by the dtype that selects the kernel.
inline dtype type_of(const sample& s, const input& i, dtype key) {
  switch (i.is) {
    case role::mask: return dtype::boolean;
    case role::index32: return dtype::int32;
    case role::index64: return dtype::int64;
    default: return s.numbers.value_or(key);
  }
}

// Random elements; the same for the same seed.
inline any_tensor random_value(const sample& s, const input& i, dtype key, unsigned seed) {
  any_tensor t(type_of(s, i, key), i.extent);
  std::mt19937 bits(seed);
  const bool index = i.is == role::index32 || i.is == role::index64;
  if (t.dtype() == dtype::string) return t;
  visit_plain(t.dtype(), [&]<class T>() {
    for (std::int64_t e = 0; e < t.count(); ++e) {
      const double low = std::is_unsigned_v<T> ? std::max(i.low, 0.0) : i.low;
      if constexpr (std::is_same_v<T, bool>) t.data<T>()[e] = i.low >= 0.5 || bits() % 2;
      else if constexpr (std::is_floating_point_v<T>) t.data<T>()[e] = static_cast<T>(std::uniform_real_distribution<double>(i.low, i.high)(bits));
      else t.data<T>()[e] = static_cast<T>(std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(std::ceil(low)), static_cast<std::int64_t>(i.high) - index)(bits));
    }
    if (i.is != role::distribution) return;
    const std::int64_t n = i.extent[i.extent.rank() - 1];
    for (std::int64_t row = 0; row + n <= t.count() && n > 0; row += n) {
      double sum = 0;
      for (std::int64_t e = row; e < row + n; ++e) sum += static_cast<double>(t.data<T>()[e]);
      for (std::int64_t e = row; e < row + n; ++e) t.data<T>()[e] = static_cast<T>(static_cast<double>(t.data<T>()[e]) / sum);
    }
  });
  return t;
}
inline std::vector<any_tensor> random_values(const sample& s, dtype key, unsigned seed = 1) {
  std::vector<any_tensor> all;
  for (const input& i : s.inputs) all.push_back(random_value(s, i, key, seed++));
  return all;
}

}  // namespace laws
