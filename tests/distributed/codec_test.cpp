// What goes over the wire comes out as it went in, and what does not hold together is refused with a sentence.
#include "wire.hpp"

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>

namespace {

using namespace pinion;
using distributed::graph_delta;
using runtime::part_item;
using wire::again;
using wire::text;

template <class T>
std::string refused(const wire::letter& w, std::uint64_t payload) {
  return failure([&] {
    T value{};
    rpc::reader r(w.control, payload);
    r(value);
  });
}

// ---- values

TEST_CASE("dtypes and shapes come out as they went in") {
  for (int i = 0; i < static_cast<int>(pinion::detail::dtype_count); ++i)
    CHECK(again(static_cast<dtype>(i)) == static_cast<dtype>(i));
  for (const shape& s : {shape{}, shape{0}, shape{unknown, 784}, shape::any(), shape{1, 2, 3, 4, 5, 6, 7, 8}})
    CHECK(again(s) == s);
}

TEST_CASE("a dtype or a shape that cannot be is refused") {
  CHECK(refused<dtype>(wire::sent(std::uint8_t{99}), 0) ==
        "data_loss: a message holds dtype number 99, which is not known here");
  const auto shape_of = [](std::int8_t rank, std::vector<std::int64_t> dims) {
    wire::letter w = wire::sent(rank);
    for (const auto d : dims) w.control += wire::sent(d).control;
    return refused<shape>(w, 0);
  };
  CHECK(shape_of(9, {}) == "data_loss: a message holds a shape of 9 dimensions");
  CHECK(shape_of(-2, {}) == "data_loss: a message holds a shape of -2 dimensions");
  CHECK(shape_of(2, {3, -2}) == "data_loss: a message holds a dimension of -2");
  const std::int64_t many = std::int64_t{1} << 40;
  CHECK_THAT(shape_of(3, {many, 0, many}), Catch::Contains("more elements than there can be"));
  CHECK_THAT(shape_of(3, {many, unknown, many}), Catch::Contains("more elements than there can be"));
}

TEST_CASE("tensors of every dtype come out as they went in, their bytes beside the message") {
  const auto check = [](const auto& t) {
    CHECK(again(t.untyped()) == t.untyped());
    CHECK(wire::sent(t.untyped()).control.size() < 40);
  };
  check(tensor<float>::of({{1.5f, -2}, {0, 3}}));
  check(tensor<double>(2.5));
  check(tensor<std::int32_t>::of({1, 2, 3}));
  check(tensor<std::int64_t>(std::int64_t{1} << 60));
  check(tensor<std::uint8_t>::of({std::uint8_t{255}}));
  check(tensor<bool>::of({true, false}));
  check(tensor<float>({0, 5}));
  check(tensor<float>({1000, 10}));
  const auto words =
      tensor<std::string>::of({{"naïve", ""}, {std::string("a\0b", 3), "long enough to live on the heap"}});
  CHECK(again(words.untyped()) == words.untyped());
  CHECK(again(tensor<std::string>({0}).untyped()).shape() == shape{0});
  CHECK(again(any_tensor()).empty());
}

TEST_CASE("a tensor that is sent keeps its bytes until then") {
  const wire::letter w = wire::sent(tensor<float>({100}).untyped());
  REQUIRE(w.parts.size() == 1);
  CHECK(w.parts[0].bytes == 400);
  CHECK(*reinterpret_cast<const float*>(w.parts[0].data) == 0);
}

TEST_CASE("a tensor is no larger than what comes with it, in bytes or strings") {
  const auto w = wire::sent(tensor<double>({100}).untyped());
  CHECK(refused<any_tensor>(w, 799) == "data_loss: a tensor of 800 bytes, where the message has 799 more");
  const auto lies = wire::sent(true, dtype::string, shape{1000}, std::uint32_t{1000});
  CHECK_THAT(refused<any_tensor>(lies, 0), Catch::Contains("1000 elements announced, 0 bytes left"));
  const auto differs = wire::sent(true, dtype::string, shape{2}, std::vector<std::string>{"one"});
  CHECK_THAT(refused<any_tensor>(differs, 0), Catch::Contains("shape [2] came with 1 strings"));
  const auto open = wire::sent(true, dtype::float32, shape{unknown}), none = wire::sent(true, dtype::invalid, shape{2});
  CHECK_THAT(refused<any_tensor>(open, 100), Catch::Contains("a tensor of shape [?]"));
  CHECK_THAT(refused<any_tensor>(none, 100), Catch::Contains("a tensor of invalid, which is not sent"));
}

TEST_CASE("names of devices come out as they went in, and bad ones are refused as everywhere") {
  for (const char* name : {"", "/job:ps/task:1", "/job:a/replica:0/task:0/device:GPU:3", "/device:CPU:*"})
    CHECK(again(parse_device(name)) == parse_device(name));
  CHECK_THAT(refused<device_spec>(wire::sent(std::string("/jab:x")), 0), Catch::Contains("unknown field"));
}

TEST_CASE("source locations come out as they went in, and live on") {
  const source_location where = again(source_location{std::string("a/file.cpp").c_str(), 12});
  CHECK(to_string(where) == "a/file.cpp:12");
  CHECK(again(source_location{"a/file.cpp", 13}).file == where.file);
  CHECK(!again(source_location{}).known());
  CHECK(distributed::lasting_name(std::string_view("a/file.cpp\0more", 15)) == where.file);
  CHECK(std::string(distributed::lasting_name(std::string(2000, 'x'))) == "(a name too many, or too long)");
}

TEST_CASE("an error comes out with its story; a code from the future is unknown") {
  const error e = error(errc::not_found, "no file").at_node("a/b", "Op", "x.cpp:3").on_device("/cpu:0").in_task("ps:0");
  error other(errc::internal, "");
  wire::receive(wire::sent(e), other);
  CHECK(std::string(other.what()) == e.what());
  CHECK(other.code() == e.code());
  CHECK(other.location() == "x.cpp:3");
  CHECK(other.task() == "ps:0");
  wire::letter w = wire::sent(e);
  for (const char code : {'\0', '\x11', '\xff'}) {
    w.control[0] = code;
    wire::receive(w, other);
    CHECK(other.code() == errc::unknown);
  }
}

// ---- scalar programs

using scalar::opcode;

// Every kind of value, and one operation on them.
scalar::program program_of(opcode op) {
  scalar::program p;
  p.arithmetic = dtype::float32;
  p.emit_input(false);
  p.emit_input(true);
  p.emit_literal(2.5f);
  p.emit_constant(-1);
  const auto f = facts(op);
  const scalar::value_id number = 3, mask = 1;
  if (f.operands > 0)
    p.emit(op, f.takes_masks ? mask : number, f.operands < 2 ? 0 : f.takes_masks && op != opcode::select ? mask : 0, 0);
  const auto last = static_cast<scalar::value_id>(p.code.size() - 1);
  p.results = {{last, f.operands > 0 && f.yields_mask ? dtype::boolean : dtype::float64}, {1, dtype::boolean}};
  return p;
}

TEST_CASE("programs of every operation come out as they went in") {
  for (int i = 0; i <= static_cast<int>(opcode::partial); ++i) {
    const scalar::program p = program_of(static_cast<opcode>(i)), q = again(p);
    INFO(to_string(p));
    CHECK(same_structure(p, q));
    CHECK(p.literals.size() == q.literals.size());
    CHECK(std::equal(p.literals.begin(), p.literals.end(), q.literals.begin()));
  }
}

TEST_CASE("a derivative of a derivative comes out as it went in") {
  scalar::program p;
  p.arithmetic = dtype::float64;
  const auto x = p.emit_input(false), y = p.emit_input(false);
  p.results.push_back({p.emit(opcode::power, p.emit(opcode::tanh, x), y), p.arithmetic});
  const scalar::program second = derive(scalar::derive(p));
  CHECK(same_structure(again(second), second));
}

TEST_CASE("a program that would lead its users astray is refused") {
  const auto with = [](auto change) {
    scalar::program p = program_of(opcode::add);
    change(p);
    const std::string why = refused<scalar::program>(wire::sent(p), 0);
    return why.substr(why.find("that ") + 5);
  };
  using program = scalar::program;
  CHECK(with([](program& p) { p.arithmetic = dtype::string; }) == "computes in string, instruction 0");
  CHECK(with([](program& p) { p.code.resize(2000); }) == "has 2000 instructions, instruction 0");
  CHECK(with([](program& p) { p.inputs = 50; }) == "takes 50 inputs, instruction 0");
  CHECK(with([](program& p) { p.inputs = 3; }) == "reads 2 of 3 inputs");
  CHECK(with([](program& p) { p.code[1].a = 0; }) == "reads its inputs out of order, instruction 1");
  CHECK(with([](program& p) { p.code[2].a = 1; }) == "has no literal 1, instruction 2");
  CHECK(with([](program& p) { p.code[3].a = 9; }) == "has no constant 9, instruction 3");
  CHECK(with([](program& p) { p.code[4].b = 4; }) == "takes a value before it is made, instruction 4");
  CHECK(with([](program& p) { p.code[4].b = 1; }) == "takes a mask for the other, instruction 4");
  CHECK(with([](program& p) { p.code[4].op = opcode::logical_not; }) == "takes a number for the other, instruction 4");
  CHECK(with([](program& p) { p.results.clear(); }) == "has 0 results");
  CHECK(with([](program& p) { p.results.resize(33, p.results[0]); }) == "has 33 results");
  CHECK(with([](program& p) { p.results[0].value = 5; }) == "has no value 5");
  CHECK(with([](program& p) { p.results[0].type = dtype::boolean; }) == "yields a number as bool");
  CHECK(with([](program& p) { p.results[0].type = dtype::string; }) == "yields a number as string");
  CHECK(with([](program& p) { p.results[1].type = dtype::float32; }) == "yields a mask as float");
  wire::letter w = wire::sent(program_of(opcode::add));
  w.control[7] = 77;  // after the arithmetic type, the inputs and the count: the first opcode
  CHECK_THAT(refused<program>(w, 0), Catch::Contains("scalar operation number 77"));
}

// ---- attributes

TEST_CASE("attributes of every type come out as they went in") {
  wire::model inner;
  attributes all{{"a", true},
                 {"b", std::int64_t{-5}},
                 {"c", 2.5},
                 {"d", std::string("text")},
                 {"e", dtype::int64},
                 {"f", shape{unknown, 2}},
                 {"g", integers{1, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
                 {"h", tensor<float>::of({1, 2}).untyped()},
                 {"i", std::make_shared<const scalar::program>(program_of(opcode::select))},
                 {"j", any_tensor()}};
  auto nested = std::make_shared<body>();
  distributed::apply(nested->graph, distributed::delta_since(inner.g));
  nested->arguments = {end_of(inner.x)};
  nested->results = {end_of(inner.x)};
  all.set("k", shared_body(nested));
  const attributes other = again(all);
  for (const auto& [name, value] : all) {
    INFO(name);
    REQUIRE(other.has(name));
    CHECK(other.find(name)->index() == value.index());
    CHECK(text(*other.find(name)) == text(value));
  }
  const auto& came = *other.get<shared_body>("k");
  CHECK(text(came.view()) == text(inner.g));
  CHECK(came.arguments == nested->arguments);
  CHECK(came.results == nested->results);
}

TEST_CASE("attributes stand in order, each once, and of a known type") {
  const std::string b = "b";
  const auto twice = wire::sent(std::uint32_t{2}, b, attribute(true), b, attribute(true));
  CHECK(refused<attributes>(twice, 0) == "data_loss: a message holds attributes out of order");
  const auto future = wire::sent(std::uint32_t{1}, b, std::uint8_t{10});
  CHECK_THAT(refused<attributes>(future, 0), Catch::Contains("attribute type number 10"));
}

// ---- graphs

TEST_CASE("a replica of a training graph says what the original says") {
  wire::model m;
  wire::replica copy(m.g);
  CHECK(text(copy.g) == text(m.g));
  CHECK(copy.g.id_of("layer_1/W") == m.g.id_of("layer_1/W"));
  bool holes = false;
  for (node_id id = 0; id < m.g.size(); ++id) holes |= !m.g.contains(id);
  CHECK(holes);
}

TEST_CASE("a replica of a replica is the same, to the byte") {
  wire::model m;
  wire::replica copy(m.g);
  CHECK(wire::bytes_of(distributed::delta_since(copy.g)) == wire::bytes_of(distributed::delta_since(m.g)));
}

TEST_CASE("a replica grows by deltas, and forgets what was absorbed since") {
  graph g, copy;
  const auto use = g.as_default();
  distributed::shipped before;
  const auto ship = [&] {
    graph_delta delta = again(distributed::delta_since(g, before));
    before.add(delta);
    const auto news = std::pair(delta.nodes.size(), delta.gone.size());
    distributed::apply(copy, std::move(delta));
    CHECK(text(copy) == text(g));
    return news;
  };
  auto x = placeholder<float>({2}, "x");
  auto y = square(x) * 2;
  CHECK(ship() == std::pair<std::size_t, std::size_t>(3, 0));
  CHECK(ship() == std::pair<std::size_t, std::size_t>(0, 0));
  auto z = exp(std::move(y) + 1);
  CHECK(ship() == std::pair<std::size_t, std::size_t>(2, 1));
  CHECK(copy.id_of("mul") == no_node);
  square(z, "mul");
  CHECK(ship().first == 1);
}

// x, w = variable, its initializer and its read; then y = x + w, c = [x] x [x].
struct small {
  graph g;
  graph_delta delta;

  small() {
    const auto use = g.as_default();
    auto x = placeholder<float>({2, 2}, "x");
    auto w = variable(tensor<float>({2}), {.name = "w"});
    auto y = x + w;
    matmul(y, y, {.name = "c"});
    gradients(reduce_sum(exp(y)), x);
    assign_add(w, tensor<float>({2}));
    train::momentum{{}}.minimize(reduce_sum(matmul(x, x) * w));
    delta = again(distributed::delta_since(g));
  }
  node& operator[](const std::string& name) { return *delta.nodes.at(static_cast<std::size_t>(g.id_of(name))); }
  node& of(std::string_view op) {
    for (auto& n : delta.nodes)
      if (n && n->op == op) return *n;
    throw std::out_of_range("no such op");
  }
};

template <class Change>
std::string refusal(Change change, node_id limit = distributed::most_nodes) {
  small s;
  change(s);
  graph copy;
  const error e = caught([&] { distributed::apply(copy, std::move(s.delta), limit); });
  return std::string(to_string(e.code())) + ": " + e.sentence() + " [" + e.node() + "]";
}

TEST_CASE("a delta that does not continue its replica is refused") {
  CHECK(refusal([](small& s) { s.delta.from = 2; }) ==
        "invalid_argument: a graph of 0 nodes cannot be extended from node 2 []");
  CHECK(refusal([](small&) {}, 5) == "invalid_argument: a graph of more than 5 nodes []");
  CHECK(refusal([](small& s) { s.delta.gone = {0}; }) == "invalid_argument: node 0 shall go, but is not there []");
  graph copy;
  small s;
  distributed::apply(copy, std::move(s.delta));
  graph_delta more{copy.size(), {}, {copy.id_of("x")}};
  CHECK(failure([&] { distributed::apply(copy, std::move(more)); }) ==
        "invalid_argument: node 'x' shall go, but has consumers");
}

TEST_CASE("a node joins a replica under a name of its own") {
  CHECK(refusal([](small& s) { s["c"].name = ""; }) == "invalid_argument: a node without a name []");
  CHECK(refusal([](small& s) { s["c"].name = "x"; }) == "invalid_argument: a second node of that name [x]");
  CHECK_THAT(refusal([](small& s) { s["c"].name = std::string(5000, 'n'); }), Catch::Contains("a name of 5000"));
}

TEST_CASE("a node's op is known here, and it takes what is there") {
  CHECK(refusal([](small& s) { s["c"].op = "Conv9D"; }) ==
        "not_found: this program knows no op 'Conv9D'; pn::register_op makes one known, in every program that runs it; "
        "did you mean 'Conv2D'? [c]");
  CHECK_THAT(refusal([](small& s) { s["c"].inputs[1].node = 99; }), Catch::Contains("node 99, which is not before"));
  CHECK_THAT(refusal([](small& s) { s["c"].inputs[1].node = -1; }), Catch::Contains("node -1, which is not before"));
  CHECK_THAT(refusal([](small& s) { s["c"].inputs[1].index = 1; }), Catch::Contains("output 1 of 'add', which has 1"));
  CHECK_THAT(refusal([](small& s) { s["c"].inputs[1].index = -1; }), Catch::Contains("output -1 of 'add'"));
  CHECK_THAT(refusal([](small& s) { s["c"].control_inputs = {99}; }), Catch::Contains("after node 99"));
  CHECK_THAT(refusal([](small& s) { s["c"].inputs.pop_back(); }), Catch::Contains("MatMul takes 2 inputs, not 1 [c]"));
  CHECK_THAT(refusal([](small& s) { s["x"].inputs.push_back({0, 0}); }), Catch::Contains("not before it"));
}

TEST_CASE("what a node yields is what its op infers") {
  CHECK(refusal([](small& s) { s["c"].outputs[0].dtype = dtype::string; }) ==
        "invalid_argument: it declares other outputs than MatMul has [c]");
  CHECK_THAT(refusal([](small& s) { s["c"].outputs[0].shape = shape{9, 9}; }), Catch::Contains("other outputs"));
  CHECK_THAT(refusal([](small& s) { s["c"].outputs.clear(); }), Catch::Contains("other outputs"));
  CHECK_THAT(refusal([](small& s) { s["x"].outputs[0].reference = true; }), Catch::Contains("other outputs"));
  CHECK_THAT(refusal([](small& s) { s["x"].attrs.set("dtype", dtype::invalid); }),
             Catch::Contains("is invalid, which no tensor"));
  CHECK_THAT(refusal([](small& s) { s["x"].attrs = {}; }), Catch::Contains("needs attribute 'dtype', a dtype [x]"));
  CHECK_THAT(refusal([](small& s) { s["c"].attrs.set("n", integers(9)); }), Catch::Contains("has no attribute 'n'"));
  small s;
  s["c"].outputs[0].shape = shape::any();
  graph copy;
  distributed::apply(copy, std::move(s.delta));
  CHECK(copy.type_of({copy.id_of("c"), 0}).shape == shape{2, 2});
}

TEST_CASE("a variable goes where one is read or written, and nowhere else") {
  const auto to_variable = [](small& s, std::string_view op, std::size_t i) {
    s.of(op).inputs[i] = {s.g.id_of("w"), 0};
  };
  CHECK_THAT(refusal([&](small& s) { to_variable(s, "MatMul", 0); }), Catch::Contains("input 0 is a state, not"));
  CHECK_THAT(refusal([&](small& s) { to_variable(s, "Assign", 1); }), Catch::Contains("input 1 is a state, not"));
  CHECK_THAT(refusal([&](small& s) { to_variable(s, "ApplyMomentum", 1); }), Catch::Contains("one variable twice"));
  CHECK_THAT(refusal([](small& s) { s.of("AssignAdd").inputs[0] = s.of("AssignAdd").inputs[1]; }),
             Catch::Contains("input 0 is a value, no state"));
}

TEST_CASE("a program yields what its node's kernel makes room for") {
  const auto change = [](node& n, auto how) {
    scalar::program p = op::program_of(n.attrs);
    how(p);
    n.attrs.set("program", std::make_shared<const scalar::program>(p));
  };
  const auto widen = [](scalar::program& p) { p.results[0].type = dtype::float64; };
  const auto repeat = [](scalar::program& p) { p.results.push_back(p.results[0]); };
  CHECK_THAT(refusal([&](small& s) { change(s["add"], repeat); }), Catch::Contains("its program has 2 results [add]"));
  CHECK_THAT(refusal([&](small& s) { change(s.of("MapGrad"), widen); }), Catch::Contains("no gradients of its inputs"));
  CHECK_THAT(refusal([&](small& s) { change(s.of("ApplyMomentum"), widen); }),
             Catch::Contains("but its states are float"));
  CHECK_THAT(refusal([&](small& s) { change(s.of("ApplyMomentum"), repeat); }),
             Catch::Contains("is not one of its states"));
  CHECK_THAT(refusal([](small& s) { s.of("ApplyMomentum").attrs.set("states", std::int64_t{7}); }),
             Catch::Contains("no state or no gradient"));
  CHECK_THAT(refusal([](small& s) { s["add"].attrs = {}; }), Catch::Contains("needs attribute 'program'"));
}

TEST_CASE("holes are not many more than what was fused accounts for") {
  graph_delta delta;
  delta.nodes.resize(100000);
  CHECK_THAT(refused<graph_delta>(wire::sent(delta), 0), Catch::Contains("little but absorbed nodes"));
}

TEST_CASE("the ends of a body are values of its nodes") {
  wire::model inner;
  const auto with = [&](std::vector<output> arguments, std::vector<output> results, std::vector<node_id> targets) {
    auto b = std::make_shared<body>();
    distributed::apply(b->graph, distributed::delta_since(inner.g));
    b->arguments = std::move(arguments);
    b->results = std::move(results);
    b->targets = std::move(targets);
    return failure([&] { again(shared_body(b)); });
  };
  const output x = end_of(inner.x);
  CHECK_THAT(with({{9999, 0}}, {x}, {}), Catch::Contains("no values of its nodes"));
  CHECK_THAT(with({x}, {{x.node, 1}}, {}), Catch::Contains("no values of its nodes"));
  CHECK_THAT(with({x}, {{x.node, -1}}, {}), Catch::Contains("no values of its nodes"));
  CHECK_THAT(with({x}, {x}, {-1}), Catch::Contains("no values of its nodes"));
}

TEST_CASE("bodies nest to a depth of 16") {
  const auto with_argument = [] {
    auto b = std::make_shared<body>();
    const attributes one_bool{{"dtype", dtype::boolean}, {"shape", shape{}}};
    b->arguments = {{build(b->graph, {.op = "Placeholder", .base_name = "x", .attrs = one_bool}), 0}};
    return b;
  };
  const auto cond = with_argument();
  cond->results = cond->arguments;
  const auto nested = [&](int levels) {
    auto inner = with_argument();
    for (; levels > 1; --levels) {
      auto outer = with_argument();
      const std::int64_t none = 0;
      build(outer->graph, {.op = "While",
                           .base_name = "f",
                           .inputs = outer->arguments,
                           .attrs = {{"body", shared_body(inner)},
                                     {"cond", shared_body(cond)},
                                     {"variables", none},
                                     {"scanned", none},
                                     {"collected", none}}});
      inner = std::move(outer);
    }
    return shared_body(inner);
  };
  CHECK_NOTHROW(again(nested(16)));
  CHECK_THAT(failure([&] { again(nested(17)); }), Catch::Contains("nested more than 16 levels"));
}

// ---- steps

TEST_CASE("plans and signatures come out as they went in") {
  const placed_node n{.id = 3,
                      .name = "a/b",
                      .op = "Op",
                      .requested = "/gpu:0",
                      .device = "/job:a/replica:0/task:0/device:CPU:0",
                      .device_index = 1,
                      .reason = "only kernel",
                      .refused = {"x: no", "y: no"},
                      .fallback = true,
                      .location = "a.cpp:3",
                      .bytes_in = 4,
                      .bytes_out = 400,
                      .state = 8,
                      .starts = .5,
                      .ends = 1.5,
                      .optimized = "folded into a/c",
                      .runs = false};
  const plan_figures figures{.soft = true,
                             .totals = {{2, 8, 1.5, 400}},
                             .transfers = {{"a/b:0", 0, 0, 400}},
                             .edges = {{0, 1, 400, false}},
                             .makespan = 1.5,
                             .notes = {"so it is"}};
  const plan p({{parse_device("/cpu:0"), "c", 5, "a CPU", {1, 2, 3}, {"MatMul"}}}, {n, {}}, figures), q = again(p);
  CHECK(to_string(q) == to_string(p));
  CHECK(wire::bytes_of(q) == wire::bytes_of(p));
  const placed_node& m = q.nodes()[0];
  CHECK(std::tuple(m.id, m.requested, m.device_index, m.refused, m.fallback, m.location, m.bytes_out) ==
        std::tuple(n.id, n.requested, n.device_index, n.refused, n.fallback, n.location, n.bytes_out));
  CHECK(std::tuple(m.optimized, m.runs) == std::tuple(n.optimized, n.runs));
  CHECK(q.devices()[0].memory_limit == 5);
  CHECK(q.devices()[0].lacks == p.devices()[0].lacks);
  CHECK((q.allows_fallback() && q.makespan() == 1.5 && q.transfers()[0].bytes == 400 && q.totals()[0].peak == 400));
  const runtime::step_signature s{{{1, 0}}, {{2, 1}, {3, 0}}, {4, 5}};
  CHECK(again(s) == s);
  CHECK(again(runtime::checking(s)) == runtime::checking(s));
}

TEST_CASE("traces come out as they went in, and times that cannot be are refused") {
  const step_trace t{.events = {{trace_event::receive, "a/b", "Op", "/cpu:0", "a/b:0;/gpu:0;/cpu:0", 9, 8, 7, 6, 5,
                                 "add, mul", trace_event::cut_off},
                                {}},
                     .left_out = 3,
                     .memory = {{"/cpu:0", 12, 1 << 20}, {}},
                     .failure = "it broke"};
  CHECK(again(t) == t);
  for (const std::int64_t bad : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    CHECK(caught([&] { again(trace_event{.start = bad}); }).code() == errc::data_loss);
    CHECK(caught([&] { again(trace_event{.duration = bad}); }).code() == errc::data_loss);
    CHECK(caught([&] { again(memory_sample{.time = bad}); }).code() == errc::data_loss);
  }
}

std::string text_of(const part_item& it) {
  std::string s = std::to_string(it.kind) + " " + std::to_string(it.node) + " " + std::to_string(it.index) + " " +
                  it.key.text() + (it.peer ? " peer" : "") + " " + std::to_string(it.outputs);
  for (const auto& [item, out] : it.inputs) s += " <" + std::to_string(item) + ":" + std::to_string(out);
  for (const int before : it.after) s += " after " + std::to_string(before);
  return s + "\n";
}
std::string text_of(const std::vector<runtime::partition>& parts) {
  std::string s;
  for (const auto& part : parts) {
    s += "device " + std::to_string(part.device) + (part.check_values ? " checks" : "") + "\n";
    for (const auto& it : part.items) s += text_of(it);
  }
  return s;
}

TEST_CASE("partitions come out as they went in") {
  wire::model m;
  auto parts = wire::partitions(m);
  REQUIRE(parts.size() == 2);
  parts[0].items[0].peer = true;
  parts[0].check_values = true;
  CHECK(text_of(again(parts)) == text_of(parts));
}

TEST_CASE("a subgraph holds what its parts compute, and stubs of what they are given") {
  wire::model m;
  for (const auto& part : wire::partitions(m)) {
    distributed::subgraph s = again(distributed::cut(m.g, {part}));
    const std::vector<bool> stub = s.stub;
    const auto rebuilt = distributed::rebuild(s);
    const graph_view g = graph_view::of_settled(*rebuilt);
    REQUIRE(static_cast<std::size_t>(g.size()) == stub.size());
    for (node_id id = 0; id < g.size(); ++id) {
      const node &mine = g[id], &original = m.g[m.g.id_of(mine.name)];
      INFO(mine.name);
      CHECK(mine.op == original.op);
      CHECK(mine.outputs.size() == original.outputs.size());
      CHECK(to_string(mine.where) == to_string(original.where));
      CHECK(mine.inputs.size() == (stub[static_cast<std::size_t>(id)] ? 0 : original.inputs.size()));
      for (std::size_t i = 0; i < mine.inputs.size(); ++i)
        CHECK(g[mine.inputs[i].node].name == m.g[original.inputs[i].node].name);
    }
    for (std::size_t i = 0; i < part.items.size(); ++i)
      CHECK(g[s.parts[0].items[i].node].name == m.g[part.items[i].node].name);
    CHECK(static_cast<std::size_t>(g.size()) < part.items.size() + 1);
  }
}

TEST_CASE("what a feed stands for is told by those who take it") {
  wire::model m;
  const auto parts = wire::partitions(m);
  const auto fed = distributed::fed_outputs(m.g, parts[0]);
  CHECK(fed.at(1) == end_of(m.y));
  CHECK(fed.size() + distributed::fed_outputs(m.g, parts[1]).size() <= 2);
}

// item 0: feed x; 1: receive y; 2: c = x y; 3: send c; 4: a = exp(c); 5: fetch a
struct step {
  graph g;
  distributed::subgraph s;

  step() {
    const auto use = g.as_default();
    auto x = placeholder<float>({2, 2}, "x"), y = placeholder<float>({2, 2}, "y");
    const node_id c = id_of(matmul(x, y, {.name = "c"})), a = id_of(exp(expr<float>(g, {c, 0}), "a"));
    runtime::partition part;
    part.items = {{.kind = part_item::feed, .node = id_of(x), .outputs = 1},
                  {.kind = part_item::receive, .node = id_of(y), .key = transfer_key("k"), .outputs = 1},
                  {.kind = part_item::compute, .node = c, .inputs = {{0, 0}, {1, 0}}, .outputs = 1},
                  {.kind = part_item::send, .node = c, .key = transfer_key("l"), .inputs = {{2, 0}}},
                  {.kind = part_item::compute, .node = a, .inputs = {{2, 0}}, .after = {3}, .outputs = 1},
                  {.kind = part_item::fetch, .node = a, .inputs = {{4, 0}}}};
    s = again(distributed::cut(g, {part}));
  }
  part_item& operator[](std::size_t i) { return s.parts[0].items[i]; }
};

TEST_CASE("a node may run behind a variable that another task has") {
  graph g;
  const auto use = g.as_default();
  const auto v = variable(0.f, {.name = "v"});
  const auto x = constant(1.f);
  const node_id there = state_of(v).node, here = id_of(x);
  const runtime::partition part{
      0,
      {{.kind = part_item::receive, .node = there, .index = -1, .key = transfer_key("k"), .outputs = 1},
       {.kind = part_item::compute, .node = here, .after = {0}, .outputs = 1}}};
  auto s = again(distributed::cut(g, {part}));
  const auto rebuilt = distributed::rebuild(s);
  const node& stub = graph_view::of_settled(*rebuilt)[0];
  CHECK(stub.name == "v");
  CHECK(stub.outputs.empty());
}

template <class Change>
std::string rejection(Change change) {
  step s;
  change(s);
  return failure([&] { distributed::rebuild(s.s); });
}

TEST_CASE("a subgraph that does not hold together is refused") {
  step good;
  CHECK(good.s.stub == std::vector<bool>{true, true, false, false});
  CHECK_NOTHROW(distributed::rebuild(good.s));
  const auto rejects = [](auto change, const char* why) { CHECK_THAT(rejection(change), Catch::Contains(why)); };
  rejects([](step& s) { s.s.stub.pop_back(); }, "does not say what is computed elsewhere");
  rejects([](step& s) { s.s.stub[2] = true; }, "computed elsewhere has inputs");
  rejects([](step& s) { s.s.nodes[0].outputs[0].reference = true; }, "a state that lives elsewhere");
  rejects([](step& s) { s.s.nodes[0].outputs[0].dtype = dtype::invalid; }, "a tensor of invalid");
  rejects([](step& s) { s.s.nodes[0].outputs[0].dtype = dtype::float64; }, "MatMul of double and float");
  rejects([](step& s) { s.s.parts[0].device = -1; }, "a partition on device -1");
}

TEST_CASE("items that do not say what the graph says are refused") {
  const auto rejects = [](auto change, const char* why) { CHECK_THAT(rejection(change), Catch::Contains(why)); };
  rejects([](step& s) { s[0].node = 4; }, "an item of node 4, which is not there");
  rejects([](step& s) { s[0].node = -1; }, "an item of node -1, which is not there");
  rejects([](step& s) { s[2].inputs[0].first = 2; }, "takes what item 2 yields, and runs before it");
  rejects([](step& s) { s[2].inputs[0].first = -1; }, "takes what item -1 yields");
  rejects([](step& s) { s[2].inputs[0].second = 1; }, "takes output 1 of item 0, which has 1");
  rejects([](step& s) { s[2].inputs[0] = {1, 0}; }, "its input 0 is another value");
  rejects([](step& s) { s[2].inputs.pop_back(); }, "an item with 1 inputs");
  rejects([](step& s) { s[2].outputs = 2; }, "an item with 2 outputs");
  rejects([](step& s) { s[4].after = {4}; }, "after item 4, which is not before it");
  rejects([](step& s) { s[4].node = s[2].node; }, "computed elsewhere, or twice");
  rejects([](step& s) { s[2].node = 0; }, "computed elsewhere, or twice");
  rejects([](step& s) { s[0].index = -1; }, "feed or fetch number -1");
  rejects([](step& s) { s[5].index = 1 << 20; }, "feed or fetch number 1048576");
  rejects([](step& s) { s[1].key = {}; }, "a transfer without a key");
  rejects([](step& s) { s[1].index = -2; }, "it is received as output -2 of 1");
  rejects([](step& s) { s[1].index = 1; }, "it is received as output 1 of 1");
  rejects([](step& s) { s[1].index = -1; }, "takes a signal for a value");
  rejects([](step& s) { s[5].inputs[0] = {2, 0}; }, "passes on another node's value");
  rejects([](step& s) { s[5].inputs.clear(); }, "an item with 0 inputs");
  rejects([](step& s) { s[1].outputs = -1; }, "an item with -1 outputs");
}

}  // namespace
