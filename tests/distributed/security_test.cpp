// The shared key: nobody is served who does not prove it, and nobody is trusted who has not got it.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>

namespace {

using namespace real;

session_options with_key(const std::string& target, const std::string& key) {
  auto options = toward(target);
  options.security.key = key;
  return options;
}

TEST_CASE("a client with the key is served; one with another, or with none, is not") {
  const task_process worker({{"worker", {"127.0.0.1:0"}}}, "worker", 0, {.key = "right"});
  fresh f;
  auto c = constant(1);
  CHECK(int(session(with_key(worker.target(), "right")).run(c)) == 1);
  const auto wrong = caught([&] { session(with_key(worker.target(), "wrong")).run(c); });
  CHECK(wrong.code() == errc::unauthenticated);
  CHECK_THAT(wrong.sentence(),
             Catch::Contains(name_of("worker", 0)) && Catch::EndsWith(" has another key than is given here"));
  const auto none = caught([&] { session(with_key(worker.target(), "")).run(c); });
  CHECK(none.code() == errc::unauthenticated);
  CHECK_THAT(none.sentence(), Catch::EndsWith(" asks for a key, and none is given here"));
}

TEST_CASE("a client with a key does not trust a server without one") {
  const task_process worker({{"worker", {"127.0.0.1:0"}}}, "worker", 0);
  fresh f;
  const auto e = caught([&] { session(with_key(worker.target(), "mine")).run(constant(1)); });
  CHECK(e.code() == errc::unauthenticated);
  CHECK_THAT(e.sentence(), Catch::EndsWith(" has no key, and one is given here"));
}

// Where a worker has one key and a ps another: what a session at the worker is told.
error between_tasks(const std::string& worker_key, const std::string& ps_key) {
  const auto spec = free_addresses({{"ps", 1}, {"worker", 1}});
  const server ps(spec, {.job = "ps", .security = {.key = ps_key}});
  const server worker(spec, {.job = "worker", .security = {.key = worker_key}});
  fresh f;
  auto x = place<"/job:ps/task:0">(constant(1));
  return caught([&] { session(with_key(worker.target(), worker_key)).run(x); });
}

TEST_CASE("tasks with different keys refuse each other, by name") {
  for (const auto& [worker_key, ps_key] : {std::pair("one", "other"), std::pair("one", ""), std::pair("", "other")}) {
    const auto e = between_tasks(worker_key, ps_key);
    CHECK(e.code() == errc::unauthenticated);
    CHECK_THAT(e.what(), Catch::Contains(name_of("ps", 0)));
  }
  CHECK(between_tasks("same", "same").code() == errc::internal);
}

TEST_CASE("a whole cluster works with a key") {
  local_cluster local({{"ps", 1}, {"worker", 2}}, {}, {.key = "ours"});
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(2.f, {.name = "v"}));
  auto y = place<"/job:worker/task:1">(v * v);
  session sess{with_key(local.target("worker", 0), "ours")};
  sess.run(v.initializer());
  CHECK(float(sess.run(y)) == 4);
}

TEST_CASE("a session with a wrong key is refused by a server of its own process too") {
  local_cluster local({{"worker", 1}}, {}, {.key = "ours"});
  fresh f;
  auto c = constant(1);
  for (const char* key : {"theirs", ""})
    CHECK(caught([&] { session(with_key(local.target("worker", 0), key)).run(c); }).code() == errc::unauthenticated);
}

TEST_CASE("a shutdown needs the key") {
  local_cluster local({{"ps", 1}, {"worker", 1}}, {}, {.key = "ours"});
  CHECK(caught([&] { shutdown(local.target("ps", 0)); }).code() == errc::unauthenticated);
  CHECK(caught([&] { shutdown(local.target("ps", 0), {.key = "theirs"}); }).code() == errc::unauthenticated);
  CHECK(caught([&] { shutdown(local.spec(), {.key = "theirs"}); }).code() == errc::unauthenticated);
  fresh f;
  CHECK(int(session(with_key(local.target("ps", 0), "ours")).run(constant(1))) == 1);
  shutdown(local.spec(), {.key = "ours"});
  CHECK(caught([&] { shutdown(local.spec(), {.key = "ours"}); }).code() == errc::unavailable);
}

}  // namespace
