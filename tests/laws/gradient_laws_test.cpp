// Laws of gradients: of every op that has one, central differences of a session in double say the same.
#include <catch2/catch.hpp>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/session.hpp>

#include "laws/machine.hpp"
#include "laws/ops/map.hpp"

namespace {

using namespace laws;

// A graph of one node with fed inputs, and the means to ask a session for values in it.
struct probe {
  graph g;
  std::vector<output> inputs;
  std::vector<any_tensor> values;
  std::optional<shape> extent;
  shape of_y;  // as the kernel yields it
  output y;    // the sum over it is differentiated
  std::unique_ptr<runtime::session_backend> session;
  bool sparse = false;  // was the last gradient rows?

  // With the shape of y nothing is known of those of the inputs before they are fed.
  probe(std::string_view op, const sample& s, dtype key, std::optional<shape> shape_of_y = {})
      : values(random_values(s, key)), extent(shape_of_y) {
    const auto use = g.as_default();
    for (const any_tensor& t : values) inputs.push_back(feed(t));
    const output of{build(g, {.op = op, .base_name = "node", .inputs = inputs, .attrs = s.attrs(key)}), 0};
    of_y = extent ? *extent : g.type_of(of).shape;
    if (!of_y.known()) of_y = laws::run(call_of(op, s, key, values))[0].shape();
    y = weighted(of, 77);
  }

  output feed(const any_tensor& t) {
    return {build(g, {.op = "Placeholder",
                      .base_name = "in",
                      .attrs = {{"dtype", t.dtype()}, {"shape", extent ? shape::any() : t.shape()}}}),
            0};
  }
  // Times weights of about one, which tell elements apart.
  output weighted(output x, unsigned seed) {
    const shape& said = g.type_of(x).shape;
    const any_tensor w =
        random_value({}, {extent || !said.known() ? of_y : said, role::number, 0.5, 1.5}, dtype::float64, seed);
    const output by{build(g, {.op = "Const", .base_name = "w", .attrs = {{"value", w}}}), 0};
    return {
        build(g, {.op = "Mul",
                  .base_name = "y",
                  .inputs = {x, by},
                  .attrs = {{"program",
                             program_ptr(std::make_shared<scalar::program>(*map_program("Mul", dtype::float64)))}}}),
        0};
  }
  // The gradient of y by an input, dense; none where y does not depend on it.
  std::optional<output> gradient(std::size_t by) {
    const auto use = g.as_default();
    const auto found = autodiff::differentiate(g, {y}, {inputs[by]})[0];
    if (!found) return std::nullopt;
    sparse = found->is_sparse();
    return autodiff::to_dense(g, *found, inputs[by]);
  }
  // From here on y is its gradient by an input; false where it does not depend on that.
  bool differentiate(std::size_t by, unsigned seed) {
    const auto found = gradient(by);
    const auto use = g.as_default();
    if (found) y = weighted(*found, seed);
    return found.has_value();
  }
  std::vector<double> run(output o, std::vector<any_tensor> fed) {
    if (!session) session = runtime::make_direct_session({.inter_op_threads = 1, .intra_op_threads = 1}, g);
    const auto step = session->prepare({inputs, {o}, {}});
    std::vector<any_tensor> results(1);
    session->run(*step, fed, results, nullptr);
    return numbers(results[0]);
  }
  double objective(std::size_t by, std::size_t element, double step) {
    auto moved = values;
    moved[by] = copy_of(moved[by]);
    moved[by].data<double>()[element] += step;
    double sum = 0;
    for (double v : run(y, moved)) sum += v;
    return sum;
  }
  // The greatest difference between the gradient by an input and central differences, relative to 1 or to it.
  double error_by(std::size_t by, output gradient) {
    const auto analytic = run(gradient, values);
    double worst = analytic.size() == static_cast<std::size_t>(values[by].count()) ? 0 : HUGE_VAL;
    constexpr double step = 1e-5;
    for (std::size_t i = 0; i < analytic.size(); ++i) {
      const double numeric = (objective(by, i, step) - objective(by, i, -step)) / (2 * step);
      worst = std::max(worst, std::abs(numeric - analytic[i]) / std::max(1.0, std::abs(numeric)));
      if (std::isnan(analytic[i])) worst = HUGE_VAL;
    }
    return worst;
  }
};

// Samples whose numbers are double and whose first output can be differentiated.
template <class F>
void for_each_differentiable(F&& f) {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    const definition& def = definition_of(Op::name);
    if (!def.gradient || def.stateful) return;
    for (const sample& s : samples_of(Op::name, 3, 4))
      for (dtype key : {dtype::float64, dtype::float32}) {
        if (key == dtype::float32 && Op::name != std::string_view("Cast")) continue;
        if (s.inputs.empty() || s.numbers || !Op::kernels.cpu.has(key)) continue;
        if (std::any_of(s.inputs.begin(), s.inputs.end(), [](const input& i) { return i.is == role::state; })) continue;
        graph g;
        if (g[build_call(g, call_of(Op::name, s, key))].outputs[0].dtype != dtype::float64) continue;
        f(Op::name, s, key);
      }
  });
}

}  // namespace

TEST_CASE("the gradient of every op is that of central differences") {
  for_each_differentiable([](std::string_view op, const sample& s, dtype key) {
    if (key != dtype::float64) return;
    probe p(op, s, key);
    for (std::size_t by = 0; by < s.inputs.size(); ++by) {
      if (s.inputs[by].is != role::number) continue;
      INFO(title(op, s, key) << ", by input " << by);
      const auto gradient = p.gradient(by);
      if (!gradient) {  // then nothing may change, except where the op is a part of a gradient that takes only shapes
        for (std::int64_t i = 0; s.smooth && i < p.values[by].count(); ++i)
          CHECK(p.objective(by, static_cast<std::size_t>(i), 1e-3) ==
                Approx(p.objective(by, static_cast<std::size_t>(i), -1e-3)));
      } else if (s.smooth) {
        CHECK(p.error_by(by, *gradient) < 1e-7);
      } else {
        for (double v : p.run(*gradient, p.values)) CHECK(v == 0);
      }
      ledger::get().count("(c) gradient = central differences", op);
      if (p.sparse) ledger::get().count("(c) a sparse gradient, made dense = central differences", op);
    }
  });
}

TEST_CASE("a gradient asks for no shape before it runs") {
  for_each_differentiable([](std::string_view op, const sample& s, dtype key) {
    if (key != dtype::float64) return;
    probe known(op, s, key), unknown(op, s, key, known.of_y);
    for (std::size_t by = 0; by < s.inputs.size(); ++by) {
      if (s.inputs[by].is != role::number) continue;
      INFO(title(op, s, key) << ", by input " << by);
      const auto a = known.gradient(by), b = unknown.gradient(by);
      REQUIRE(a.has_value() == b.has_value());
      if (!a) continue;
      const auto want = known.run(*a, known.values), got = unknown.run(*b, unknown.values);
      REQUIRE(got.size() == want.size());
      for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-12));
      ledger::get().count("(c) the gradient of unknown shapes = that of known ones", op);
    }
  });
}

// Whether the gradient of an op is an op that says why it has none itself.
bool is_differentiable_once(std::string_view op) {
  const auto& all = pinion::detail::definitions();
  const std::string name = std::string(op) + "Grad";
  const auto found = all.find(name);
  return found != all.end() && !found->second.no_gradient.empty();
}

TEST_CASE("no op but one that says why refuses a second or a third derivative: each is that of central differences") {
  for_each_differentiable([](std::string_view op, const sample& s, dtype key) {
    if (key != dtype::float64 || !s.smooth || is_differentiable_once(op)) return;
    for (std::size_t by = 0; by < s.inputs.size(); ++by) {
      if (s.inputs[by].is != role::number) continue;
      probe p(op, s, key);
      if (!p.differentiate(by, 78)) continue;
      for (std::size_t other = 0; other < s.inputs.size(); ++other) {
        if (s.inputs[other].is != role::number) continue;
        INFO(title(op, s, key) << ", by inputs " << by << " and " << other);
        const auto second = p.gradient(other);
        if (!second) continue;
        CHECK(p.error_by(other, *second) < 1e-6);
        ledger::get().count("(c) second order = central differences", op);
        probe q(op, s, key);
        q.differentiate(by, 78), q.differentiate(other, 79);
        const auto third = q.gradient(by);
        if (!third) continue;
        CHECK(q.error_by(by, *third) < 1e-5);
        ledger::get().count("(c) third order = central differences", op);
      }
    }
  });
}

TEST_CASE("an op without a gradient says why") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    const definition& def = definition_of(Op::name);
    INFO(Op::name);
    CHECK((def.gradient != nullptr) == def.no_gradient.empty());
  });
}
