// Parts of a step, one by one: pruning, cutting by device, the rendezvous, the executor.
#include <pinion/base/inline_run.hpp>
#include <pinion/device/cpu.hpp>
#include <pinion/graph.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/resource_manager.hpp>
#include <pinion/runtime/step/executor.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/runtime/step/rendezvous.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
using runtime::part_item;

// ---- pruning

std::string pruned(graph_view g, const runtime::step_signature& s) {
  std::string names;
  for (node_id id : runtime::prune(g, s)) names += g[id].name + " ";
  return names;
}

TEST_CASE("a step needs the ancestors of its fetches and targets, by data and by control") {
  own_graph f;
  auto a = constant(1.f, "a");
  auto b = identity(a, "b");
  identity(a, "unrelated");
  auto before = no_op("before");
  const control_dependencies after{before};
  auto c = constant(1.f, "c");
  auto d = no_op("d");
  CHECK(pruned(f.g, {{}, {end_of(b)}, {}}) == "a b ");
  CHECK(pruned(f.g, {{}, {end_of(c)}, {}}) == "before c ");
  CHECK(pruned(f.g, {{}, {end_of(b)}, {id_of(d)}}) == "a b before d ");
}

TEST_CASE("a feed cuts off what made it, unless something else needs that") {
  own_graph f;
  auto a = constant(1.f, "a");
  auto b = identity(a, "b"), c = identity(b, "c"), d = identity(a, "d");
  CHECK(pruned(f.g, {{end_of(b)}, {end_of(c)}, {}}) == "c ");
  CHECK(pruned(f.g, {{end_of(b)}, {end_of(c), end_of(d)}, {}}) == "a c d ");
  CHECK(pruned(f.g, {{end_of(b)}, {end_of(b)}, {}}) == "");
  CHECK(pruned(f.g, {{end_of(b)}, {end_of(b)}, {id_of(b)}}) == "a b ");
}

// ---- cutting by device

std::string text(graph_view g, const std::vector<runtime::partition>& parts) {
  static const char* kinds[] = {"compute", "feed", "fetch", "send", "receive"};
  std::string all;
  for (const auto& part : parts) {
    all += "device " + std::to_string(part.device) + "\n";
    for (std::size_t i = 0; i < part.items.size(); ++i) {
      const part_item& it = part.items[i];
      all += "  " + std::to_string(i) + " " + kinds[it.kind] + " " +
             (it.key.empty() ? g[it.node].name : std::string(it.key.edge()));
      for (auto [item, output] : it.inputs) all += " <" + std::to_string(item) + ":" + std::to_string(output);
      for (int before : it.after) all += " after " + std::to_string(before);
      all += "\n";
    }
  }
  return all;
}

std::vector<runtime::partition> cut(graph_view g, const runtime::step_signature& s) {
  std::vector<device_info> devices;
  for (const char* name :
       {"/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:1"})
    devices.push_back({parse_device(name), name, 0, ""});
  const placement p = simple_placer{}({.graph = g, .nodes = runtime::prune(g, s), .devices = devices});
  return runtime::cut_by_device(g, p, s, 0);
}

TEST_CASE("a value crosses once to each device, and a control edge as a value without bytes") {
  own_graph f;
  auto x = placeholder<float>({1, 1}, "x");
  expr<float> b, c;
  operation d, e;
  {
    const device on{"/cpu:1"};
    b = matmul(x, x, {.name = "b"});
    c = matmul(x, b, {.name = "c"});
  }
  {
    const device on{"/cpu:0"};
    const control_dependencies after{b};
    d = no_op("d");
    e = no_op("e");
  }
  const runtime::step_signature s{{end_of(x)}, {end_of(c)}, {id_of(d), id_of(e)}};
  CHECK(text(f.g, cut(f.g, s)) ==
        "device 0\n"
        "  0 feed x\n"
        "  1 send x:0 <0:0\n"
        "  2 receive b:done\n"
        "  3 compute d after 2\n"
        "  4 compute e after 2\n"
        "  5 receive c:0\n"
        "  6 fetch c <5:0\n"
        "device 1\n"
        "  0 receive x:0\n"
        "  1 compute b <0:0 <0:0\n"
        "  2 send b:done after 1\n"
        "  3 compute c <0:0 <1:0\n"
        "  4 send c:0 <3:0\n");
}

TEST_CASE("one transfer tells of all that a node waits for on another device, and of no node twice") {
  own_graph f;
  operation a, b, c, both, again, first, other;
  {
    const device on{"/cpu:1"};
    a = no_op("a"), b = no_op("b"), c = no_op("c");
  }
  {
    const device on{"/cpu:0"};
    const auto after = [](std::initializer_list<operation> all, std::string_view name) {
      const control_dependencies before(all);
      return no_op(name);
    };
    both = after({a, b}, "both"), again = after({a, b}, "again"), first = after({a}, "first");
    other = after({b, c}, "other");
  }
  CHECK(text(f.g, cut(f.g, {{}, {}, {id_of(both), id_of(again), id_of(first), id_of(other)}})) ==
        "device 0\n"
        "  0 receive all before both:done\n"
        "  1 compute both after 0\n"
        "  2 compute again after 0\n"
        "  3 receive a:done\n"
        "  4 compute first after 3\n"
        "  5 receive b:done\n"
        "  6 receive c:done\n"
        "  7 compute other after 5 after 6\n"
        "device 1\n"
        "  0 compute a\n"
        "  1 send a:done after 0\n"
        "  2 compute b\n"
        "  3 send all before both:done after 0 after 2\n"
        "  4 send b:done after 2\n"
        "  5 compute c\n"
        "  6 send c:done after 5\n");
}

TEST_CASE("a host sends a value before it goes on to what the value does not need") {
  own_graph f;
  expr<float> a, b;
  {
    const device on{"/cpu:1"};
    a = identity(constant(1.f, "x"), "a"), b = identity(a, "b");
  }
  const device on{"/cpu:0"};
  auto c = identity(b, "c"), d = identity(a, "d");
  CHECK(text(f.g, cut(f.g, {{}, {end_of(c), end_of(d)}, {}})) ==
        "device 0\n"
        "  0 receive b:0\n"
        "  1 compute c <0:0\n"
        "  2 receive a:0\n"
        "  3 compute d <2:0\n"
        "  4 fetch c <1:0\n"
        "  5 fetch d <3:0\n"
        "device 1\n"
        "  0 compute x\n"
        "  1 compute a <0:0\n"
        "  2 send a:0 <1:0\n"
        "  3 compute b <1:0\n"
        "  4 send b:0 <3:0\n");
}

TEST_CASE("the two ends of a transfer have one key, which names value, source and destination") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  const device on{"/cpu:1"};
  auto y = identity(x, "y");
  const auto parts = cut(f.g, {{end_of(x)}, {end_of(y)}, {}});
  const std::string task = "/job:localhost/replica:0/task:0/device:";
  CHECK(parts.at(0).items.at(1).key.text() == "x:0;" + task + "CPU:0;" + task + "CPU:1");
  CHECK(parts.at(1).items.at(0).key == parts.at(0).items.at(1).key);
}

TEST_CASE("a value that crosses lists what it waits for, or a node that comes behind that, and the list is short") {
  constexpr std::size_t many = 300;
  own_graph f;
  std::vector<operation> waiting, behind;  // each of the second comes behind one more of the first
  {
    const device on{"/cpu:0"};
    fifo_queue<int> queue({.capacity = 1, .shapes = {{}}});
    for (std::size_t i = 0; i < many; ++i) {
      waiting.push_back(queue.enqueue(static_cast<int>(i)));
      behind.push_back(i == 0 ? group(waiting[0]) : group(behind.back(), waiting.back()));
    }
  }
  for (const std::size_t count : {std::size_t{3}, part_item::most_waits, part_item::most_waits + 1, many}) {
    const device on{"/cpu:1"};
    const control_dependencies after{behind[count - 1]};
    const runtime::step_signature s{{}, {}, {id_of(no_op())}};
    const auto parts = cut(f.g, s);
    const auto& waits = parts.at(1).items.at(0).waits;
    CHECK(waits.size() <= part_item::most_waits);
    CHECK((waits.size() == count) == (count <= part_item::most_waits));
    std::set<node_id> covered(waits.begin(), waits.end());
    for (const node_id stand_in : waits)
      for (const node_id before : runtime::prune(f.g, {{}, {}, {stand_in}})) covered.insert(before);
    CHECK(std::all_of(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count),
                      [&](const operation& w) { return covered.contains(id_of(w)); }));
  }
}

TEST_CASE("a step on one device crosses nothing; a fed fetch computes nothing") {
  own_graph f;
  const device on{"/cpu:0"};
  auto x = placeholder<float>({}, "x");
  auto y = identity(x, "y");
  CHECK(text(f.g, cut(f.g, {{end_of(x)}, {end_of(y), end_of(y)}, {}})) ==
        "device 0\n  0 feed x\n  1 compute y <0:0\n  2 fetch y <1:0\n  3 fetch y <1:0\n");
  CHECK(text(f.g, cut(f.g, {{end_of(x)}, {end_of(x)}, {}})) == "device 0\n  0 feed x\n  1 fetch x <0:0\n");
}

TEST_CASE("a fed value is sent from where feeds live, though its producer runs elsewhere") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  const device on{"/cpu:1"};
  auto y = identity(x, "y"), z = identity(y, "z");
  CHECK(text(f.g, cut(f.g, {{end_of(x), end_of(y)}, {end_of(z)}, {id_of(y)}})) ==
        "device 0\n"
        "  0 feed x\n"
        "  1 send x:0 <0:0\n"
        "  2 feed y\n"
        "  3 send y:0 <2:0\n"
        "  4 receive z:0\n"
        "  5 fetch z <4:0\n"
        "device 1\n"
        "  0 receive x:0\n"
        "  1 compute y <0:0\n"
        "  2 receive y:0\n"
        "  3 compute z <2:0\n"
        "  4 send z:0 <3:0\n");
}

// ---- the rendezvous

// Notes what a receiver is told.
struct listener {
  std::string told;
  rendezvous::receiver operator()(std::string name) {
    return [this, name = std::move(name)](const outcome<handed_over>& v) { told += name + "=" + text_of(v) + " "; };
  }
  static std::string text_of(const outcome<handed_over>& v) {
    if (!v) return std::string(to_string(v.failure()->code()));
    return v.value().value ? to_string(v.value().value) : "signal";
  }
};

TEST_CASE("value and receiver meet in either order, each once") {
  runtime::local_rendezvous meet;
  listener l;
  meet.send(transfer_key("a"), tensor<int>(1).untyped());
  meet.receive(transfer_key("a"), l("a"));
  meet.receive(transfer_key("b"), l("b"));
  CHECK(l.told == "a=1 ");
  meet.send(transfer_key("b"), tensor<int>(2).untyped());
  meet.receive(transfer_key("a"), l("again"));
  CHECK(l.told == "a=1 b=2 ");
  meet.send(transfer_key("a"), {});
  CHECK(l.told == "a=1 b=2 again=signal ");
}

TEST_CASE("an abort gives every receiver, whether it waits or comes later, the first error") {
  runtime::local_rendezvous meet;
  listener l;
  meet.send(transfer_key("a"), tensor<int>(1).untyped());
  meet.receive(transfer_key("b"), l("b"));
  meet.abort(error(errc::cancelled, "first"));
  meet.abort(error(errc::internal, "second"));
  meet.send(transfer_key("c"), tensor<int>(1).untyped());
  meet.receive(transfer_key("a"), l("a"));
  meet.receive(transfer_key("c"), l("c"));
  CHECK(l.told == "b=cancelled a=cancelled c=cancelled ");
}

TEST_CASE("a receiver may use the rendezvous that calls it") {
  runtime::local_rendezvous meet;
  listener l;
  meet.receive(transfer_key("a"), [&](outcome<handed_over> v) { meet.send(transfer_key("b"), std::move(v).value()); });
  meet.receive(transfer_key("c"), [&](const outcome<handed_over>&) { meet.receive(transfer_key("d"), l("d")); });
  meet.receive(transfer_key("b"), l("b"));
  meet.send(transfer_key("a"), tensor<int>(1).untyped());
  CHECK(l.told == "b=1 ");
  meet.abort(error(errc::aborted, "no more"));
  CHECK(l.told == "b=1 d=aborted ");
}

// ---- the executor

// A partition made by hand, on a CPU.
struct by_hand {
  own_graph f;
  expr<int> x = placeholder<int>({}, "x");
  devices::cpu_device cpu{parse_device("/job:localhost/replica:0/task:0/cpu:0")};
  runtime::local_resource_manager resources;
  task_services services{&resources, nullptr};
  runtime::local_rendezvous meet;
  runtime::step_state state{meet, 1};
  std::vector<any_tensor> fetches = std::vector<any_tensor>(1);
  runtime::partition part;
  std::unique_ptr<runtime::executable> made;
  std::unique_ptr<runtime::run_memory> memory;
  int ended = 0;

  int add(part_item::kind_t kind, std::vector<std::pair<int, int>> inputs = {}, std::string key = {}) {
    part_item item;
    item.kind = kind;
    item.node = id_of(x);
    item.inputs = std::move(inputs);
    item.key = transfer_key(std::move(key));
    item.outputs = kind == part_item::send || kind == part_item::fetch ? 0 : 1;
    part.items.push_back(std::move(item));
    return static_cast<int>(part.items.size()) - 1;
  }
  void start() {
    made = std::make_unique<runtime::executable>(part, f.g, cpu, services, nullptr,
                                                 [](const kernel_setup& s) { return make_kernel_for(s); });
    memory = std::make_unique<runtime::run_memory>(*made);
    state.fetches = fetches;
    std::make_shared<runtime::executor>(*made, *memory, services, state, nullptr)->start([this] { ++ended; });
  }
};

TEST_CASE("a run that waits for a value holds no thread, and ends when it comes") {
  by_hand run;
  run.add(part_item::fetch, {{run.add(part_item::receive, {}, "k"), 0}});
  run.start();
  CHECK(run.ended == 0);
  run.meet.send(transfer_key("k"), tensor<int>(5).untyped());
  CHECK(run.ended == 1);
  CHECK_FALSE(run.state.failed());
  CHECK(run.state.fetches[0] == tensor<int>(5).untyped());
}

TEST_CASE("a value that comes in an inline run has brief items run there, and the longer ones are put by") {
  for (const std::int64_t elements : {10, 100'000}) {
    by_hand run;
    auto floats = placeholder<float>({elements}, "floats");
    run.x = cast<int>(floats);
    const int value = run.add(part_item::receive, {}, "k");
    run.part.items[0].node = id_of(floats);
    run.add(part_item::fetch, {{run.add(part_item::compute, {{value, 0}}), 0}});
    run.start();
    const auto left = inline_run::run([&] { run.meet.send(transfer_key("k"), {tensor<float>({elements}).untyped()}); });
    CHECK(left.size() == (elements > 10 ? 1 : 0));
    CHECK(run.ended == (elements > 10 ? 0 : 1));
    for (const auto& longer : left) longer();
    CHECK(run.ended == 1);
    CHECK_FALSE(run.state.failed());
    CHECK(run.state.fetches[0].count() == elements);
  }
}

TEST_CASE("in an inline run some brief items run, not however many") {
  by_hand run;
  int last = run.add(part_item::receive, {}, "k");
  run.add(part_item::fetch, {{last, 0}});
  for (int i = 0; i < 40; ++i) {
    run.add(part_item::send, {{last, 0}}, "s" + std::to_string(i));
    run.add(part_item::receive, {}, "r" + std::to_string(i));
    run.part.items.back().after = {last};
  }
  run.start();
  auto left = inline_run::run([&] { run.meet.send(transfer_key("k"), tensor<int>(5).untyped()); });
  CHECK(left.size() == 1);
  for (const auto& rest : left) rest();
  for (int i = 0; i < 40; ++i) run.meet.send(transfer_key("r" + std::to_string(i)), tensor<int>(5).untyped());
  CHECK(run.ended == 1);
  CHECK_FALSE(run.state.failed());
}

TEST_CASE("a receive that never comes ends with its step's deadline") {
  by_hand run;
  run.add(part_item::fetch, {{run.add(part_item::receive, {}, "k"), 0}});
  run.start();
  run.state.fail(run.state.too_late());
  CHECK(run.ended == 1);
  CHECK(run.state.failure()->code() == errc::deadline_exceeded);
  CHECK(run.state.cancellation.cancelled());
  run.meet.send(transfer_key("k"), tensor<int>(5).untyped());
  CHECK(run.state.fetches[0].empty());
}

TEST_CASE("after a failure no kernel is started, every item is accounted for, and the first cause stands") {
  by_hand run;
  const int broken = run.add(part_item::compute);  // the placeholder itself: not fed
  run.add(part_item::send, {{broken, 0}}, "out");
  run.add(part_item::fetch, {{run.add(part_item::receive, {}, "k"), 0}});
  run.start();
  CHECK(run.ended == 1);
  CHECK(run.state.failure()->code() == errc::invalid_argument);
  CHECK(run.state.failure()->node() == "x");
  CHECK(run.state.failure()->device() == run.cpu.name());
}

TEST_CASE("a step that failed before it began does nothing") {
  by_hand run;
  run.add(part_item::send, {{run.add(part_item::compute), 0}}, "out");
  run.state.fail(error(errc::cancelled, "no"));
  run.start();
  CHECK(run.ended == 1);
  CHECK(run.state.failure()->code() == errc::cancelled);
}

TEST_CASE("a run past its deadline stops between two items") {
  by_hand run;
  run.state.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  run.add(part_item::compute);
  run.start();
  CHECK(run.ended == 1);
  CHECK(run.state.failure()->code() == errc::deadline_exceeded);
}

TEST_CASE("a run without items ends at once") {
  by_hand run;
  run.start();
  CHECK(run.ended == 1);
}

TEST_CASE("of two failures the first is kept") {
  runtime::local_rendezvous meet;
  runtime::step_state state(meet, 1);
  state.fail(error(errc::aborted, "one"));
  state.fail(error(errc::internal, "two"));
  CHECK(state.failure()->code() == errc::aborted);
}

// ---- resources

TEST_CASE("a resource is found by container and name, and made once") {
  runtime::local_resource_manager all;
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::make_shared<resource>();
  };
  const auto a = all.find_or_create("", "a", make);
  CHECK(all.find_or_create("", "a", make) == a);
  CHECK(all.find_or_create("box", "a", make) != a);
  CHECK(made == 2);
  all.clear("box");
  CHECK(all.find_or_create("", "a", make) == a);
  all.find_or_create("box", "a", make);
  CHECK(made == 3);
}

}  // namespace
