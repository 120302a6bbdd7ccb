// Children of fork(): what they inherit stays their parent's, and what they make is theirs.
#if !defined(__SANITIZE_THREAD__)  // which starts no threads in a process forked off one with threads
#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>

#include <pinion/distributed/status/inspect.hpp>
#include <pinion/distributed/status/metrics_server.hpp>
#include <pinion/runtime/partial_run.hpp>

#include <distributed/real_cluster.hpp>
#include <support/caught.hpp>
#include <support/in_child.hpp>

namespace {

using namespace real;

const char* const before_fork = " was made before fork()";

// A session on a cluster, and a step of it that goes over sockets.
struct on_cluster : fresh {
  explicit on_cluster(tasks_in w) : all(two_and_two::of(w)), session(std::make_unique<pinion::session>(options())) {
    const device on{"/job:ps/task:1"};
    x = placeholder<float>({2}, "x");
    y = x * 3.f;
  }
  session_options options() const { return toward(all.target("worker", 0)); }
  bool runs() { return tensor<float>(session->run({{x, {1, 2}}}, y)) == tensor<float>::of({3, 6}); }
  std::string in_another_session() const {
    pinion::session other(options());
    return tensor<float>(other.run({{x, {1, 2}}}, y)) == tensor<float>::of({3, 6}) ? "well" : "wrong";
  }

  two_and_two& all;
  expr<float> x, y;
  std::unique_ptr<pinion::session> session;
};

// What a call says, if it says so within a second.
template <class F>
std::string soon_refused(F call) {
  const stopwatch time;
  const std::string said = failure(call);
  return time.passed() < 1s ? said : "late: " + said;
}

}  // namespace

TEST_CASE("a child is refused its parent's session within a second, and the parent's goes on") {
  on_cluster c(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  const auto step = c.session->make_callable(feeds(c.x), fetches(c.y));
  const expr<float> fresh_step = c.y + 1.f;
  CHECK(c.runs());
  const auto refused = [&](auto call) {
    CHECK_THAT(in_child([&] { return soon_refused(call); }),
               Catch::StartsWith("failed_precondition: ") && Catch::Contains(before_fork));
    CHECK(c.runs());
  };
  refused([&] { c.session->run({{c.x, {1, 2}}}, c.y); });
  refused([&] { c.session->run({{c.x, {1, 2}}}, fresh_step); });
  refused([&] { step(tensor<float>::of({1, 2})); });
  refused([&] { c.session->list_devices(); });
  refused([&] { c.session->cancel_steps(error(errc::cancelled, "enough")); });
  refused([&] { partial_run(*c.session, feeds(c.x), fetches(c.y)); });
}

TEST_CASE("a child that closes and destroys what it inherited leaves its parent's as it is") {
  on_cluster c(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  auto own = std::make_unique<local_cluster>(std::initializer_list<local_cluster::job>{{"worker", 2}});
  auto own_session = std::make_unique<session>(toward(own->target("worker", 0)));
  auto metrics = std::make_unique<metrics_server>(own->server("worker", 0));
  auto partial = std::make_unique<partial_run>(*c.session, feeds(c.x), fetches(c.y));
  const expr<float> there = [] {
    const device on{"/job:worker/task:1"};
    return expr<float>(constant<float>({1, 2}) * 2.f);
  }();
  CHECK(c.runs());
  CHECK(tensor<float>(own_session->run(there)) == tensor<float>::of({2, 4}));
  CHECK(in_child([&] {
          partial.reset();
          c.session->close();
          c.session.reset();
          own_session.reset();
          metrics.reset();
          own.reset();
          return std::string("well");
        }) == "well");
  CHECK(c.runs());
  CHECK(tensor<float>(own_session->run(there)) == tensor<float>::of({2, 4}));
  CHECK(own->server("worker", 1).report().state == "running");
  CHECK(tensor<float>(partial->run({{c.x, {1, 2}}}, c.y)) == tensor<float>::of({3, 6}));
}

TEST_CASE("a child is refused its parent's server") {
  server s({{"worker", {"127.0.0.1:0"}}}, {.job = "worker"});
  for (const auto& call : std::initializer_list<void (*)(server&)>{
           [](server& of) { of.join(); }, [](server& of) { of.stop(); }, [](server& of) { of.drain(); },
           [](server& of) { of.report(); }, [](server& of) { of.traffic(); }})
    CHECK_THAT(in_child([&] { return soon_refused([&] { call(s); }); }),
               Catch::StartsWith("failed_precondition: the server at 127.0.0.1:") && Catch::Contains(before_fork));
  CHECK(s.report().state == "running");
}

TEST_CASE("a child makes sessions, servers and inquiries of its own") {
  on_cluster c(GENERATE(tasks_in::same_process, tasks_in::own_processes));
  CHECK(c.runs());
  CHECK(in_child([&] { return c.in_another_session(); }) == "well");
  CHECK(in_child([&] { return inspect(c.all.target("ps", 1)).state; }) == "running");
  CHECK(in_child([&] {
          local_cluster own{{{"ps", 2}, {"worker", 1}}};
          session s(toward(own.target("worker", 0)));
          const tensor<float> got = s.run({{c.x, {1, 2}}}, c.y);
          shutdown(own.target("ps", 0));
          return std::string(got == tensor<float>::of({3, 6}) ? "well" : "wrong");
        }) == "well");
  CHECK(c.runs());
}
#endif
