// What ops refuse: a wrong rank, shape or dtype is an invalid_argument that names the node.
#include <catch2/catch.hpp>

#include <set>

#include "laws/machine.hpp"
#include "laws/ops/variable.hpp"

namespace {

using namespace laws;

std::string refusal(const std::function<void()>& make, const std::string& says) {
  try {
    make();
    return "not refused";
  } catch (const error& e) {
    const bool named = e.code() == errc::invalid_argument && !e.node().empty();
    return named && std::string(e.what()).find(says) != std::string::npos ? "" : e.what();
  }
}

}  // namespace

TEST_CASE("inputs of a wrong rank, shape or dtype are refused, and the node is named") {
  for (const row& r : all_rows())
    for (const misfit& m : r.misfits) {
      INFO(m.op << " expected to say: " << m.says);
      graph g;
      CHECK(refusal(
                [&] {
                  build_call(g, {std::string(m.op), m.inputs, {}, m.attrs, m.resource, m.resource_attrs});
                },
                m.says) == "");
      ledger::get().count("(g) wrong rank, shape or dtype is refused", m.op);
    }
}

TEST_CASE("a value that does not fit its variable is refused, and the node is named") {
  for (std::string_view op : {"Assign", "AssignAdd", "AssignSub", "AssignMul"}) {
    graph g;
    CHECK(refusal([&] { build_call(g, {std::string(op), {f({2}), f({3})}, {true, false}, {}}); }, "[3]") == "");
    CHECK(refusal(
              [&] {
                build_call(g, {std::string(op), {f({2}), d({2})}, {true, false}, {}});
              },
              "double value") == "");
    ledger::get().count("(g) wrong rank, shape or dtype is refused", op, 2);
  }
}

TEST_CASE("a gradient or a rate that does not fit its variable is refused, and the node is named") {
  const auto check = []<class Rule>(std::string_view op) {
    std::vector<any_tensor> inputs(static_cast<std::size_t>(Rule::states), f({2}));
    std::vector<bool> state(inputs.size(), true);
    const auto with = [&](any_tensor gradient, any_tensor rate) {
      auto all = inputs;
      all.push_back(gradient);
      all.insert(all.end(), op::rates_of<Rule>(), rate);
      return call{std::string(op), all, state, rule_attributes<Rule, op::rate_is::input>(dtype::float32)};
    };
    graph g;
    CHECK(refusal([&] { build_call(g, with(f({3}), f({}))); }, "[3]") == "");
    CHECK(refusal([&] { build_call(g, with(d({2}), f({}))); }, "double") == "");
    CHECK(refusal([&] { build_call(g, with(f({2}), f({2}))); }, "a rate is a scalar") == "");
    CHECK(refusal([&] { build_call(g, with(f({2}), d({}))); }, "double") == "");
    ledger::get().count("(g) wrong rank, shape or dtype is refused", op, 4);
  };
  check.template operator()<rules::gradient_descent>("ApplyGradientDescent");
  check.template operator()<rules::momentum>("ApplyMomentum");
  check.template operator()<rules::adagrad>("ApplyAdagrad");
  check.template operator()<rules::rmsprop>("ApplyRMSProp");
  check.template operator()<rules::centered_rmsprop>("ApplyCenteredRMSProp");
  check.template operator()<rules::adam>("ApplyAdam");
  check.template operator()<rules::adamw>("ApplyAdamW");
  check.template operator()<rules::lion>("ApplyLion");
  check.template operator()<rules::moving_average>("ApplyMovingAverage");
  check.template operator()<rules::moving_square>("ApplyMovingSquare");
}

TEST_CASE("every op has a row, with nodes of it and with what it refuses, or takes anything") {
  const std::set<std::string_view> tested_above{
      "ApplyGradientDescent", "ApplyMomentum",    "ApplyAdagrad", "ApplyRMSProp",
      "ApplyCenteredRMSProp", "ApplyAdam",        "ApplyAdamW",   "ApplyLion",
      "ApplyMovingAverage",   "ApplyMovingSquare"};
  for_each_type(op::catalogue{}, [&]<class Op>() {
    INFO(Op::name);
    const row* r = row_of(Op::name);
    REQUIRE(r != nullptr);
    CHECK(!samples_of(Op::name).empty());
    const bool refuses =
        std::any_of(r->misfits.begin(), r->misfits.end(), [](const misfit& m) { return m.op == Op::name; });
    CHECK((refuses || tested_above.count(Op::name) == 1) != r->takes_anything);
  });
}

TEST_CASE("shapes that turn out wrong when a node runs are refused then") {
  struct row {
    call c;
    std::string says;
  };
  const std::vector<row> rows{{{"Add", {f({2, 3}), f({2})}, {}, mapped("Add")}, "do not broadcast"},
                              {{"MatMul", {f({2, 3}), f({2, 3})}, {}, {}}, "inner dimensions"},
                              {{"Reshape", {f({2, 3})}, {}, {{"shape", shape{4}}}}, "do not fill"},
                              {{"ReshapeLike", {f({2, 3}), f({5})}, {}, {}}, "do not fill"},
                              {{"MapGrad", {f({2, 3}), f({3}), f({2})}, {}, derived("Mul")}, "do not broadcast"}};
  for (const auto& [c, says] : rows) {
    graph g;
    const auto device = make_device(place::cpu);
    local_resources resources;
    task_services services{&resources, nullptr};
    const node_id id = build_call(g, c, knowledge::nothing);
    const auto kernel = make_kernel_for({g, g[id], *device, services});
    auto inputs = c.inputs;
    std::vector<any_tensor> outputs(g[id].outputs.size());
    kernel_context context;
    context.device = device.get();
    context.services = &services;
    context.inputs = inputs;
    context.outputs = outputs;
    INFO(c.op);
    CHECK_THROWS_WITH(kernel->run(context), Catch::Contains(says));
    ledger::get().count("(g) wrong shapes are refused when they turn up", c.op);
  }
}
