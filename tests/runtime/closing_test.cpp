// What a session tells in the log while it waits: when it is closed and a kernel runs that nobody can cancel, and when
// a step takes long.
#include <pinion/base/said_wait.hpp>
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <future>
#include <string>
#include <thread>

#include <support/own_session.hpp>
#include <support/told_lines.hpp>

namespace {

namespace pn = pinion;

std::promise<void> began, may_end;

// Ends when it is allowed to, cancelled or not.
struct deaf {
  static constexpr std::string_view name = "TestDeaf";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient = "it is only for tests";
  static void infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void cpu(pn::kernel_context& c) {
    began.set_value();
    may_end.get_future().wait();
    c.outputs[0] = c.input(0);
  }
};

TEST_CASE("a session that is closed says which step keeps it waiting") {
  own_session here;
  pn::session& sess = here.sess;
  const pn::expr<float> y = pn::call<deaf>(pn::constant(1.f));
  std::thread runs(
      [&] { CHECK_THROWS_WITH(sess.run(y), Catch::Contains("the session was closed while the step ran")); });
  began.get_future().wait();
  pn::of_this_process<pn::detail::said_waits>().interval = std::chrono::milliseconds(1);
  const told_lines told;
  std::thread closes([&] { sess.close(); });
  const std::string line = told.next();
  pn::of_this_process<pn::detail::said_waits>().interval = std::chrono::seconds(10);
  may_end.set_value();
  closes.join();
  runs.join();
  CHECK(line ==
        "pinion: a session that is closed waits for the step of 'TestDeaf', in which a kernel runs on though it was "
        "cancelled");
}

// The first line that is told while `run` goes on in another thread; `end` lets it end.
template <class Run, class End>
std::string line_told_during(Run run, End end) {
  const told_lines told;
  pn::of_this_process<pn::detail::said_waits>().interval = std::chrono::milliseconds(1);
  std::thread runs(run);
  const std::string line = told.next();
  pn::of_this_process<pn::detail::said_waits>().interval = std::chrono::seconds(10);
  end();
  runs.join();
  return line;
}

TEST_CASE("a loop that runs for long says for how long, and after how many iterations it goes on") {
  own_session here;
  const pn::fifo_queue<int> stops({.capacity = 1, .shapes = {{}}, .name = "stops"});
  const auto count = pn::while_loop(
      {.name = "forever"}, [&](auto) { return stops.size() < 1; }, [](auto n) { return n + 1.f; }, pn::constant(0.f));
  const pn::operation stop = stops.enqueue(1);
  here.sess.run(stops.size());
  float counted = 0;
  const std::string line =
      line_told_during([&] { counted = float(here.sess.run(count)); }, [&] { here.sess.run(stop); });
  CHECK(counted > 0);
  CHECK_THAT(line, Catch::Matches("pinion: '[a-z/]*forever[a-zA-Z_/]*' \\(While\\) has run for [0-9.]+ s, and goes on "
                                  "after [0-9]+ iterations"));
}

TEST_CASE("a step that waits for long says for how long it has run, and in which nodes it is") {
  own_session here;
  const pn::fifo_queue<int> q({.capacity = 1, .shapes = {{}}, .name = "jobs"});
  const pn::expr<int> job = q.dequeue();
  const pn::operation put = q.enqueue(7);
  here.sess.run(q.size());
  int done = 0;
  const std::string line = line_told_during([&] { done = int(here.sess.run(job)); }, [&] { here.sess.run(put); });
  CHECK(done == 7);
  CHECK_THAT(line, Catch::Matches("pinion: step [0-9]+ of a session has run for [0-9.]+ s, and is in '[a-zA-Z_/]+' "
                                  "\\(QueueDequeueV2\\)"));
}

}  // namespace
