// The law of held programs: the gradients of the library's ops run compiled. A plan tells which nodes do not.
#include <catch2/catch.hpp>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/session.hpp>

#include "laws/machine.hpp"
#include "laws/ops/map.hpp"

namespace {

using namespace laws;

// The programs in a plan of some outputs that a CPU interprets: "Mul: %0 = input 0 ...", one a line.
std::string interpreted_for(graph& g, const std::vector<output>& fed, const std::vector<output>& wanted) {
  const auto session = runtime::make_direct_session({.optimize = false}, g);
  std::string text;
  const plan p = session->plan({fed, wanted, {}});
  for (const auto& n : p.nodes())
    if (n.kernel == "interpreted")
      text += n.op + ": " + to_string(scalar::executable(op::program_of(g[n.id].attrs))) + "\n";
  return text;
}

// The interpreted programs of a node and of its gradients by all inputs; "" where its result is no real number.
std::string interpreted_in_gradients(std::string_view op, const sample& s, dtype key) {
  graph g;
  const auto use = g.as_default();
  std::vector<output> inputs;
  for (const any_tensor& t : random_values(s, key))
    inputs.push_back(
        {build(g, {.op = "Placeholder", .base_name = "in", .attrs = {{"dtype", t.dtype()}, {"shape", t.shape()}}}), 0});
  const output y{build(g, {.op = op, .base_name = "node", .inputs = inputs, .attrs = s.attrs(key)}), 0};
  if (!is_floating(g.type_of(y).dtype)) return "";
  std::vector<output> wanted{y};
  for (std::size_t by = 0; by < inputs.size(); ++by) {
    if (s.inputs[by].is != role::number) continue;
    if (const auto found = autodiff::differentiate(g, {y}, {inputs[by]})[0])
      wanted.push_back(autodiff::to_dense(g, *found, inputs[by]));
  }
  return interpreted_for(g, inputs, wanted);
}

}  // namespace

TEST_CASE("no program in the gradient of an op is interpreted") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    const definition& def = definition_of(Op::name);
    if (!def.gradient || def.stateful || Op::name == op::map_gradient::name) return;  // a MapGrad's is made at run time
    for (const dtype key : {dtype::float32, dtype::float64})
      for (const sample& s : samples_of(Op::name, 3, 4)) {
        const auto is_state = [](const input& i) { return i.is == role::state || i.is == role::handle; };
        if (s.inputs.empty() || s.numbers || !Op::kernels.cpu.has(key)) continue;
        if (std::any_of(s.inputs.begin(), s.inputs.end(), is_state)) continue;
        INFO(title(Op::name, s, key));
        CHECK(interpreted_in_gradients(Op::name, s, key) == "");
        ledger::get().count("(h) no program of the op's gradient is interpreted", Op::name);
      }
  });
}
