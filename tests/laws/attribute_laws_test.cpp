// The law of attributes: a peer that says anything else of a node than its op lists is refused, and where it says what
// the op takes, of any size and number, the server computes or refuses. Each lie goes to a server, as a client's graph
// and as a task's part of a step.
#include <catch2/catch.hpp>

#if PINION_HAS_DISTRIBUTED

#include <future>
#include <set>

#include <distributed/liar.hpp>
#include <pinion/distributed/wire/subgraph.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/opkit/shape_context.hpp>

#include "laws/machine.hpp"
#include "laws/ops/map.hpp"

namespace {

using namespace laws;
using distributed::made_by;
using real::liar;

// A call as a graph, whose inputs are constants, or fed and of unknown shapes.
struct told_call {
  graph g;
  node_id node;
  std::vector<output> fed;
  std::vector<any_tensor> feeds;

  told_call(const laws::call& c, knowledge k) {
    static int calls = 0;
    const auto use = g.as_default();
    const name_scope own("call_" + std::to_string(++calls));  // states of tasks are found by name
    std::vector<output> inputs;
    std::vector<node_id> after;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      if (i == 0 && !c.resource.empty()) {
        inputs.push_back(made({.op = c.resource, .base_name = "resource", .attrs = c.resource_attrs}));
      } else if (c.is_state.size() > i && c.is_state[i]) {
        inputs.push_back(
            made({.op = "VariableV2", .base_name = "in", .attrs = type_of(c.inputs[i], c.inputs[i].shape())}));
        after.push_back(made({.op = "Assign", .base_name = "set", .inputs = {inputs.back(), held(c.inputs[i])}}).node);
      } else if (k == knowledge::all) {
        inputs.push_back(held(c.inputs[i]));
      } else {
        inputs.push_back(made({.op = "Placeholder", .base_name = "in", .attrs = type_of(c.inputs[i], shape::any())}));
        fed.push_back(inputs.back());
        feeds.push_back(c.inputs[i]);
      }
    }
    node = made({.op = c.op, .base_name = "node", .inputs = inputs, .attrs = c.attrs, .control_inputs = after}).node;
    (void)graph_view(g);  // settles it
  }

 private:
  output made(node_request request) { return {build(g, std::move(request)), 0}; }
  output held(const any_tensor& value) {
    return made({.op = "Const", .base_name = "held", .attrs = {{"value", value}}});
  }
  static attributes type_of(const any_tensor& t, const shape& s) { return {{"dtype", t.dtype()}, {"shape", s}}; }
};

// ---- lies

std::shared_ptr<const scalar::program> odd_program(int inputs, std::size_t results, dtype type) {
  auto p = std::make_shared<scalar::program>();
  p->arithmetic = type;
  scalar::value_id last = 0;
  for (int i = 0; i < inputs; ++i) last = p->emit_input(false);
  if (inputs == 0) last = p->emit_constant({});
  for (std::size_t i = 0; i < results; ++i) p->results.push_back({last, type});
  return p;
}
shared_body odd_body() {
  auto b = std::make_shared<body>();
  const auto use = b->graph.as_default();
  const output x{
      build(b->graph,
            {.op = "Placeholder", .base_name = "x", .attrs = {{"dtype", dtype::float32}, {"shape", shape{}}}}),
      0};
  b->arguments = {x};
  b->results = {x, x};
  return b;
}

std::vector<attribute> integers_to_try() {
  std::vector<attribute> all;
  for (const std::int64_t n :
       std::initializer_list<std::int64_t>{0, 1, -1, 2, 7, 8, 31, 1000, 1 << 20, (1 << 20) + 1, INT32_MAX,
                                           std::int64_t{INT32_MAX} + 2, INT32_MIN, INT64_MAX, INT64_MIN})
    all.emplace_back(n);
  return all;
}
std::vector<attribute> lists_to_try() {
  std::vector<attribute> all{integers{}, integers{0}, integers(9, 1), integers(1000, 0), integers(70'000, 1)};
  for (const std::int64_t n : std::initializer_list<std::int64_t>{-1, 1, 2, 3, 1 << 20, INT64_MAX, INT64_MIN})
    for (std::size_t length : {1, 2, 3, 4}) {
      all.emplace_back(integers(length, n));
      integers other(length, 0);
      other.back() = n;
      all.emplace_back(other);
    }
  return all;
}
std::vector<attribute> tensors_to_try() {
  any_tensor words(dtype::string, {1, 3});
  return {any_tensor(dtype::uint8, {1, 3}),  any_tensor(dtype::uint8, {0, 3}),
          any_tensor(dtype::string, {0, 3}), words,
          any_tensor(dtype::string, {2, 3}), any_tensor(dtype::float32, {}),
          any_tensor(dtype::boolean, {2}),   any_tensor(dtype::int64, {3})};
}

// Values of each kind, most of them odd.
const std::vector<std::vector<attribute>>& values_by_kind() {
  static const std::vector<std::vector<attribute>> all{
      {false, true},
      integers_to_try(),
      {0.0, -1.0, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()},
      {"", "SAME", "Sum", std::string(5000, 'x'), std::string("\xff\x1b[2J\0", 6)},
      {dtype::invalid, dtype::float32, dtype::float64, dtype::int32, dtype::boolean, dtype::string, dtype::half,
       dtype::uint64},
      {shape{}, shape::any(), shape{0}, shape{unknown, 2}, shape{1, 1, 1, 1, 1, 1, 1, 1},
       shape{std::int64_t{1} << 40, std::int64_t{1} << 40}},
      lists_to_try(),
      tensors_to_try(),
      {odd_program(0, 1, dtype::float32), odd_program(1, 1, dtype::float32), odd_program(2, 2, dtype::float32),
       odd_program(1, 1, dtype::boolean), odd_program(3, 1, dtype::int64)},
      {odd_body()}};
  return all;
}

struct lie {
  std::string attribute, what;
  bool is_undeclared;  // it must be refused: the op does not list that attribute, or not of that kind
  attributes attrs;
};

attributes without(const attributes& all, std::string_view name) {
  attributes left;
  for (const auto& [given, value] : all)
    if (given != name) left.set(given, value);
  return left;
}
attributes with(attributes all, std::string_view name, const attribute& value) {
  all.set(name, value);
  return all;
}
bool is_listed(const attribute_rule& rule, std::size_t kind) {
  const auto it = static_cast<attribute_kind>(kind);
  if (rule.kind == attribute_kind::number) return it == attribute_kind::integer || it == attribute_kind::real;
  return rule.kind == it;
}

// The names of the attributes of all ops.
const std::set<std::string>& all_names() {
  static const auto names = [] {
    std::set<std::string> all{"nothing has it"};
    for_each_type(op::catalogue{}, [&]<class Op>() {
      for (const attribute_rule& rule : Op::attrs) all.insert(std::string(rule.name) + (rule.is_numbered ? "0" : ""));
    });
    return all;
  }();
  return names;
}

std::vector<lie> lies_about(std::string_view op, const attribute_list& rules, const attributes& truth) {
  std::vector<lie> all;
  for (const std::string& name : all_names()) {
    const attribute_rule* const rule = rules.find(name);
    if (!rule) {
      all.push_back({name, "is not listed", true, with(truth, name, std::int64_t{1})});
      continue;
    }
    all.push_back({name, "is missing", !rule->is_optional, without(truth, name)});
    for (std::size_t kind = 0; kind < values_by_kind().size(); ++kind) {
      const auto& values = values_by_kind()[kind];
      const bool listed = is_listed(*rule, kind);
      for (std::size_t i = 0; i < (listed ? values.size() : 1); ++i)
        all.push_back({name, "kind " + std::to_string(kind) + ", value " + std::to_string(i), !listed,
                       with(truth, name, values[i])});
    }
  }
  if (op == "Add" || op == "MapReduce")  // all elementwise ops take the parts of joined nodes alike
    for (std::size_t i = 0; i < values_by_kind()[6].size(); ++i)
      for (std::size_t k = 0; k < values_by_kind()[7].size(); ++k)
        all.push_back({"parts", "pair " + std::to_string(i) + ", " + std::to_string(k), false,
                       with(with(truth, "parts", values_by_kind()[6][i]), "part_names", values_by_kind()[7][k])});
  return all;
}

// ---- telling them

template <class F>
std::optional<error> failure_of(F&& call) {
  try {
    call();
    return std::nullopt;
  } catch (const error& e) {
    return e;
  }
}

// Puts the outputs that the op infers in place of a node's, so that it is refused for nothing else.
void infer_again(const graph& g, node& n) {
  const auto old = std::exchange(n.outputs, {});
  shape_context shapes(g, n);
  const definition& def = definition_of(n.op);
  const auto infer = [&] {
    check_attributes(def, n);
    check_input_count(def, n);
    def.infer(shapes);
  };
  if (failure_of(infer)) n.outputs = old;
}
bool is_modest(const node& n) {
  return std::all_of(n.outputs.begin(), n.outputs.end(), [](const output_type& type) {
    return type.resource || (type.shape.known() && type.shape.count() <= 1 << 14);
  });
}
// Tells whether all numbers of a node are small, or below 0: what it makes is small then, whatever its shape.
bool is_modest(const attributes& attrs) {
  constexpr std::int64_t most = 1 << 10;
  return std::all_of(attrs.begin(), attrs.end(), [](const auto& item) {
    if (const auto* one = item.value.template get_if<std::int64_t>()) return *one <= most;
    if (const auto* all = item.value.template get_if<integers>())
      return std::all_of(all->begin(), all->end(), [](std::int64_t n) { return n <= most; });
    return true;
  });
}
// Tells whether a node waits for others, may go on for ever, or is to be fed.
bool may_wait(const node& n, const laws::call& c) {
  return !c.resource.empty() || n.op == op::loop::name || n.op == op::placeholder::name;
}

class liar_of_attributes {
 public:
  explicit liar_of_attributes(real::two_workers& cluster)
      : target_(cluster.victim()), life_of_peer_(cluster.life_of_second()) {
    connect();
  }

  std::optional<error> tell_as_client(const told_call& truth, const attributes& attrs, bool waits) {
    const auto session = client_->ask<distributed::opened_session>(distributed::open_session{}).session;
    const auto how = failure_of([&] {
      distributed::graph_delta all = delta_of(truth, attrs);
      const node n = *all.nodes.back();
      client_->ask(distributed::extend_graph{session, std::move(all)});
      if (!is_modest(n) && (truth.fed.empty() || !is_modest(attrs))) return;
      runtime::step_signature s{truth.fed, {}, {truth.node}};
      for (int i = 0; i < static_cast<int>(n.outputs.size()); ++i)
        if (!n.outputs[static_cast<std::size_t>(i)].resource && !n.outputs[static_cast<std::size_t>(i)].reference)
          s.fetches.push_back({truth.node, i});
      const auto step = client_->ask<distributed::prepared_reply>(distributed::prepare_step{session, 10'000, s}).step;
      client_->ask<distributed::run_reply>(
          distributed::run_prepared{session, step, waits ? 20u : 10'000u, truth.feeds, false});
    });
    client_->note(distributed::close_session{session});
    return known(how);
  }

  std::optional<error> tell_as_task(const told_call& truth, const attributes& attrs, bool waits) {
    const auto session = peer_->session(++sessions_);
    const auto how = failure_of([&] {
      distributed::graph_delta all = delta_of(truth, attrs);
      distributed::subgraph part;
      part.parts.resize(1);
      for (node_id id = 0; id < static_cast<node_id>(all.nodes.size()); ++id)
        part.parts[0].items.push_back(item_of(id, *all.nodes[static_cast<std::size_t>(id)]));
      const bool is_small = is_modest(*all.nodes.back());
      for (auto& n : all.nodes) part.nodes.push_back(std::move(*n)), part.stub.push_back(false);
      peer_->ask(distributed::register_step{session, 1, std::move(part), {}, false});
      const distributed::run_id run{session, 1};
      if (!is_small) return;
      std::promise<outcome<distributed::part_ended>> ended;
      peer_->order<distributed::part_ended>(
          distributed::run_step{run, 1, false},
          [&](outcome<distributed::part_ended> how) { ended.set_value(std::move(how)); });
      if (waits) peer_->note(distributed::cancel_run{run, error(errc::cancelled, "the liar has heard enough")});
      ended.get_future().get().value();
    });
    peer_->note(distributed::forget_session{session});
    return known(how);
  }

 private:
  static distributed::graph_delta delta_of(const told_call& truth, const attributes& attrs) {
    auto all = distributed::delta_since(graph_view::of_settled(truth.g));
    node& n = *all.nodes.back();
    n.attrs = attrs;
    infer_again(truth.g, n);
    return all;
  }
  static runtime::part_item item_of(node_id id, const node& n) {
    runtime::part_item it{
        .kind = runtime::part_item::compute, .node = id, .outputs = static_cast<int>(n.outputs.size())};
    for (const output& in : n.inputs) it.inputs.push_back({in.node, in.index});
    for (const node_id before : n.control_inputs) it.after.push_back(before);
    return it;
  }

  void connect() {
    client_.emplace(target_);
    peer_.emplace(target_, real::other_worker, life_of_peer_);
  }
  // Who says what cannot be read is thrown out, and comes again.
  std::optional<error> known(std::optional<error> how) {
    if (how && (how->code() == errc::data_loss || how->code() == errc::unavailable)) connect();
    return how;
  }

  const std::string target_;
  const std::uint64_t life_of_peer_;
  std::optional<liar> client_, peer_;
  std::uint64_t sessions_ = 0;
};

// A dtype in which the op computes, or of the values that it takes where it yields none.
template <class Op>
dtype some_dtype() {
  for (const dtype key : types_of(Op::kernels.cpu))
    if (key != dtype::invalid && makes_sense(Op::name, key)) return key;
  return dtype::float32;
}

// A node of each op, and of each set of attributes that its samples have.
template <class F>
void for_each_call(F&& f) {
  std::set<std::string> seen;
  for_each_type(op::catalogue{}, [&]<class Op>() {
    const dtype key = some_dtype<Op>();
    for (const sample& s : samples_of(Op::name)) {
      std::string kind(Op::name);
      for (const auto& [name, value] : s.attrs(key)) kind += " " + name;
      if (seen.insert(kind).second) f(Op::name, s, key);
    }
  });
}

TEST_CASE("S2: what an op does not list is refused from any peer, and what it lists is computed or refused") {
  real::two_workers cluster;
  real::honest good(cluster.victim());
  liar_of_attributes lies(cluster);
  std::set<std::pair<std::string_view, std::string_view>> lied_about;
  for_each_call([&](std::string_view op, const sample& s, dtype key) {
    const laws::call c = call_of(op, s, key);
    const definition& def = definition_of(op);
    const told_call known(c, knowledge::all), fed(c, knowledge::nothing);
    for (const lie& l : lies_about(op, *def.attrs, c.attrs)) {
      const attribute_rule* const rule = def.attrs->find(l.attribute);
      const bool is_rewrite = def.rewrite || (rule && rule->is_rewrite && l.attrs.has(l.attribute));
      INFO(title(op, s, key) << ": '" << l.attribute << "' " << l.what);
      const bool waits = may_wait(known.g.peek(known.node), c);
      const auto expect = [&](const std::optional<error>& how, bool refused) {
        if (refused) REQUIRE(how);
        INFO((how ? how->what() : "it was served"));
        if (refused) CHECK((how->code() == errc::invalid_argument || how->code() == errc::data_loss));
        if (how) CHECK(how->code() != errc::internal);
      };
      expect(lies.tell_as_client(known, l.attrs, waits), l.is_undeclared || is_rewrite);
      expect(lies.tell_as_client(fed, l.attrs, waits), l.is_undeclared || is_rewrite);
      expect(lies.tell_as_task(known, l.attrs, waits), l.is_undeclared);
      ledger::get().count("(i) attributes of a wrong name, kind, size or number", op, 3);
      if (rule && lied_about.emplace(op, rule->name).second)
        ledger::get().count("(i) attributes of these ops that are so", op, 1);
    }
    CHECK(good.run() == 3);
  });
}

TEST_CASE("every op of the library lists its attributes") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    INFO(Op::name);
    CHECK(definition_of(Op::name).attrs == &Op::attrs);
  });
}

TEST_CASE("a node of every op is served as a peer may say it") {
  real::two_workers cluster;
  liar_of_attributes lies(cluster);
  for_each_call([&](std::string_view op, const sample& s, dtype key) {
    const laws::call c = call_of(op, s, key);
    const told_call known(c, knowledge::all);
    const bool waits = may_wait(known.g.peek(known.node), c);
    INFO(title(op, s, key));
    const auto as_client = lies.tell_as_client(known, c.attrs, waits),
               as_task = lies.tell_as_task(known, c.attrs, waits);
    if (as_client) UNSCOPED_INFO(as_client->what());
    if (as_task) UNSCOPED_INFO(as_task->what());
    CHECK((definition_of(op).rewrite ? as_client.has_value() : waits || !as_client));
    CHECK((waits || !as_task));
  });
}

}  // namespace

#endif
