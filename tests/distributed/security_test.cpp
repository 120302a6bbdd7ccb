// The shared key and TLS: nobody is served who does not prove the one or show the other, and nobody is trusted.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/certificates.hpp>
#include <support/told_lines.hpp>

namespace {

using namespace real;

session_options with_key(const std::string& target, const std::string& key) {
  auto options = toward(target);
  options.security.key = key;
  return options;
}

TEST_CASE("a client with the key is served; one with another, or with none, is not") {
  const task_process worker({{"worker", {"127.0.0.1:0"}}}, "worker", 0, {.key = "the right key of this cluster"});
  fresh f;
  auto c = constant(1);
  CHECK(int(session(with_key(worker.target(), "the right key of this cluster")).run(c)) == 1);
  const auto wrong = caught([&] { session(with_key(worker.target(), "a wrong key for this cluster")).run(c); });
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
  const auto e = caught([&] { session(with_key(worker.target(), "the key of this client")).run(constant(1)); });
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
  for (const auto& [worker_key, ps_key] :
       {std::pair("the key of one task", "the key of the other"), std::pair("the key of one task", ""),
        std::pair("", "the key of the other")}) {
    const auto e = between_tasks(worker_key, ps_key);
    CHECK(e.code() == errc::unauthenticated);
    CHECK_THAT(e.what(), Catch::Contains(name_of("ps", 0)));
  }
  CHECK(between_tasks("the key of both of them", "the key of both of them").code() == errc::internal);
}

TEST_CASE("a whole cluster works with a key") {
  local_cluster local({{"ps", 1}, {"worker", 2}}, {}, {.key = "the key that is ours"});
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(2.f, {.name = "v"}));
  auto y = place<"/job:worker/task:1">(v * v);
  session sess{with_key(local.target("worker", 0), "the key that is ours")};
  sess.run(v.initializer());
  CHECK(float(sess.run(y)) == 4);
}

TEST_CASE("a session with a wrong key is refused by a server of its own process too") {
  local_cluster local({{"worker", 1}}, {}, {.key = "the key that is ours"});
  fresh f;
  auto c = constant(1);
  for (const char* key : {"the key that is theirs", ""})
    CHECK(caught([&] { session(with_key(local.target("worker", 0), key)).run(c); }).code() == errc::unauthenticated);
}

TEST_CASE("a shutdown needs the key") {
  local_cluster local({{"ps", 1}, {"worker", 1}}, {}, {.key = "the key that is ours"});
  CHECK(caught([&] { shutdown(local.target("ps", 0)); }).code() == errc::unauthenticated);
  CHECK(caught([&] { shutdown(local.target("ps", 0), {.key = "the key that is theirs"}); }).code() ==
        errc::unauthenticated);
  CHECK(caught([&] { shutdown(local.spec(), {.key = "the key that is theirs"}); }).code() == errc::unauthenticated);
  fresh f;
  CHECK(int(session(with_key(local.target("ps", 0), "the key that is ours")).run(constant(1))) == 1);
  shutdown(local.spec(), {.key = "the key that is ours"});
  CHECK(caught([&] { shutdown(local.spec(), {.key = "the key that is ours"}); }).code() == errc::unavailable);
}

TEST_CASE("a key in the environment protects a task, and lets its clients in") {
  ::setenv("PINION_KEY", "the key of the environment", 1);
  const task_process worker({{"worker", {"127.0.0.1:0"}}}, "worker", 0);
  fresh f;
  auto c = constant(1);
  CHECK(int(session(toward(worker.target())).run(c)) == 1);
  ::unsetenv("PINION_KEY");
  CHECK_THAT(caught([&] { session(toward(worker.target())).run(c); }).sentence(),
             Catch::EndsWith(" asks for a key, and none is given here"));
}

TEST_CASE("credentials that cannot be used are told when a server or session is made") {
  const cluster_spec spec{{"worker", {"127.0.0.1:0"}}};
  CHECK(caught([&] { server(spec, {.security = {.key = "short"}}); }).code() == errc::invalid_argument);
  CHECK(caught([&] { server(spec, {.config = {.security = {.key_file = "/none"}}}); }).code() == errc::not_found);
  const server worker(spec);
  fresh f;
  CHECK(caught([&] { session(with_key(worker.target(), "short")); }).code() == errc::invalid_argument);
  CHECK(caught([&] { shutdown(worker.target(), {.key = "short"}); }).code() == errc::invalid_argument);
}

TEST_CASE("a server takes the key of its config where its options have none") {
  const std::string of_config = "the key of the config", of_options = "the key of the options";
  const cluster_spec spec{{"worker", {"127.0.0.1:0"}}};
  const server one(spec, {.config = {.security = {.key = of_config}}});
  const server other(spec, {.security = {.key = of_options}, .config = {.security = {.key = of_config}}});
  fresh f;
  auto c = constant(1);
  CHECK(int(session(with_key(one.target(), of_config)).run(c)) == 1);
  CHECK(int(session(with_key(other.target(), of_options)).run(c)) == 1);
  CHECK(caught([&] { session(with_key(other.target(), of_config)).run(c); }).code() == errc::unauthenticated);
}

// ---- TLS

// Certificates for the loopback.
struct loopback {
  certificates::files files;
  certificates::pair authority = certificates::make("authority", nullptr);
  security_options task = of("task"), client = of("client");

  security_options of(const std::string& name) const {
    return files.options(name, certificates::make(name, &authority, "IP:127.0.0.1"), authority);
  }
};

session_options with(const std::string& target, const security_options& security) {
  auto options = toward(target);
  options.security = security;
  return options;
}

TEST_CASE("a whole cluster works over TLS, and is stopped over it") {
  const loopback c;
  local_cluster local({{"ps", 1}, {"worker", 2}}, {.security = c.task});
  fresh f;
  auto v = place<"/job:ps/task:0">(variable(2.f, {.name = "v"}));
  auto y = place<"/job:worker/task:1">(v * v);
  auto large = place<"/job:ps/task:0">(identity(place<"/job:worker/task:1">(ones<float>({3 << 20}) * 2.f)));
  session sess{with(local.target("worker", 0), c.client)};
  sess.run(v.initializer());
  CHECK(float(sess.run(y)) == 4);
  CHECK(float(sess.run(reduce_sum(large))) == 2 * (3 << 20));
  shutdown(local.spec(), c.client);
  CHECK(caught([&] { shutdown(local.spec(), c.client); }).code() == errc::unavailable);
}

TEST_CASE("a process that exits while a thread is in OpenSSL ends well") {
  const loopback c;
  for (int i = 0; i < 12; ++i) {
    process leaving({PINION_TEST_EXIT_IN_TLS, c.task.certificate, c.task.private_key, c.task.authorities});
    CHECK(leaving.result() == 0);
  }
}

TEST_CASE("a server whose certificate names other tasks says so when it starts") {
  const loopback c;
  const auto told_by = [&](const std::string& names) {
    const auto of = c.files.options("named", certificates::make("named", &c.authority, names), c.authority);
    const told_lines told;
    const server s({{"ps", {"127.0.0.1:0"}}}, {.job = "ps", .security = of});
    return told.all();
  };
  const std::string worker = "IP:127.0.0.1,URI:pinion:/job:worker/task:0";
  CHECK_THAT(told_by(worker), Catch::Contains("its certificate is for /job:worker/task:0, and not for "
                                              "/job:ps/replica:0/task:0 (subjectAltName=URI:pinion:"));
  CHECK(told_by(worker + ",URI:pinion:/job:ps") == "");
  CHECK(told_by("IP:127.0.0.1") == "");
}

TEST_CASE("a server with TLS may stand where others can reach it") {
  const loopback c;
  const server open({{"local", {"0.0.0.0:0"}}}, {.security = c.task});
  const std::string port = open.target().substr(open.target().rfind(':'));
  CHECK_NOTHROW(shutdown("pinion://127.0.0.1" + port, c.client));
}

TEST_CASE("a client without a certificate is not served by a server with TLS, over the wire or in its process") {
  const loopback c;
  local_cluster local({{"worker", 1}}, {.security = c.task});
  fresh f;
  const std::string target = local.target("worker", 0);
  CHECK_THAT(failure([&] { session(toward(target)).run(constant(1)); }),
             Catch::StartsWith("unauthenticated: ") && Catch::EndsWith("speaks TLS, and no certificate is given here"));
  CHECK_THAT(failure([&] { shutdown(target); }),
             Catch::StartsWith("unauthenticated: ") && Catch::Contains(" speaks TLS alone"));
  CHECK(int(session(with(target, c.client)).run(constant(1))) == 1);
}

}  // namespace
