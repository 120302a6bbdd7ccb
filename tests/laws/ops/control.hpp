// Control flow. A node with bodies runs in a session alone: its kernels are tested in tests/runtime, its shapes,
// gradients and refusals here.
#pragma once

#include <pinion/graph/scopes.hpp>
#include <pinion/op/control/bodies.hpp>

#include "laws/ops/map.hpp"

namespace laws {

// A body under construction, of numbers or of what is only passed on.
struct body_writer {
  std::shared_ptr<body> made = std::make_shared<body>();
  dtype type;

  explicit body_writer(dtype of) : type(of) {}
  output argument(const shape& s) { return op::add_argument(*made, {type, s}, "argument"); }
  output add(std::string_view op, std::vector<output> inputs, attributes attrs = {}) {
    const auto use = made->graph.as_default();
    return {build(made->graph, {.op = op, .base_name = "node", .inputs = std::move(inputs), .attrs = std::move(attrs)}),
            0};
  }
  // a op b of floating numbers; a of what only passes on.
  output map(std::string_view op, output a, output b) {
    if (!is_floating(type)) return add("Identity", {a});
    return add(op, {a, b}, {{"program", program_ptr(std::make_shared<scalar::program>(*map_program(op, type)))}});
  }
  shared_body yields(std::vector<output> results) {
    made->results = std::move(results);
    return made;
  }
};

// x * w, or x - w.
inline shared_body branch(dtype d, std::string_view op, const shape& x, const shape& w) {
  body_writer b(d);
  const output first = b.argument(x), second = b.argument(w);
  return b.yields({b.map(op, first, second)});
}

// y = y * slice + w, of which the slice times w is collected, and the variable itself kept.
inline shared_body loop_body(dtype d, const shape& y, const shape& w) {
  body_writer b(d);
  const output variable = b.argument(y), slice = b.argument(y), invariant = b.argument(w);
  return b.yields({b.map("Add", b.map("Mul", variable, slice), invariant), b.map("Mul", slice, invariant), variable});
}

inline attributes loop_attributes(dtype d, std::int64_t m, std::int64_t n, bool reverse) {
  return {{"body", loop_body(d, {m, n}, {n})},
          {"variables", std::int64_t{1}},
          {"scanned", std::int64_t{1}},
          {"collected", std::int64_t{1}},
          {"reverse", reverse}};
}

inline std::vector<row> control_rows() {
  using enum role;
  const auto If = [](std::int64_t results, dtype then, dtype otherwise) {
    return attributes{
        {"then", branch(then, "Mul", {2}, {2})}, {"else", branch(otherwise, "Sub", {2}, {2})}, {"results", results}};
  };
  const auto with = [](attributes a, std::string_view name, std::int64_t value) {
    a.set(name, value);
    return a;
  };
  return {
      {{"If"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         const auto attrs = [=](dtype d) {
           return attributes{{"then", branch(d, "Mul", {m, n}, {n})},
                             {"else", branch(d, "Sub", {m, n}, {n})},
                             {"results", std::int64_t{1}}};
         };
         return {{"one way", {{{}, mask, 1, 1}, {{m, n}}, {{n}}}, attrs},
                 {"some way", {{{}, mask, 0, 0}, {{m, n}}, {{n}}}, attrs}};
       },
       nullptr,
       {{"If", {f({}), f({2}), f({2})}, If(1, dtype::float32, dtype::float32), "is bool, not float"},
        {"If", {b({2}), f({2}), f({2})}, If(1, dtype::float32, dtype::float32), "0 dimensions"},
        {"If", {b({}), f({2})}, If(1, dtype::float32, dtype::float32), "takes 2 arguments, not 1"},
        {"If", {b({}), f({2}), d({2})}, If(1, dtype::float32, dtype::float32), "is float, but is given double"},
        {"If", {b({}), f({2}), f({2})}, If(2, dtype::float32, dtype::float32), "yields less than 2 results"}}},
      {{"While"},
       [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
         return {{"forward", {{{m, n}}, {{3, m, n}}, {{n}}}, [=](dtype d) { return loop_attributes(d, m, n, false); }},
                 {"backward", {{{m, n}}, {{3, m, n}}, {{n}}}, [=](dtype d) { return loop_attributes(d, m, n, true); }},
                 {"no iteration", {{{m, n}}, {{0, m, n}}, {{n}}}, [=](dtype d) {
                    return loop_attributes(d, m, n, false);
                  }}};
       },
       nullptr,
       {{"While", {f({2, 3}), f({4, 2, 3}), d({3})}, loop_attributes(dtype::float32, 2, 3, false), "is given double"},
        {"While",
         {f({2, 4}), f({4, 2, 3}), f({3})},
         loop_attributes(dtype::float32, 2, 3, false),
         "which its invariant [2, 3] does not admit"},
        {"While",
         {f({2, 3}), f({4, 2, 3}), f({3})},
         with(loop_attributes(dtype::float32, 2, 3, false), "scanned", 0),
         "needs something to scan"},
        {"While",
         {f({2, 3}), f({4, 2, 3}), f({3})},
         with(loop_attributes(dtype::float32, 2, 3, false), "variables", 9),
         "fewer inputs"},
        {"While",
         {f({2, 3}), f({4, 2, 3}), f({3})},
         with(loop_attributes(dtype::float32, 2, 3, false), "scanned", std::numeric_limits<std::int64_t>::max()),
         "fewer inputs"}}},
  };
}

}  // namespace laws
