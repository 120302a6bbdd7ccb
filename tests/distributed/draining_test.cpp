// Tasks that are asked to stop: they begin nothing more, and let end what has begun, for a while.
#include <distributed/liar.hpp>
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/countdown.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include <support/caught.hpp>
#include <support/told_lines.hpp>

namespace {

using namespace real;

const std::string the_ps = name_of("ps", 0);

// A step whose part on the ps waits for a value that a queue of worker 1 gives, and what it takes to let it end. The
// session is at worker 0.
struct held_step {
  fresh f;
  fifo_queue<int> queue = [] {
    const device on{"/job:worker/task:1"};
    return fifo_queue<int>{{.capacity = 1, .shapes = {{}}}};
  }();
  operation put = queue.enqueue(7);
  variable_handle<int> begun = place<"/job:worker/task:1">(variable(0, {.name = "begun"}));
  variable_handle<int> kept = place<"/job:ps/task:0">(variable(5, {.name = "kept"}));
  expr<int> step = [this] {
    expr<int> taken;
    {
      const device on{"/job:worker/task:1"};
      const control_dependencies after{operation(assign_add(begun, 1))};
      taken = queue.dequeue();
    }
    const device on{"/job:ps/task:0"};
    return expr<int>(assign_add(kept, taken));
  }();
  session sess, others;
  int result = 0;
  error failed{errc::internal, "nothing was thrown"};
  std::thread runner;

  explicit held_step(const std::string& target) : sess(toward(target)), others(toward(target)) {
    sess.run(begun.initializer(), kept.initializer());
    CHECK(int(others.run(kept)) == 5);
    runner = std::thread([this] { failed = caught([this] { result = sess.run(step); }); });
    CHECK(soon([this] { return int(others.run(begun)) == 1; }));
  }
  ~held_step() {
    if (runner.joinable()) end();
  }
  void end() {
    caught([this] { others.run(put); });
    runner.join();
  }
  // Does the ps refuse to begin something?
  bool is_refused() {
    const auto e = caught([this] { others.run(kept); });
    return e.code() == errc::unavailable && e.task() == the_ps &&
           e.sentence() == the_ps + " is stopping, and begins nothing more";
  }
};

TEST_CASE("a task that drains refuses new steps as stopping, and lets those end that have begun") {
  local_cluster local({{"ps", 1}, {"worker", 2}});
  held_step held(local.target("worker", 0));
  CHECK(local.server("ps", 0).report().state == "running");
  std::thread drainer([&] { local.server("ps", 0).drain(); });
  CHECK(soon([&] { return held.is_refused(); }));
  CHECK(local.server("ps", 0).report().state == "stopping");
  CHECK(int(held.others.run(held.begun)) == 1);  // steps without it go on
  held.end();
  drainer.join();
  CHECK(held.failed.sentence() == "nothing was thrown");
  CHECK(held.result == 12);
  const auto e = caught([&] { held.others.run(held.kept); });
  CHECK(e.code() == errc::unavailable);
  CHECK(e.task() == the_ps);
}

TEST_CASE("the target of a session drains, too: its client gets the result of the step that has begun, and no other") {
  const bool far = GENERATE(false, true);
  const auto spec = free_addresses({{"ps", 1}, {"worker", 2}});
  std::optional<server> here;
  std::optional<task_process> there;
  far ? void(there.emplace(spec, "worker", 0)) : void(here.emplace(spec, server_options{.job = "worker"}));
  const server ps(spec, {.job = "ps"}), other(spec, {.job = "worker", .task = 1});
  held_step held("pinion://" + spec.address("worker", 0));
  std::thread drainer;
  far ? there->signal(SIGTERM) : void(drainer = std::thread([&] { here->drain(); }));
  CHECK(soon([&] {
    return caught([&] { held.others.run(held.begun); }).sentence() ==
           name_of("worker", 0) + " is stopping, and begins nothing more";
  }));
  session elsewhere{toward(other.target())};
  elsewhere.run(held.put);
  held.runner.join();
  if (drainer.joinable()) drainer.join();
  CHECK(held.failed.sentence() == "nothing was thrown");
  CHECK(held.result == 12);
  if (far) CHECK(there->result() == 0);
}

TEST_CASE("a step that does not end within the grace fails with the name of the task, which was stopped") {
  local_cluster local({{"ps", 1}, {"worker", 2}}, {.grace = 100ms});
  held_step held(local.target("worker", 0));
  local.server("ps", 0).drain();
  held.runner.join();
  CHECK(held.failed.code() == errc::unavailable);
  CHECK(held.failed.task() == the_ps);
  CHECK(held.failed.sentence() == the_ps + " was stopped");
}

TEST_CASE("a process that is asked to stop by SIGTERM drains, and ends with 0") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 2}});
  task_process ps(spec, "ps", 0);
  const server worker(spec, {.job = "worker"}), other(spec, {.job = "worker", .task = 1});
  held_step held(worker.target());
  ps.signal(SIGTERM);
  CHECK(soon([&] { return held.is_refused(); }));
  CHECK_FALSE(ps.ended());
  held.end();
  CHECK(held.result == 12);
  CHECK(ps.result() == 0);
}

TEST_CASE("a second signal ends a task that drains at once") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 2}});
  task_process ps(spec, "ps", 0, {.grace = 60s});
  const server worker(spec, {.job = "worker"}), other(spec, {.job = "worker", .task = 1});
  held_step held(worker.target());
  ps.signal(SIGTERM);
  CHECK(soon([&] { return held.is_refused(); }));
  CHECK(soon([&] {  // half a second later
    ps.signal(SIGTERM);
    return ps.ended();
  }));
  CHECK(ps.result() == -SIGTERM);
  held.runner.join();
  CHECK(held.failed.code() == errc::unavailable);
  CHECK(held.failed.task() == the_ps);
}

TEST_CASE("a shutdown of a cluster drains all of its tasks at once") {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 2}});
  task_process ps(spec, "ps", 0), worker(spec, "worker", 0), other(spec, "worker", 1);
  held_step held(worker.target());
  outcome<> asked;
  std::thread stopper([&] { asked = outcome_of([&] { shutdown(spec); }); });
  CHECK(soon([&] {  // by the ps, or by the master
    return caught([&] { held.others.run(held.kept); }).sentence().ends_with(" is stopping, and begins nothing more");
  }));
  held.sess.cancel_steps(error(errc::cancelled, "that is enough"));
  stopper.join();
  if (!asked) FAIL_CHECK(asked.failure()->what());
  held.runner.join();
  CHECK(held.failed.code() == errc::cancelled);
  for (task_process* const each : {&ps, &worker, &other}) CHECK(each->result() == 0);
}

TEST_CASE("a task whose network's thread is held up stops all the same, and its log says what holds it up") {
  const auto net = rpc::tcp_network_of_this_process();
  const auto spec = free_addresses({{"ps", 1}});
  std::optional<server> held(std::in_place, spec, server_options{.job = "ps", .config = {.grace = 1ms}});
  const auto begun = std::make_shared<countdown>(), let_go = std::make_shared<countdown>();
  net->post([=] {
    begun->count_down();
    let_go->wait();
  });
  begun->wait();
  std::string told;
  {
    const told_lines lines;
    held->drain();
    held.reset();
    told = lines.all();
  }
  let_go->count_down();
  rpc::settle(*net);
  CHECK_THAT(told, Catch::Contains("was asked to stop, and what holds up the network's thread has not ended"));
  CHECK_THAT(told, Catch::Contains("was stopped, but what holds up the network's thread has not ended"));
}

// Clients each of which has asked for more whenever it was answered, until it is told that the task has gone.
class askers {
 public:
  template <class Reply, class Request>
  void ask_on(const std::string& target, int clients, int at_once, const Request& request) {
    for (int i = 0; i < clients; ++i) {
      const auto one = std::make_shared<liar>(target);
      all_.push_back(one);
      for (int n = 0; n < at_once; ++n) again<Reply>(*one, request);
    }
  }
  void wait_for_answers(int n) const {
    CHECK(soon([&] { return answers_ >= n; }));
  }
  // What those were told whose request was the last.
  std::set<std::string> last_words() const {
    CHECK(soon([this] { return under_way_ == 0; }));
    const std::lock_guard hold(mutex_);
    return last_words_;
  }

 private:
  template <class Reply, class Request>
  void again(liar& by, const Request& request) {
    ++under_way_;
    by.order<Reply>(request, [this, &by, request](const outcome<Reply>& reply) {
      ++answers_;
      const errc how = reply ? errc::unknown : reply.failure()->code();
      if (how != errc::unavailable && how != errc::cancelled) {
        again<Reply>(by, request);
      } else {
        const std::lock_guard hold(mutex_);
        last_words_.insert(reply.failure()->sentence());
      }
      --under_way_;
    });
  }

  mutable std::mutex mutex_;
  std::set<std::string> last_words_;
  std::atomic<int> answers_{0}, under_way_{0};
  std::vector<std::shared_ptr<liar>> all_;  // gone first
};

TEST_CASE("clients that ask on and on hold up no stop, and are told of it") {
  local_cluster local({{"worker", 1}}, {.stop_timeout = 3s});
  askers asking;
  const std::string target = local.target("worker", 0);
  SECTION("reports") {
    asking.ask_on<distributed::report_reply>(target, 10, 20, distributed::report_request{});
  }
  SECTION("devices") {
    asking.ask_on<distributed::list_reply>(target, 10, 20, distributed::list_request{});
  }
  SECTION("steps") {
    asking.ask_on<distributed::prepared_reply>(target, 10, 20, distributed::prepare_step{});
  }
  SECTION("parts of steps") {
    asking.ask_on<nothing>(target, 10, 20, distributed::register_known{});
  }
  asking.wait_for_answers(400);
  const told_lines lines;
  local.server("worker", 0).stop();
  CHECK_THAT(lines.all(), !Catch::Contains("has not ended"));
  const std::string task = name_of("worker", 0);
  for (const std::string& last : asking.last_words())
    CHECK((last == task + " was stopped" || last == task + " is stopping, and begins nothing more"));
}

}  // namespace
