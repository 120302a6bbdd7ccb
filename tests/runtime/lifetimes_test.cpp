// What is asked of a session or a graph that is gone is a sentence, whoever asks.
#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <optional>
#include <thread>

#include <support/caught.hpp>
#include <support/temporary_folder.hpp>

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

const std::string gone =
    "failed_precondition: a call of a callable is wanted of a session that is gone: it was destroyed, or a monitored "
    "session put another in its place when it recovered";
const std::string graph_gone =
    "failed_precondition: the graph of the session is gone: it was destroyed, or reset_default_graph() replaced it; a "
    "session refers to its graph, which must outlive it";

TEST_CASE("a callable that outlives its session says so, and where it was made") {
  for (const bool optimize : {true, false})
    for (const char* where : {"/cpu:0", "/gpu:0"}) {
      pn::graph g;
      const auto use = g.as_default();
      const pn::device on{where};
      const auto x = pn::placeholder<float>({2}, "x");
      const auto y = x * 2.f + pn::constant<float>({1, 2});
      std::optional<pn::session> sess;
      sess.emplace(pn::session_options{.simulated = {pn::sim::gpu()}, .optimize = optimize});
      const auto call = sess->make_callable(pn::feeds(x), pn::fetches(y));
      const int line = __LINE__ - 1;
      CHECK(std::get<0>(call(pn::tensor<float>::of({1, 2})))(1) == 6);
      sess.reset();
      CHECK(failure([&] { call(pn::tensor<float>::of({1, 2})); }) == gone);
      CHECK(line_of(caught([&] { call(pn::tensor<float>::of({1, 2})); })) == here(line));
    }
}

TEST_CASE("a callable of a closed session says that, and one of a session that was moved goes on") {
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess;
  const auto call = sess.make_callable(pn::feeds(), pn::fetches(pn::constant(3.f)));
  pn::session moved = std::move(sess);
  CHECK(float(std::get<0>(call())) == 3);
  moved.close();
  CHECK(failure([&] { call(); }) == "failed_precondition: the session is closed");
}

TEST_CASE("a session that another is assigned to is closed") {
  pn::graph g;
  const auto use = g.as_default();
  pn::session sess;
  const auto call = sess.make_callable(pn::feeds(), pn::fetches(pn::constant(3.f)));
  sess = pn::session();
  CHECK(failure([&] { call(); }) == gone);
  CHECK(float(sess.run(pn::constant(4.f))) == 4);
}

TEST_CASE("threads that call while the session goes get a value or a sentence") {
  pn::graph g;
  const auto use = g.as_default();
  const auto y = pn::matmul(pn::ones<float>({8, 8}), pn::ones<float>({8, 8}));
  for (int round = 0; round < 20; ++round) {
    std::optional<pn::session> sess;
    sess.emplace(pn::session_options{.simulated = {pn::sim::gpu()}, .optimize = false});
    const auto call = sess->make_callable(pn::feeds(), pn::fetches(y));
    std::atomic<int> begun{0}, odd{0};
    std::vector<std::thread> all;
    for (int t = 0; t < 3; ++t)
      all.emplace_back([&] {
        try {
          for (;; ++begun) odd += std::get<0>(call())(0, 0) != 8;
        } catch (const pn::error& e) {
          odd += e.code() != pn::errc::failed_precondition && e.code() != pn::errc::cancelled;
        }
      });
    while (begun < 3) std::this_thread::yield();
    sess.reset();
    for (auto& t : all) t.join();
    CHECK(odd == 0);
  }
}

TEST_CASE("an unoptimized step whose graph is gone says so; an optimized one has a graph of its own") {
  for (const bool optimize : {true, false}) {
    std::optional<pn::graph> g(std::in_place);
    std::optional<pn::session> sess;
    std::optional<pn::callable<pn::feed_list<>, pn::fetch_list<float>>> call;
    {
      const auto use = g->as_default();
      sess.emplace(pn::session_options{.optimize = optimize});
      const auto v = pn::variable(2.f);
      sess->run(v.initializer());
      call.emplace(sess->make_callable(pn::feeds(), pn::fetches(v * 3.f)));
    }
    CHECK(float(std::get<0>((*call)())) == 6);
    g.reset();
    const std::string end = failure([&] { (*call)(); });
    CHECK(end == (optimize ? "internal: nothing was thrown" : graph_gone));
  }
}

TEST_CASE("a session whose graph is gone says so, and is not taken in by another graph in its place") {
  std::optional<pn::graph> g(std::in_place);
  pn::session sess{{.graph = &*g}};
  g.reset();
  g.emplace();
  const auto use = g->as_default();
  const auto x = pn::constant(1.f);
  CHECK(caught([&] { sess.run(x); }).code() == pn::errc::failed_precondition);
  CHECK(caught([&] { sess.run(pn::run_request{}); }).code() == pn::errc::failed_precondition);
  CHECK(caught([&] { sess.graph(); }).code() == pn::errc::failed_precondition);
}

TEST_CASE("queue runners outlive their session: that it goes is what stops them") {
  pn::graph g;
  const auto use = g.as_default();
  const auto q = pn::fifo_queue<int>({.capacity = 2, .name = "q"});
  const auto size = q.size();
  const tr::queue_runner runner(q, {q.enqueue(1), q.enqueue(2)});
  tr::coordinator coord;
  {
    pn::session sess;
    runner.start(sess, coord);
    while (int(sess.run(size)) < 2) std::this_thread::yield();
  }
  const pn::errc end = caught([&] { coord.join(); }).code();
  CHECK((end == pn::errc::cancelled || end == pn::errc::failed_precondition));  // in a step, or between two
  coord.clear_stop();
  pn::session again;  // perhaps where the first was
  runner.start(again, coord);
  while (int(again.run(size)) < 2) std::this_thread::yield();
  coord.request_stop();
  coord.join();
}

TEST_CASE("a value on a device outlives its session, and is refused by others") {
  pn::graph g;
  const auto use = g.as_default();
  const auto x = pn::placeholder<float>({2}, "x");
  const pn::session_options with_gpu{.simulated = {pn::sim::gpu()}};
  std::optional<pn::session> sess;
  sess.emplace(with_gpu);
  std::optional there = sess->to_device(pn::tensor<float>::of({1, 2}), "/gpu:0");
  sess.emplace(with_gpu);
  CHECK(
      failure([&] {
        sess->run({{x, *there}}, x);
      }) ==
      "invalid_argument: the value fed to 'x' lies on /job:localhost/replica:0/task:0/device:GPU:0 of another session");
  sess.reset();
  there.reset();
}

TEST_CASE("an input that copies to a device says that its session is gone") {
  std::optional<pn::session> sess(std::in_place);
  auto input = tr::to_device(pn::data::from_tensors(pn::tensor<float>::of({1, 2, 3})), *sess, "/cpu:0", {.ahead = 0});
  CHECK(input.next());
  sess.reset();
  CHECK_THAT(failure([&] { input.next(); }), Catch::StartsWith("failed_precondition: a copy to a device is wanted of"));
}

TEST_CASE("a saver whose graph is gone says so") {
  std::optional<pn::graph> g(std::in_place);
  std::optional<tr::saver> saver;
  {
    const auto use = g->as_default();
    pn::variable(1.f, {.name = "v"});
    saver.emplace();
  }
  g.reset();
  pn::graph other;
  pn::session sess{{.graph = &other}};
  const temporary_folder folder;
  CHECK(caught([&] { saver->save(sess, folder.path() + "/m"); }).code() == pn::errc::failed_precondition);
}

}  // namespace
