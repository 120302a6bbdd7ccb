// What a session of a cluster says when it cannot: the culprit is named as in one process, and its task with it.
#include <distributed/real_cluster.hpp>

#include <pinion/base/said_wait.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/tensor_text.hpp>
#include <support/told_lines.hpp>

namespace {

using namespace real;

two_and_two& any_cluster() {
  return two_and_two::of(GENERATE(tasks_in::same_process, tasks_in::own_processes));
}

// "invalid_argument x errors_test.cpp:12 /job:ps/replica:0/task:0"
std::string culprit(const error& e) {
  return std::string(to_string(e.code())) + " " + e.node() + " " + line_of(e) + " " + e.task();
}

TEST_CASE("a variable of another task that was not initialised fails the step, with that task and its device") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:1"};
  auto v = variable(1.f, {.name = "v"});
  const int line = __LINE__ - 1;
  session sess{toward(cluster.target("worker", 0))};
  const auto e = caught([&] { sess.run(v); });
  CHECK(culprit(e) == "failed_precondition v/read " + here(line) + " " + name_of("ps", 1));
  CHECK_THAT(e.sentence(), Catch::StartsWith("variable 'v' is used before it was initialised"));
  CHECK(e.device() == cpu_of("ps", 1));
}

TEST_CASE("a kernel that fails on another task fails the step, with the node, that task and its device") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>(shape::any(), "x");
  const device on{"/job:worker/task:1"};
  auto y = matmul(x, x, {.name = "y"});
  const int line = __LINE__ - 1;
  session sess{toward(cluster.target("worker", 0))};
  const auto e = caught([&] { sess.run({{x, tensor<float>({2, 3})}}, y); });
  CHECK(culprit(e) == "invalid_argument y " + here(line) + " " + name_of("worker", 1));
  CHECK(e.device() == cpu_of("worker", 1));
  CHECK(sess.run({{x, tensor<float>({2, 2})}}, y) == tensor<float>({2, 2}));
}

TEST_CASE("a placeholder of another task that was not fed fails the step, with its line and that task") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:0"};
  auto x = placeholder<float>({2}, "x");
  const int line = __LINE__ - 1;
  session sess{toward(cluster.target("worker", 0))};
  CHECK(culprit(caught([&] { sess.run(identity(x)); })) == "invalid_argument x " + here(line) + " " + name_of("ps", 0));
}

TEST_CASE("the first cause is reported, though other tasks wait for the failed one") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = place<"/job:ps/task:0">(identity(placeholder<float>({1, 1}, "x")));
  expr<float> y = x;
  for (int i = 0; i < 6; ++i) {
    const device on{i % 2 ? "/job:worker/task:1" : "/job:ps/task:1"};
    y = matmul(y, x);
  }
  session sess{toward(cluster.target("worker", 0))};
  for (int i = 0; i < 20; ++i) {
    const auto e = caught([&] { sess.run(y); });
    REQUIRE(e.code() == errc::invalid_argument);
    REQUIRE(e.node() == "x");
  }
}

TEST_CASE("failing steps do not disturb those beside them") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>({unknown, 2}, "x");
  expr<float> good = place<"/job:ps/task:0">(matmul(x, constant<float>({{1, 0}, {0, 1}})));
  auto unfed = place<"/job:ps/task:1">(placeholder<float>({2, 2}, "unfed"));
  expr<float> bad = place<"/job:worker/task:1">(matmul(good, unfed));
  session sess{toward(cluster.target("worker", 0))};
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < 25; ++i) {
      const auto e = caught([&] { sess.run({{x, tensor<float>({1, 2})}}, t < 2 ? bad : good); });
      wrong += (e.code() == errc::invalid_argument) != (t < 2);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a feed of another shape than that of a placeholder of another task is refused with both shapes") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = place<"/job:ps/task:0">(placeholder<float>({2}, "x"));
  session sess{toward(cluster.target("worker", 0))};
  CHECK(failure([&] {
          sess.run({{x, tensor<float>({3})}}, identity(x));
        }) == "invalid_argument: a value of shape [3] was fed to 'x', whose shape is [2]");
}

TEST_CASE("a closed session refuses everything, and may be closed again") {
  auto& cluster = any_cluster();
  fresh f;
  auto x = placeholder<float>({}, "x");
  session sess{toward(cluster.target("worker", 0))};
  auto step = sess.make_callable(feeds(x), fetches(x));
  sess.close();
  sess.close();
  const std::string refused = "failed_precondition: the session is closed";
  CHECK(failure([&] { sess.run({{x, 1.f}}, x); }) == refused);
  CHECK(failure([&] { step(tensor<float>(1.f)); }) == refused);
  CHECK(failure([&] { sess.plan(x); }) == refused);
  CHECK(failure([&] { sess.make_callable(feeds(x), fetches(x)); }) == refused);
  CHECK(failure([&] { sess.list_devices(); }) == refused);
}

TEST_CASE("a session closed before its first call refuses it") {
  auto& cluster = any_cluster();
  fresh f;
  auto c = constant(1);
  session sess{toward(cluster.target("worker", 0))};
  sess.close();
  CHECK(failure([&] { sess.run(c); }) == "failed_precondition: the session is closed");
}

// A step that has begun, by what it did first, and works on at another task.
struct long_step {
  explicit long_step(two_and_two& on)
      : cluster(on), sess(toward(on.target("worker", 0))), watcher(toward(on.target("ps", 1))) {
    sess.run(begun.initializer());
  }
  bool has_begun() {
    return soon([&] { return int(watcher.run(begun)) == 1; });
  }

  two_and_two& cluster;
  fresh f;
  variable_handle<int> begun = place<"/job:ps/task:0">(variable(0, {.name = "begun"}));
  operation work = group(assign_add(begun, 1), long_work("/job:worker/task:1"));
  session sess, watcher;
};

TEST_CASE("closing a session cancels the step that runs on other tasks") {
  long_step step(any_cluster());
  errc code{};
  std::thread runner([&] { code = caught([&] { step.sess.run(step.work); }).code(); });
  CHECK(step.has_begun());
  const stopwatch since;
  step.sess.close();
  runner.join();
  CHECK(code == errc::cancelled);
  CHECK(since.passed() < 5s);
}

TEST_CASE(
    "a step that takes longer than the operation_timeout ends with deadline_exceeded, and names whom it waits for") {
  auto& cluster = any_cluster();
  fresh f;
  auto work = operation(long_work("/job:ps/task:1"));
  auto c = place<"/job:ps/task:1">(constant(1));
  auto options = toward(cluster.target("worker", 0));
  options.operation_timeout = 1500ms;
  session sess{options};
  sess.run(c);
  const stopwatch since;
  const auto e = caught([&] { sess.run(work); });
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK_THAT(e.what(), Catch::Contains(name_of("ps", 1)));
  CHECK(since.passed() < 6s);
  CHECK(int(sess.run(c)) == 1);
}

TEST_CASE(
    "R5: a task that answers, but whose part of a step does not end, is told from a dead one, with what it does") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:ps/task:1"};
  fifo_queue<int> queue{{.capacity = 1, .shapes = {{}}, .name = "empty"}};
  const auto takes = operation(queue.dequeue());
  auto options = toward(cluster.target("worker", 0));
  session sess{options};
  sess.run(queue.size());
  options.operation_timeout = 1500ms;
  session hasty{options};
  const auto e = caught([&] { hasty.run(takes); });
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK(e.task() == name_of("ps", 1));
  CHECK_THAT(e.sentence(), Catch::Contains(name_of("ps", 1) + " has not ended its part (running, last heard ") &&
                               Catch::Contains("): it answers, and 1.") &&
                               Catch::Contains(" s after the beginning it was in '") &&
                               Catch::Contains("dequeue' (Queue"));
}

TEST_CASE("R9: a step without a limit says for whom it waits, whether that task answers, and where it is") {
  auto& cluster = two_and_two::of(tasks_in::same_process);  // whose log this test reads
  fresh f;
  const device on{"/job:ps/task:1"};
  fifo_queue<int> queue{{.capacity = 1, .shapes = {{}}, .name = "long_empty"}};
  const auto takes = operation(queue.dequeue());
  session sess{toward(cluster.target("worker", 0))};
  auto& interval = of_this_process<detail::said_waits>().interval;
  interval = 1600ms;  // it asks the others a second and a half before it speaks
  const told_lines told;
  std::thread runner([&] { CHECK(caught([&] { sess.run(takes); }).code() == errc::cancelled); });
  std::string line;
  while (line.find("has run a step for ") == std::string::npos) line = told.next();
  interval = 10s;
  sess.close();
  runner.join();
  CHECK_THAT(
      line,
      Catch::StartsWith("pinion: " + name_of("worker", 0) + " has run a step for ") &&
          Catch::Contains(" s, and waits: " + name_of("ps", 1) + " has not ended its part (running, last heard ") &&
          Catch::Contains("): it answers, and ") && Catch::Contains(" s after the beginning it was in 'long_empty"));
}

TEST_CASE("R9: of many long runs of a client a few are told, and the report has the number of the others") {
  fresh f;
  local_cluster cluster({{"worker", 1}});
  fifo_queue<int> queue{{.capacity = 1, .shapes = {{}}, .name = "many_wait"}};
  const auto takes = operation(queue.dequeue());
  constexpr std::size_t sessions = 40;
  std::vector<std::unique_ptr<session>> all;
  for (std::size_t i = 0; i < sessions; ++i)
    all.push_back(std::make_unique<session>(toward(cluster.target("worker", 0))));
  auto& interval = of_this_process<detail::said_waits>().interval;
  interval = 100ms;
  const told_lines told;
  {
    std::vector<std::jthread> runs;
    for (const auto& one : all)
      runs.emplace_back([&] { CHECK(caught([&] { one->run(takes); }).code() == errc::cancelled); });
    while (inspect(cluster.target("worker", 0)).backlog.lines_untold < sessions) std::this_thread::yield();
    for (const auto& one : all) one->close();
  }
  interval = 10s;
  const std::string text = told.all();
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find("has run a step for ", at)) != text.npos; ++at) ++lines;
  CHECK(lines <= 10);
}

TEST_CASE("R9: a step whose own part does not end says in which nodes that is") {
  auto& cluster = any_cluster();
  fresh f;
  const device on{"/job:worker/task:0"};
  fifo_queue<int> queue{{.capacity = 1, .shapes = {{}}, .name = "own_empty"}};
  auto options = toward(cluster.target("worker", 0));
  options.operation_timeout = 100ms;
  session sess{options};
  const auto e = caught([&] { sess.run(operation(queue.dequeue())); });
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK_THAT(e.sentence(), Catch::Contains(": its own part is in 'own_empty"));
}

// ---- whom a session waits for

TEST_CASE("the first call to a target where nobody listens waits until the startup_timeout, and names it") {
  fresh f;
  const auto spec = free_addresses({{"worker", 1}});
  session sess{{.target = "pinion://" + spec.address("worker", 0), .startup_timeout = 300ms}};
  const stopwatch since;
  const auto e = caught([&] { sess.run(constant(1)); });
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK_THAT(e.what(), Catch::Contains("for the task at " + spec.address("worker", 0) + ": cannot connect") &&
                           Catch::Contains("Connection refused; that is the session's startup_timeout"));
  CHECK((since.passed() >= 300ms && since.passed() < 3s));
}

TEST_CASE("the first call that needs a task that is not there waits until the startup_timeout, and names it") {
  auto spec = free_addresses({{"ps", 2}});
  spec.add_task("worker", 0, "127.0.0.1:0");
  const server worker(spec, {.job = "worker"});
  fresh f;
  auto x = place<"/job:ps/task:1">(constant(1));
  session sess{{.target = worker.target(), .startup_timeout = 300ms}};
  const stopwatch since;
  const auto e = caught([&] { sess.run(x); });
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK_THAT(e.what(),
             Catch::Contains(name_of("ps", 1) + " at " + spec.address("ps", 1) + " (joining: cannot connect"));
  CHECK((since.passed() >= 300ms && since.passed() < 3s));
}

TEST_CASE("a session without a startup_timeout waits for its target until its operation_timeout") {
  fresh f;
  const auto spec = free_addresses({{"worker", 1}});
  session sess{{.target = "pinion://" + spec.address("worker", 0), .operation_timeout = 300ms}};
  const auto e = caught([&] { sess.run(constant(1)); });
  CHECK(e.code() == errc::deadline_exceeded);
  CHECK_THAT(e.what(),
             Catch::Contains("for the task at " + spec.address("worker", 0)) && Catch::Contains("operation_timeout"));
}

TEST_CASE("tasks that a step does not need may be missing") {
  auto spec = free_addresses({{"ps", 2}});
  spec.add_task("worker", 0, "127.0.0.1:0");
  const server worker(spec, {.job = "worker"});
  fresh f;
  CHECK(int(session(toward(worker.target())).run(constant(1))) == 1);
}

TEST_CASE("a bad target is refused at once") {
  fresh f;
  auto c = constant(1);
  CHECK(caught([&] { session({.target = "127.0.0.1:2222"}).run(c); }).code() == errc::invalid_argument);
  CHECK(caught([&] { session({.target = "pinion://nowhere"}).run(c); }).code() == errc::invalid_argument);
  CHECK(caught([&] { session({.target = "pinion://127.0.0.1:99999"}).run(c); }).code() == errc::invalid_argument);
  CHECK(caught([&] { session({.target = "pinion://127.0.0.1:http"}).run(c); }).code() == errc::invalid_argument);
  CHECK(caught([&] { shutdown("127.0.0.1:2222"); }).code() == errc::invalid_argument);
  CHECK(caught([&] { shutdown("pinion://127.0.0.1:99999"); }).code() == errc::invalid_argument);
}

}  // namespace
