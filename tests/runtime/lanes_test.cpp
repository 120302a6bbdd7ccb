// Steps that several threads run: the plan, the board, the run, and what a session makes of them.
#include <pinion/device/cpu.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/resource_manager.hpp>
#include <pinion/runtime/step/in_order_run.hpp>
#include <pinion/runtime/step/lane_choice.hpp>
#include <pinion/runtime/step/lane_run.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/runtime/step/rendezvous.hpp>
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <thread>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
using runtime::part_item;

// ---- items that are ready

TEST_CASE("items leave their heap the lowest first, in whichever order they came") {
  std::mt19937 bits(1);
  std::vector<runtime::ready_items::link> links(300);
  std::vector<int> items(links.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(items.begin(), items.end(), bits);
    runtime::ready_items ready(links);
    for (std::size_t i = 0; i < 100; ++i) ready.push(items[i], i % 3 == 0);
    std::vector<int> left;
    for (std::size_t i = 100; i < items.size(); ++i) {
      left.push_back(ready.pop());
      ready.push(items[i], i % 2 == 0);
    }
    CHECK(ready.top() >= 0);
    std::vector<int> tail;
    while (!ready.empty()) tail.push_back(ready.pop());
    CHECK(std::is_sorted(tail.begin(), tail.end()));
    left.insert(left.end(), tail.begin(), tail.end());
    std::sort(left.begin(), left.end());
    CHECK(std::adjacent_find(left.begin(), left.end()) == left.end());
    CHECK(left.size() == items.size());
  }
}

TEST_CASE("the expensive items leave their heap by themselves too, the lowest first") {
  std::vector<runtime::ready_items::link> links(6);
  runtime::ready_items ready(links);
  for (const int item : {5, 2, 4, 0, 3}) ready.push(item, item % 2 == 0);
  CHECK(ready.top() == 0);
  std::vector<int> expensive;
  while (ready.has_expensive()) expensive.push_back(ready.pop_expensive());
  CHECK(expensive == std::vector{0, 2, 4});
  CHECK(ready.pop() == 3);
  CHECK(ready.pop() == 5);
  CHECK(ready.empty());
}

TEST_CASE("the first place of a board is taken first, and before another only if it comes before it") {
  runtime::ready_board board(200);
  CHECK(board.take() == runtime::ready_board::none);
  for (const int place : {130, 5, 199, 64}) board.put(place);
  CHECK(board.take_before(5) == runtime::ready_board::none);
  CHECK(board.take_before(6) == 5);
  CHECK(board.take() == 64);
  CHECK(board.take() == 130);
  CHECK(board.any());
  CHECK(board.take() == 199);
  CHECK_FALSE(board.any());
}

TEST_CASE("threads take each place of a board once") {
  constexpr int places = 1000;
  runtime::ready_board board(places);
  std::vector<std::atomic<int>> taken(places);
  std::atomic<int> left{places};
  std::vector<std::thread> takers;
  for (int t = 0; t < 3; ++t)
    takers.emplace_back([&] {
      while (left > 0)
        if (const int place = board.take(); place >= 0) {
          ++taken[static_cast<std::size_t>(place)];
          --left;
        }
    });
  for (int place = 0; place < places; ++place) board.put(place);
  for (auto& t : takers) t.join();
  CHECK(std::all_of(taken.begin(), taken.end(), [](const auto& n) { return n == 1; }));
}

// ---- plans and runs

// The step of some fetches and targets, made ready on a CPU by hand.
struct prepared {
  graph& g;
  devices::cpu_device cpu{parse_device("/job:localhost/replica:0/task:0/cpu:0")};
  runtime::local_resource_manager resources;
  thread_pool pool{2};
  task_services services{&resources, &pool};
  std::unique_ptr<runtime::executable> made;

  prepared(graph& of, const runtime::step_signature& s) : g(of) {
    const placement_problem problem{.graph = g, .nodes = runtime::prune(g, s), .devices = {{cpu.spec(), cpu.name()}}};
    auto parts = runtime::cut_by_device(g, simple_placer{}(problem), s, 0);
    made = std::make_unique<runtime::executable>(std::move(parts.at(0)), g, cpu, services, nullptr,
                                                 [](const kernel_setup& k) { return make_kernel_for(k); });
  }
  // A plan by which every item takes that long.
  std::shared_ptr<const runtime::lane_plan> plan(double seconds) const {
    const std::vector<double> all(made->items.size(), seconds);
    return std::make_shared<const runtime::lane_plan>(*made, all);
  }
  int item(const std::string& name) const {
    const auto at = std::find_if(made->items.begin(), made->items.end(), [&](const auto& it) {
      return it.kind == part_item::compute && it.node->name == name;
    });
    return static_cast<int>(at - made->items.begin());
  }
  bool waits_for(const runtime::lane_plan& plan, const std::string& after, const std::string& before) const {
    const auto next = plan.successors(item(before));
    return std::find(next.begin(), next.end(), item(after)) != next.end();
  }
};

// One run by a plan.
struct lanes_of {
  prepared& step;
  runtime::local_rendezvous meet;
  runtime::step_state state{meet, 1};
  std::vector<any_tensor> fetches = std::vector<any_tensor>(4);
  runtime::run_memory memory{*step.made};
  runtime::lane_memory lanes;

  lanes_of(prepared& of, double seconds) : step(of), lanes(of.plan(seconds)) { state.fetches = fetches; }
  void run() { runtime::lane_run(*step.made, memory, lanes, step.services, state, step.pool, 2).run(); }
};

TEST_CASE("a variable is updated behind those that hold its value, and read again behind the update") {
  own_graph f;
  auto v = variable(tensor<float>({2}), {.name = "v"});
  auto held = identity(v.read(), "held");
  const operation update = assign_add(v, ones<float>({2}));
  const control_dependencies after{no_op()};
  auto later = v.read();  // by a node of its own, which nothing but the plan puts behind the update
  prepared step(f.g, {{}, {end_of(held), end_of(later)}, {id_of(update)}});
  const auto plan = step.plan(1e-5);
  CHECK(step.waits_for(*plan, "AssignAdd", "v/read"));
  CHECK(step.waits_for(*plan, "AssignAdd", "held"));
  CHECK(step.waits_for(*plan, "v/read_1", "AssignAdd"));
}

TEST_CASE("the most urgent item begins the longest way") {
  own_graph f;
  auto x = constant(tensor<float>({2}), "x");
  auto brief = identity(x, "short");
  auto way = identity(identity(identity(x, "long"), "middle"), "end");
  prepared step(f.g, {{}, {end_of(brief), end_of(way)}, {}});
  const auto plan = step.plan(1e-5);
  const auto place = [&](const char* name) { return plan->place[static_cast<std::size_t>(step.item(name))]; };
  CHECK(place("long") < place("short"));
  CHECK(place("x") == 0);
}

TEST_CASE("a plan tells the time of threads, and brief items save none") {
  own_graph f;
  auto x = constant(tensor<float>({2}), "x");
  auto a = tanh(x);
  auto b = exp(x);
  prepared step(f.g, {{}, {}, {id_of(a), id_of(b)}});
  REQUIRE(step.made->items.size() == 3);
  CHECK(step.plan(1e-3)->time_on(1) == Approx(3e-3));
  CHECK(step.plan(1e-3)->time_on(2) == Approx(2e-3));
  CHECK(step.plan(1e-7)->time_on(2) == Approx(3e-7));
}

// A graph whose items hang together at random; its results are exact.
std::vector<expr<float>> tangle(int n, const expr<float>& x) {
  std::mt19937 bits(7);
  std::vector<expr<float>> all{x};
  for (int i = 0; i < n; ++i) {
    const expr<float>&a = all[bits() % all.size()],
          &b = all[all.size() - 1 - bits() % std::min<std::size_t>(all.size(), 9)];
    if (bits() % 2 == 0)
      all.push_back(maximum(a, b));
    else
      all.push_back(minimum(a, b) - 1.0f);
  }
  return all;
}

TEST_CASE("a run in lanes yields what a run in order yields, whether items are brief or not") {
  own_graph f;
  const auto all = tangle(500, constant(tensor<float>::of({3, 1, 4, 1, 5}), "x"));
  prepared step(f.g, {{}, {end_of(all[500]), end_of(all[499]), end_of(all[250])}, {id_of(all[400])}});
  lanes_of once(step, 0);
  runtime::in_order_run(*step.made, once.memory, step.services, once.state).run();
  const std::vector<any_tensor> wanted = once.fetches;
  for (const double seconds : {0.0, 1.0})
    for (int round = 0; round < 20; ++round) {
      lanes_of run(step, seconds);
      run.run();
      CHECK_FALSE(run.state.failed());
      CHECK(run.fetches == wanted);
      CHECK(std::all_of(run.memory.slots.begin(), run.memory.slots.end(), [](const auto& s) { return s.empty(); }));
      CHECK(run.lanes.left == 0);
    }
}

TEST_CASE("a run in lanes that fails names the node, ends, and leaves its memory ready for another") {
  own_graph f;
  auto x = placeholder<float>({2}, "x");  // not fed
  const auto all = tangle(60, x);
  prepared step(f.g, {{}, {end_of(all.back())}, {}});
  lanes_of run(step, 1.0);
  run.run();
  REQUIRE(run.state.failed());
  CHECK(run.state.failure()->node() == "x");
  CHECK(run.lanes.left == 0);
  CHECK_FALSE(run.lanes.board.any());
}

TEST_CASE("a run in lanes past its deadline starts no kernel") {
  own_graph f;
  const auto all = tangle(60, constant(tensor<float>({2}), "x"));
  prepared step(f.g, {{}, {end_of(all.back())}, {}});
  lanes_of run(step, 1.0);
  run.state.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  run.run();
  CHECK(run.state.failure()->code() == errc::deadline_exceeded);
  CHECK(run.fetches[0].empty());
}

// ---- in a session

// The weights after some steps of training, and what each step read of them beside its update.
std::vector<tensor<float>> trained(const session_options& options) {
  own_graph f;
  auto x = placeholder<float>({unknown, 64}, "x");
  std::vector<expr<float>> read;
  std::vector<operation> updates;
  expr<float> h = x;
  for (int i = 0; i < 4; ++i) {
    auto w = variable(truncated_normal<float>({64, 64}, {.seed = i + 1}), {.name = "w"});
    h = tanh(matmul(h, w));
    read.push_back(reduce_sum(w));
    updates.push_back(assign_sub(w, matmul(h, h, {.transpose_a = true}) * 1e-3f));
  }
  session sess(options);
  sess.run(global_variables_initializer());
  auto step = sess.make_callable(feeds(x), fetches(h, read[0], read[3]),
                                 targets(group({updates[0], updates[1], updates[2], updates[3]})));
  tensor<float> batch({96, 64});
  for (std::int64_t i = 0; i < batch.size(); ++i) batch.data()[i] = static_cast<float>(i % 23) / 23;
  std::vector<tensor<float>> all;
  for (int i = 0; i < 12; ++i) {
    auto [out, first, last] = step(batch);
    for (tensor<float> t : {tensor<float>(out), tensor<float>(first), tensor<float>(last)}) all.push_back(t);
  }
  return all;
}

TEST_CASE("training yields the same bits on any number of threads") {
  const auto one = trained({.inter_op_threads = 1, .intra_op_threads = 1});
  CHECK(trained({.inter_op_threads = 3, .intra_op_threads = 1}) == one);
  CHECK(trained({.inter_op_threads = 2, .intra_op_threads = 2}) == one);
  CHECK(trained({.inter_op_threads = 1, .intra_op_threads = 3}) == one);
}

}  // namespace
