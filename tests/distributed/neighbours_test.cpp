// One client is slow, or stuck: others, and its own other threads, go on, and what is stopped stops.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <atomic>

#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/server/task_server.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/passing_op.hpp>

namespace {

using namespace real;

// Something that a test holds up: who comes by says so, and waits until it is opened.
class gate {
 public:
  void pass() {
    here_.count_down();
    open_.wait();
  }
  bool has_come() { return here_.wait(std::chrono::steady_clock::now() + 20s); }
  void open() { open_.count_down(); }

 private:
  countdown here_, open_;
};
// The ops below come by it; the test that runs sets it.
std::shared_ptr<gate> barrier;

// One whose kernel takes its time to be made.
struct slow_to_make : passing_op {
  static constexpr std::string_view name = "SlowToMake";
  static std::unique_ptr<kernel> make_kernel(const kernel_setup&) {
    std::shared_ptr<gate>(barrier)->pass();
    return make_function_kernel(pass_on);
  }
};
// One that counts its kernels.
struct counted_to_make : passing_op {
  static constexpr std::string_view name = "CountedToMake";
  static inline std::atomic<int> made{0};
  static std::unique_ptr<kernel> make_kernel(const kernel_setup&) {
    ++made;
    return make_function_kernel(pass_on);
  }
};
// One whose kernel does not return.
struct stuck : passing_op {
  static constexpr std::string_view name = "Stuck";
  static void cpu(kernel_context& c) {
    std::shared_ptr<gate>(barrier)->pass();
    pass_on(c);
  }
};

// A call in a thread of its own.
class beside {
 public:
  explicit beside(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          why_ = caught(call);
          ended_.count_down();
        }) {}
  ~beside() { thread_.join(); }
  bool has_ended() const { return ended_.done(); }
  errc ends_with() {
    return ended_.wait(std::chrono::steady_clock::now() + 20s) ? why_.code() : errc::deadline_exceeded;
  }

 private:
  countdown ended_;
  error why_{errc::unknown, ""};
  std::thread thread_;
};

constexpr errc nothing_thrown = errc::internal;  // what caught() says of a call that ends well

// ---- making steps

TEST_CASE("while a step is compiled on a task, steps of others are made and run there, and of its own session run") {
  barrier = std::make_shared<gate>();
  local_cluster local({{"ps", 1}, {"worker", 1}}, {.inter_op_threads = 1});
  fresh f;
  const device on{GENERATE("/job:ps/task:0", "/job:worker/task:0")};
  auto known = constant(3.f);
  auto x = placeholder<float>({}, "x");
  auto slow = call<slow_to_make>(x);
  session sess{toward(local.target("worker", 0))}, other{toward(local.target("ps", 0))};
  sess.run(known);
  beside maker([&] { sess.run({{x, 1.f}}, slow); });
  CHECK(barrier->has_come());
  CHECK(float(sess.run(known)) == 3);
  CHECK(float(other.run(known)) == 3);
  CHECK_FALSE(maker.has_ended());
  barrier->open();
  CHECK(maker.ends_with() == nothing_thrown);
}

TEST_CASE("F4: a step that is compiled for a session that ends is not compiled further") {
  barrier = std::make_shared<gate>();
  counted_to_make::made = 0;
  local_cluster local({{"worker", 1}}, {.inter_op_threads = 1});
  fresh f;
  auto x = placeholder<float>({}, "x");
  auto y = call<counted_to_make>(call<slow_to_make>(x));
  session sess{toward(local.target("worker", 0))};
  beside maker([&] { sess.run({{x, 1.f}}, y); });
  CHECK(barrier->has_come());
  sess.close();
  barrier->open();
  CHECK(maker.ends_with() == errc::cancelled);
  local.stop();
  CHECK(counted_to_make::made == 0);
}

// A task that takes connections, and says nothing.
struct mute {
  std::shared_ptr<rpc::network> net = rpc::tcp_network_of_this_process();
  std::shared_ptr<rpc::listener> listening = net->listen("127.0.0.1:0");
  std::shared_ptr<countdown> visited = std::make_shared<countdown>();

  mute() { net->spawn(take(listening, visited)); }
  ~mute() {
    net->post([listening = listening] { listening->close(); });
    rpc::settle(*net);
  }
  static rpc::awaitable<void> take(std::shared_ptr<rpc::listener> listening, std::shared_ptr<countdown> visited) {
    const auto stream = co_await listening->accept();
    visited->count_down();
    try {
      co_await listening->accept();  // until it is closed
    } catch (const error&) {
    }
  }
};

TEST_CASE("while a step waits for a task that does not answer, other steps of its session are made and run") {
  const mute ps;
  cluster_spec spec{{"ps", {ps.listening->address()}}, {"worker", {"127.0.0.1:0"}}};
  const server worker(spec, {.job = "worker"});
  fresh f;
  auto here = constant(1.f), also_here = constant(2.f);
  auto there = place<"/job:ps/task:0">(constant(3.f));
  session sess{toward(worker.target())};
  sess.run(here);
  beside waiter([&] { sess.run(there); });
  CHECK(ps.visited->wait(std::chrono::steady_clock::now() + 20s));
  CHECK(float(sess.run(here)) == 1);
  CHECK(float(sess.run(also_here)) == 2);
  CHECK_FALSE(waiter.has_ended());
  sess.close();
  CHECK(waiter.ends_with() == errc::cancelled);
  CHECK(caught([&] { sess.run(there); }).code() == errc::failed_precondition);
}

TEST_CASE(
    "a request that follows the end of its session on the wire is cancelled, though its master knows it no more") {
  local_cluster local{{{"worker", 1}}};
  distributed::wire_port sess(rpc::tcp_network_of_this_process(), local.spec().address("worker", 0), {}, {}, {}, [] {});
  CHECK(sess.devices({}).size() == 1);
  sess.close();
  CHECK(caught([&] { sess.devices({}); }).code() == errc::cancelled);
}

// ---- stopping

TEST_CASE("a server with a kernel that does not return stops in its time, and leaves it to itself") {
  barrier = std::make_shared<gate>();
  auto local = std::make_unique<local_cluster>(std::initializer_list<local_cluster::job>{{"ps", 1}, {"worker", 1}},
                                               server_config{.stop_timeout = 200ms});
  fresh f;
  auto x = placeholder<float>({}, "x");
  auto y = place<"/job:ps/task:0">(call<stuck>(x));
  session sess{toward(local->target(GENERATE("ps", "worker"), 0))};
  beside runner([&] { sess.run({{x, 1.f}}, y); });
  CHECK(barrier->has_come());
  const stopwatch since;
  local.reset();
  CHECK(since.passed() < 15s);
  barrier->open();
  CHECK(runner.ends_with() == errc::unavailable);
}

TEST_CASE("a session with a kernel that does not return is closed in its time") {
  barrier = std::make_shared<gate>();
  local_cluster local{{{"worker", 1}}};
  fresh f;
  auto x = placeholder<float>({}, "x");
  auto y = call<stuck>(x);
  session_options options{.target = local.target("worker", 0)};
  distributed::remote_session sess(options, f.g, rpc::tcp_network_of_this_process(), 200ms);
  const auto step = sess.prepare({{end_of(x)}, {end_of(y)}, {}});
  any_tensor fed = tensor<float>(1.f).untyped(), result;
  beside runner([&] { sess.run(*step, {&fed, 1}, {&result, 1}, nullptr); });
  CHECK(barrier->has_come());
  const stopwatch since;
  sess.close({});
  CHECK(since.passed() < 15s);
  barrier->open();
  CHECK(runner.ends_with() == errc::cancelled);
}

}  // namespace
