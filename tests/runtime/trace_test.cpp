// Traces: what a step writes down of itself, and the file that others open.
#include <pinion/runtime/step/step_tracer.hpp>
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <set>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>
#if PINION_HAS_JSON
#include <support/trace_rules.hpp>
#endif

namespace {

using namespace pinion;

const std::string task = "/job:localhost/replica:0/task:0";
const std::string cpu = task + "/device:CPU:0", gpu_0 = task + "/device:GPU:0";

std::set<std::string> nodes(const step_trace& t, const std::string& device, trace_event::kind_t kind) {
  std::set<std::string> names;
  for (const trace_event& e : t.events)
    if (e.device == device && e.kind == kind) names.insert(e.node);
  return names;
}
const trace_event& event_of(const step_trace& t, const std::string& node, trace_event::kind_t kind) {
  const auto found = std::find_if(t.events.begin(), t.events.end(),
                                  [&](const trace_event& e) { return e.node == node && e.kind == kind; });
  REQUIRE(found != t.events.end());
  return *found;
}
std::ptrdiff_t count_of(const step_trace& t, trace_event::kind_t kind) {
  return std::count_if(t.events.begin(), t.events.end(), [kind](const trace_event& e) { return e.kind == kind; });
}

// A matrix product, "MatMul", on one device, and another, "MatMul_1", of its result on another.
struct two_devices : own_graph {
  expr<float> x, y, z;
  explicit two_devices(const std::string& first = "/cpu:0", const std::string& second = "/cpu:1") {
    {
      const device on{first};
      x = placeholder<float>({64, 64}, "x");
      y = matmul(x, x);
    }
    const device on{second};
    z = matmul(y, y);
  }
  tensor<float> value = tensor<float>({64, 64});
};

}  // namespace

TEST_CASE("a traced step tells of each node where and when it ran, and of both ends of each transfer") {
  two_devices f;
  session sess{{.cpu_devices = 2}};
  step_trace t;
  const tensor<float> z = sess.run(t, {{f.x, f.value}}, f.z);
  CHECK(z.shape() == shape{64, 64});
  const std::string other = task + "/device:CPU:1";
  CHECK(nodes(t, cpu, trace_event::compute) == std::set<std::string>{"MatMul"});
  CHECK(nodes(t, other, trace_event::compute) == std::set<std::string>{"MatMul_1"});
  CHECK(nodes(t, cpu, trace_event::send) == std::set<std::string>{"MatMul"});
  CHECK(nodes(t, other, trace_event::receive) == std::set<std::string>{"MatMul"});
  const auto &y = event_of(t, "MatMul", trace_event::compute), &z_event = event_of(t, "MatMul_1", trace_event::compute),
             &sent = event_of(t, "MatMul", trace_event::send), &came = event_of(t, "MatMul", trace_event::receive);
  CHECK(y.op == "MatMul");
  CHECK(y.duration > 0);
  CHECK(y.bytes == 64 * 64 * 4);
  CHECK(y.start + y.duration <= sent.start);
  CHECK(came.start + came.duration <= z_event.start);
  CHECK(sent.key == "MatMul:0;" + cpu + ";" + other);
  CHECK(came.key == sent.key);
  CHECK(sent.bytes == 64 * 64 * 4);
  CHECK(t.left_out == 0);
}

TEST_CASE("an event tells which thread computed it, and how much it read and wrote") {
  two_devices f{"/cpu:0", "/cpu:0"};
  session sess;
  step_trace t;
  sess.run(t, {{f.x, f.value}}, f.z);
  const auto& y = event_of(t, "MatMul", trace_event::compute);
  CHECK(y.thread == step_tracer::this_thread());
  CHECK(y.read == 2 * 64 * 64 * 4);
  CHECK(y.bytes == 64 * 64 * 4);
}

TEST_CASE("an event of a fused node names the operations that became it, and others name none") {
  own_graph g;
  auto x = placeholder<float>({4}, "x");
  auto y = exp(x + x) * x;
  auto z = tanh(y);
  session sess{{.optimize = false}};
  step_trace t;
  sess.run(t, {{x, tensor<float>({4})}}, z);
  CHECK(event_of(t, "mul", trace_event::compute).fused == "add, exp, mul");
  CHECK(event_of(t, "Tanh", trace_event::compute).fused == "");
}

TEST_CASE("a step that fails leaves what ran before, and tells at which node it failed and what it cut off") {
  two_devices f;
  const auto misfit = placeholder<float>({unknown, unknown}, "misfit");
  const auto product = matmul(f.z, misfit, {.name = "product"});
  const auto behind = [&] {
    const device on{"/cpu:1"};
    return matmul(product, product);
  }();
  session sess{{.cpu_devices = 2}};
  step_trace t{.left_out = 7};
  const auto run = [&] { sess.run(t, {{f.x, f.value}, {misfit, tensor<float>({3, 3})}}, behind); };
  error why = caught(run);
  // A device whose thread is held up may not have begun to wait when the other fails: then there is nothing to cut off.
  for (int i = 0; i < 1000 && count_of(t, trace_event::receive) < 4; ++i) why = caught(run);
  REQUIRE(count_of(t, trace_event::receive) == 4);
  CHECK(why.code() == errc::invalid_argument);
  CHECK(t.failure == why.what());
  CHECK(event_of(t, "MatMul", trace_event::compute).ended == trace_event::well);
  CHECK(event_of(t, "product", trace_event::compute).ended == trace_event::failed);
  CHECK(event_of(t, "product", trace_event::receive).ended == trace_event::cut_off);
  CHECK(nodes(t, task + "/device:CPU:1", trace_event::compute) == std::set<std::string>{"MatMul_1"});
  CHECK(t.left_out == 0);
#if PINION_HAS_JSON
  const auto json = nlohmann::json::parse(t.to_json());
  CHECK(pinion_tests::broken_rule(json) == "");
  CHECK(json["otherData"]["failure"] == t.failure);
  std::multiset<std::string> shown;
  for (const char* category : {"op", "copy"})
    for (const auto& e : pinion_tests::slices_of(json, category)) shown.insert(e["name"].get<std::string>());
  CHECK(shown.count("MatMul (failed)") == 1);
  CHECK(shown.count("receive (cut off)") == 2);  // that of the product, and that of what is fetched
  CHECK(shown.count("MatMul") == 2);
#endif
}

TEST_CASE("a failing node of a body and the node that owns it are told, on each kind of device") {
  const std::string device_name = GENERATE("/cpu:0", "/gpu:0");
  own_graph g;
  const device on{device_name};
  const auto x = placeholder<float>({unknown, unknown}, "x");
  const auto y =
      while_loop([](auto i, auto) { return i < 2; },
                 [](auto i, auto v) { return std::tuple(i + 1, matmul(v, v, {.name = "inner"})); }, constant(0), x);
  session sess{{.simulated = {sim::gpu()}}};
  step_trace t;
  CHECK(refusal([&] { sess.run(t, {{x, tensor<float>({2, 3})}}, std::get<1>(y)); }, errc::invalid_argument, "3") == "");
  std::set<std::string> failed;
  for (const trace_event& e : t.events)
    if (e.ended == trace_event::failed) failed.insert(e.op);
  CHECK(failed == std::set<std::string>{"MatMul", "While"});
}

TEST_CASE("a step that is not traced, or does not begin, leaves the trace as it is") {
  two_devices f;
  session sess{{.cpu_devices = 2}};
  step_trace t;
  sess.run({{f.x, f.value}}, f.z);
  CHECK(t == step_trace{});
  CHECK(refusal([&] { sess.run(t, {{f.x, tensor<float>({3})}}, f.z); }, errc::invalid_argument, "x") == "");
  CHECK(t == step_trace{});
}

TEST_CASE("on a device with a stream an event lasts as long as the stream is at it") {
  two_devices f{"/gpu:0", "/gpu:0"};
  session sess{{.simulated = {sim::gpu()}}};
  step_trace t;
  sess.run(t, {{f.x, f.value}}, f.z);
  CHECK(nodes(t, gpu_0, trace_event::compute) == std::set<std::string>{"MatMul", "MatMul_1"});
  const auto &y = event_of(t, "MatMul", trace_event::compute), &z = event_of(t, "MatMul_1", trace_event::compute),
             &fed = event_of(t, "x", trace_event::receive), &back = event_of(t, "MatMul_1", trace_event::send);
  CHECK(y.duration > 1000);  // 64^3 products; enqueueing them takes less
  CHECK(fed.start + fed.duration <= y.start + 1);
  CHECK(y.start + y.duration <= z.start);
  CHECK(z.start + z.duration <= back.start + back.duration);
}

TEST_CASE("the nodes of a loop's body are told of for every round") {
  graph g;
  const default_scope use = g.as_default();
  auto n = while_loop([](auto i) { return i < 5; }, [](auto i) { return i + 1; }, constant(0));
  session sess{{.optimize = false}};
  step_trace t;
  CHECK(int(sess.run(t, n)) == 5);
  const auto rounds = std::count_if(t.events.begin(), t.events.end(), [](const auto& e) { return e.op == "Add"; });
  CHECK(rounds == 5);
}

TEST_CASE("a trace keeps so many events, and counts the others") {
  step_tracer tracer;
  for (std::size_t i = 0; i < step_trace::most_events + 3; ++i) tracer.add({.node = "n"});
  const step_trace t = tracer.take();
  CHECK(t.events.size() == step_trace::most_events);
  CHECK(t.left_out == 3);
}

TEST_CASE("an event of a stream has the times of its marks, in the order in which events were added") {
  struct fixed_mark final : devices::mark {
    explicit fixed_mark(std::optional<time_point> t) : at(t) {}
    std::optional<time_point> time() const override { return at; }
    std::optional<time_point> at;
  };
  const auto mark = [](auto at) { return std::make_shared<fixed_mark>(at); };
  step_tracer tracer;
  const auto now = step_tracer::clock::now();
  tracer.add({.node = "on a stream"}, mark(now), mark(now + std::chrono::nanoseconds(70)));
  tracer.add({.node = "on the host", .duration = 5});
  tracer.add({.node = "not reached", .duration = 6}, mark(now), mark(std::nullopt));
  const step_trace t = tracer.take();
  REQUIRE(t.events.size() == 3);
  CHECK(t.events[0].node == "on a stream");
  CHECK(t.events[0].start == tracer.time_of(now));
  CHECK(t.events[0].duration == 70);
  CHECK(t.events[1].duration == 5);
  CHECK(t.events[2].duration == 6);
}

TEST_CASE("events of another task are shifted, by as little as it takes, into the time in which it ran") {
  const auto merged = [](std::int64_t start, std::int64_t duration) {
    step_trace all;
    all.merge({.events = {{.start = start, .duration = duration}}, .left_out = 1}, 1000, 2000);
    CHECK(all.left_out == 1);
    return all.events[0].start;
  };
  CHECK(merged(1200, 100) == 1200);
  CHECK(merged(700, 100) == 1000);
  CHECK(merged(1950, 100) == 1900);
  CHECK(merged(5000, 1500) == 1000);  // longer than it can have taken: its beginning is right
}

namespace {

std::vector<std::int64_t> memory_of(const step_trace& t, const std::string& device) {
  std::vector<std::int64_t> bytes;
  for (const memory_sample& m : t.memory)
    if (m.device == device) bytes.push_back(m.bytes);
  return bytes;
}
constexpr std::int64_t one_byte = 64 * 64 * 4;  // the bytes of a matrix of two_devices

}  // namespace

TEST_CASE(
    "a trace tells what memory the values of the step had, from their nodes' beginning to their last readers' end") {
  two_devices f{"/cpu:0", "/cpu:0"};
  session sess;
  for (int run = 0; run < 3; ++run) {  // with memory that is recorded, and by a plan
    step_trace t;
    sess.run(t, {{f.x, f.value}}, f.z);
    CHECK(memory_of(t, cpu) == std::vector<std::int64_t>{one_byte, 2 * one_byte, one_byte, 2 * one_byte, one_byte, 0});
    CHECK(t.peak(cpu) == 2 * one_byte);
    CHECK(t.memory[1].time == event_of(t, "MatMul", trace_event::compute).start);
  }
}

TEST_CASE("a value counts on each device that has it, and is not let go before its last reader") {
  two_devices f;
  const auto both = f.z + [&] {
    const device on{"/cpu:1"};
    return matmul(f.z, f.y, {.name = "last"});
  }();
  session sess{{.cpu_devices = 2}};
  step_trace t;
  sess.run(t, {{f.x, f.value}}, f.z, both);
  const std::string other = task + "/device:CPU:1";
  CHECK(t.peak(other) == 3 * one_byte);  // y, z and "last"
  CHECK(memory_of(t, other).back() == 0);
  CHECK(t.peak("/job:elsewhere") == 0);
  CHECK_THROWS_AS(t.peak("/no/such/device"), error);
}

TEST_CASE("values of one block have its memory once") {
  own_graph g;
  const auto x = placeholder<float>({64, 64}, "x");
  const auto y = reshape(matmul(x, x), {32, 128});
  const auto z = reshape(y, {16, 256});
  session sess{{.optimize = false}};
  step_trace t;
  sess.run(t, {{x, tensor<float>({64, 64})}}, z);
  CHECK(memory_of(t, cpu) == std::vector<std::int64_t>{one_byte, 2 * one_byte, one_byte, 0});
}

TEST_CASE("the memory of a device with a stream is that at the points of the stream") {
  two_devices f{"/gpu:0", "/gpu:0"};
  session sess{{.simulated = {sim::gpu()}}};
  step_trace t;
  sess.run(t, {{f.x, f.value}}, f.z);
  CHECK(t.peak(gpu_0) == 2 * one_byte);
  const memory_sample then{gpu_0, event_of(t, "MatMul_1", trace_event::compute).start, 2 * one_byte};
  CHECK(std::count(t.memory.begin(), t.memory.end(), then) == 1);
}

TEST_CASE("the memory of values of a failed step is let go at its end") {
  two_devices f{"/cpu:0", "/cpu:0"};
  const auto misfit = placeholder<float>({unknown, unknown}, "misfit");
  const auto product = matmul(f.z, misfit);
  session sess;
  step_trace t;
  caught([&] { sess.run(t, {{f.x, f.value}, {misfit, tensor<float>({3, 3})}}, product, f.y); });
  CHECK(t.peak(cpu) >= 2 * one_byte);
  CHECK(memory_of(t, cpu).back() == 0);
}

#if PINION_HAS_JSON
TEST_CASE("memory is shown as a counter of its device") {
  two_devices f{"/cpu:0", "/gpu:0"};
  session sess{{.simulated = {sim::gpu()}}};
  step_trace t;
  sess.run(t, {{f.x, f.value}}, f.z);
  const auto json = nlohmann::json::parse(t.to_json());
  CHECK(pinion_tests::broken_rule(json) == "");
  std::map<std::string, std::int64_t> most;
  for (const auto& e : json["traceEvents"])
    if (e["ph"] == "C") {
      auto& bytes = most[e["name"].get<std::string>()];
      bytes = std::max(bytes, e["args"]["bytes"].get<std::int64_t>());
    }
  CHECK(most == std::map<std::string, std::int64_t>{{"CPU:0 memory", t.peak(cpu)}, {"GPU:0 memory", t.peak(gpu_0)}});
}

TEST_CASE("a trace is JSON by the rules of those who show it, with a row for each device and an arrow for each value") {
  two_devices f{"/cpu:0", "/gpu:0"};
  session sess{{.simulated = {sim::gpu()}}};
  step_trace t;
  sess.run(t, {{f.x, f.value}}, f.z);
  const auto json = nlohmann::json::parse(t.to_json());
  CHECK(pinion_tests::broken_rule(json) == "");
  const auto ops = pinion_tests::slices_of(json, "op");
  REQUIRE(ops.size() == 2);
  CHECK(ops[0]["name"] == "MatMul");
  CHECK(ops[0]["args"]["name"] == "MatMul");
  CHECK(ops[0]["args"]["read"] == 2 * 64 * 64 * 4);
  CHECK(ops[0]["args"]["bytes"] == 64 * 64 * 4);
  CHECK(ops[0]["args"]["thread"] == event_of(t, "MatMul", trace_event::compute).thread);
  const auto copies = pinion_tests::slices_of(json, "copy");
  REQUIRE(copies.size() == 4);  // y over and z back, both ends
  CHECK(copies[0]["args"] == nlohmann::json({{"name", "MatMul"},
                                             {"value", "MatMul:0"},
                                             {"from", cpu},
                                             {"to", gpu_0},
                                             {"bytes", 64 * 64 * 4},
                                             {"thread", event_of(t, "MatMul", trace_event::send).thread}}));
  CHECK(pinion_tests::count_phase(json, "s") == 2);
  CHECK(pinion_tests::count_phase(json, "f") == 2);
  std::set<std::string> rows;
  for (const auto& e : json["traceEvents"])
    if (e["name"] == "thread_name") rows.insert(e["args"]["name"].get<std::string>());
  CHECK(rows == std::set<std::string>{"CPU:0", "CPU:0 transfers", "GPU:0", "GPU:0 transfers"});
}

TEST_CASE("a fused node shows its operations") {
  const step_trace t{.events = {{.node = "n", .op = "Mul", .device = cpu, .fused = "add, mul"}}};
  CHECK(pinion_tests::slices_of(nlohmann::json::parse(t.to_json()), "op")[0]["args"]["fused"] == "add, mul");
}

TEST_CASE("nodes that ran beside each other stand in rows of their own") {
  const auto event = [](const char* name, std::int64_t start, std::int64_t duration) {
    return trace_event{.node = name, .op = "Op", .device = cpu, .start = 5'000'000 + start, .duration = duration};
  };
  const step_trace t{.events = {event("late \"<\n", 40, 10), event("long", 0, 30), event("beside", 10, 10),
                                event("behind", 20, 10), event("instant", 60, 0)}};
  const auto json = nlohmann::json::parse(t.to_json());
  CHECK(pinion_tests::broken_rule(json) == "");
  std::map<std::string, int> row;
  for (const auto& e : pinion_tests::slices_of(json, "op")) row[e["args"]["name"]] = e["tid"];
  CHECK(row ==
        std::map<std::string, int>{{"long", 1}, {"beside", 2}, {"behind", 2}, {"late \"<\n", 1}, {"instant", 1}});
  CHECK(json["otherData"]["began_ns"] == "5000000");
}

TEST_CASE("transfers of a loop have an arrow for each round") {
  const std::string key = "x:0;" + cpu + ";" + gpu_0;
  step_trace t;
  for (std::int64_t round = 0; round < 3; ++round) {
    t.events.push_back({trace_event::receive, "x", "Op", gpu_0, key, 1000 * round, 600, 4});  // has waited for 500
    t.events.push_back({trace_event::send, "x", "Op", cpu, key, 1000 * round + 500, 50, 4});
  }
  const auto json = nlohmann::json::parse(t.to_json());
  CHECK(pinion_tests::broken_rule(json) == "");
  CHECK(pinion_tests::count_phase(json, "s") == 3);
  for (const auto& e : pinion_tests::slices_of(json, "copy"))
    if (e["name"] == "receive") CHECK(e["dur"] == 0.1);
}

TEST_CASE("an empty trace is a file too, and one that cannot be written says so") {
  temporary_folder dir;
  step_trace{}.save(dir.path("empty.json"));
  std::ifstream file(dir.path("empty.json"));
  CHECK(nlohmann::json::parse(file)["traceEvents"].empty());
  CHECK(refusal([&] { step_trace{}.save(dir.path("no/such/folder.json")); }, errc::not_found, "folder.json") == "");
}
#endif
