// What ops refuse: a wrong rank, shape or dtype is an invalid_argument that names the node.
#include <catch2/catch.hpp>

#include <set>

#include "laws/machine.hpp"

namespace {

using namespace laws;

struct misfit {
  std::string_view op;
  std::vector<any_tensor> inputs;
  attributes attrs;
  std::string says;
};

any_tensor of(dtype d, const shape& s) { return random_value({}, {s, d == dtype::int32 ? role::index32 : role::number, 0, 1}, d, 1); }
any_tensor f(const shape& s) { return of(dtype::float32, s); }
any_tensor d(const shape& s) { return of(dtype::float64, s); }
any_tensor i(const shape& s) { return of(dtype::int32, s); }
any_tensor b(const shape& s) { return of(dtype::boolean, s); }
any_tensor text(const shape& s) { return any_tensor(dtype::string, s); }

attributes mapped(std::string_view op, dtype arithmetic = dtype::float32) {
  return {{"program", program_ptr(std::make_shared<scalar::program>(*map_program(op, arithmetic)))}};
}
attributes derived(std::string_view op) {
  return {{"program", program_ptr(std::make_shared<scalar::program>(scalar::derive(*map_program(op, dtype::float32))))}};
}

// The first row of an op that takes anything is empty: nothing can be wrong.
std::vector<misfit> misfits() {
  std::vector<misfit> all{
      {"Add", {f({2, 3}), f({2})}, mapped("Add"), "do not broadcast"},
      {"Add", {f({2, 3}), d({3})}, mapped("Add"), "input 1 of Add is double, but float is wanted"},
      {"Add", {f({2})}, mapped("Add"), "Add takes 2 inputs"},
      {"Select", {f({2}), f({2}), f({2})}, mapped("Select"), "bool is wanted"},
      {"LogicalAnd", {i({2}), b({2})}, mapped("LogicalAnd"), "bool is wanted"},
      {"Exp", {text({2})}, mapped("Exp"), "float is wanted"},
      {"MapGrad", {f({2, 3}), f({3}), f({2})}, derived("Mul"), "do not broadcast"},
      {"MapGrad", {f({2}), f({2}), d({2})}, derived("Mul"), "float is wanted"},
      {"Assign", {f({2}), f({2})}, {}, "writes a variable"},
      {"AssignAdd", {f({2}), f({2})}, {}, "writes a variable"},
      {"AssignSub", {f({2}), f({2})}, {}, "writes a variable"},
      {"AssignAdd", {text({2}), text({2})}, {}, "of a string variable is not defined"},
      {"AssignSub", {b({2}), b({2})}, {}, "of a bool variable is not defined"},
      {"Sum", {b({2})}, {}, "Sum of bool"},
      {"Sum", {f({2, 3})}, axes({2}), "axis 2"},
      {"Sum", {f({2, 3})}, axes({0, -2}), "twice"},
      {"Mean", {of(dtype::uint8, {2})}, {}, "Mean of uint8"},
      {"Max", {text({2})}, {}, "Max of string"},
      {"Min", {f({2})}, axes({-2}), "axis -2"},
      {"Prod", {b({2})}, {}, "Prod of bool"},
      {"ExpandLike", {f({3}), f({2, 3})}, axes({1}), "does not fit"},
      {"ArgMax", {f({2})}, {{"axis", std::int64_t{1}}}, "axis 1"},
      {"ArgMax", {b({2})}, {{"axis", std::int64_t{0}}}, "ArgMax of bool"},
      {"Softmax", {i({2, 3})}, {}, "float or double"},
      {"Softmax", {f({})}, {}, "a scalar has none"},
      {"LogSoftmax", {i({2})}, {}, "float or double"},
      {"ScaleRows", {f({2, 3}), f({3})}, {}, "rows"},
      {"ScaleRows", {f({2, 3}), f({2, 1})}, {}, "1 dimensions"},
      {"SoftmaxCrossEntropyWithLogits", {f({2, 3}), f({2, 4})}, {}, "[2, 3]"},
      {"SoftmaxCrossEntropyWithLogits", {d({2, 3}), f({2, 3})}, {}, "pn::cast"},
      {"SparseSoftmaxCrossEntropyWithLogits", {f({2}), f({2, 3})}, {}, "int32 or int64"},
      {"SparseSoftmaxCrossEntropyWithLogits", {i({3}), f({2, 3})}, {}, "rows"},
      {"SparseSoftmaxCrossEntropyWithLogits", {i({2, 1}), f({2, 3})}, {}, "1 dimensions"},
      {"InTopK", {f({2, 3}), f({2})}, {}, "int32 or int64"},
      {"InTopK", {f({2}), i({2})}, {}, "2 dimensions"},
      {"RandomUniform", {}, {{"dtype", dtype::boolean}, {"shape", shape{2}}}, "RandomUniform of bool"},
      {"RandomUniform", {}, {{"dtype", dtype::float32}, {"shape", shape{2}}, {"minval", 2.0}}, "there is no number"},
      {"RandomStandardNormal", {}, {{"dtype", dtype::int32}, {"shape", shape{2}}}, "of int32"},
      {"TruncatedNormal", {}, {{"dtype", dtype::float32}, {"shape", shape{unknown}}}, "must be known"},
      {"Gather", {f({2}), f({2})}, {}, "int32 or int64"},
      {"Gather", {f({}), i({2})}, {}, "a scalar has none"},
      {"ScatterDense", {i({2}), f({3, 2}), f({4, 2})}, {}, "are not rows"},
      {"ScatterDense", {i({2, 1}), f({2, 2}), f({4, 2})}, {}, "1 dimensions"},
      {"Reshape", {f({2, 3})}, {{"shape", shape{4}}}, "do not fill"},
      {"ReshapeLike", {f({2, 3}), f({5})}, {}, "do not fill"},
      {"Transpose", {f({2, 3})}, {{"perm", integers{0, 0}}}, "is not an order"},
      {"MatMul", {f({2, 3}), f({2, 3})}, {}, "the inner dimensions 3 and 2 differ"},
      {"MatMul", {f({2, 3}), d({3, 2})}, {}, "matmul of float and double"},
      {"MatMul", {f({2}), f({2, 3})}, {}, "2 dimensions"},
      {"ProdGrad", {f({3}), f({2, 3})}, axes({1}), ""},
  };
  // Every elementwise op checks dtypes and broadcasts alike.
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (mapped_op<Op>) all.push_back({Op::name, std::vector<any_tensor>(map_program(Op::name, dtype::float32)->inputs, text({2})), mapped(Op::name), "is wanted"});
  });
  return all;
}

const std::set<std::string_view> take_anything{"Const", "Placeholder", "Identity", "ZerosLike", "OnesLike", "NoOp", "VariableV2"};

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
  for (const misfit& m : misfits()) {
    if (m.says.empty()) continue;
    INFO(m.op << " expected to say: " << m.says);
    graph g;
    CHECK(refusal([&] { build_call(g, {std::string(m.op), m.inputs, {}, m.attrs}); }, m.says) == "");
    ledger::get().count("(g) wrong rank, shape or dtype is refused", m.op);
  }
}

TEST_CASE("a value that does not fit its variable is refused, and the node is named") {
  for (std::string_view op : {"Assign", "AssignAdd", "AssignSub"}) {
    graph g;
    CHECK(refusal([&] { build_call(g, {std::string(op), {f({2}), f({3})}, {true, false}, {}}); }, "[3]") == "");
    CHECK(refusal([&] { build_call(g, {std::string(op), {f({2}), d({2})}, {true, false}, {}}); }, "double value") == "");
    ledger::get().count("(g) wrong rank, shape or dtype is refused", op, 2);
  }
  for (int states : {1, 2}) {
    const std::string op = states == 1 ? "ApplyGradientDescent" : "ApplyMomentum";
    std::vector<any_tensor> inputs(static_cast<std::size_t>(states), f({2}));
    std::vector<bool> state(inputs.size(), true);
    const auto with = [&](any_tensor gradient) {
      auto all = inputs;
      all.push_back(gradient);
      return call{op, all, state, update_attributes(dtype::float32, states)};
    };
    graph g;
    CHECK(refusal([&] { build_call(g, with(f({3}))); }, "[3]") == "");
    CHECK(refusal([&] { build_call(g, with(d({2}))); }, "double") == "");
    ledger::get().count("(g) wrong rank, shape or dtype is refused", op, 2);
  }
}

TEST_CASE("every op has a row of what it refuses, or takes anything") {
  std::set<std::string_view> covered = take_anything;
  for (const misfit& m : misfits()) covered.insert(m.op);
  covered.insert({"ApplyGradientDescent", "ApplyMomentum"});
  for_each_type(op::catalogue{}, [&]<class Op>() {
    INFO(Op::name);
    CHECK(covered.count(Op::name) == 1);
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
