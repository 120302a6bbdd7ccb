// pinion_server as a process.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <server/log.hpp>
#include <support/caught.hpp>
#include <support/temporary_file.hpp>
#include <support/temporary_folder.hpp>

#include "http.hpp"
#include "program.hpp"
#include "stranger.hpp"

namespace {

using namespace real;

const char* const any_port = "local=127.0.0.1:0";

TEST_CASE("pinion_server prints its target, serves, and exits with 0 after SIGTERM, however early") {
  server_program task({"--cluster", any_port});
  CHECK_THAT(task.target(), Catch::StartsWith("pinion://127.0.0.1:"));
  task.signal(SIGTERM);
  CHECK(task.result() == 0);
  CHECK(task.line() == "pinion: " + name_of("local", 0) + " has stopped, asked by SIGTERM");
}

TEST_CASE("pinion_server exits with 0 after SIGINT, and when it is shut down from outside") {
  server_program interrupted({"--cluster", any_port}), shut({"--cluster", any_port});
  interrupted.signal(SIGINT);
  CHECK(interrupted.result() == 0);
  shutdown(shut.target());
  CHECK(shut.result() == 0);
  CHECK(shut.line() == "pinion: " + name_of("local", 0) + " has stopped");
}

TEST_CASE("tasks that pinion_server runs are a cluster, with the devices that were asked for") {
  fresh f;
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 2}});
  const std::string words = words_of(spec);
  const server_program ps({"--cluster", words, "--job", "ps"});
  const server_program worker({"--cluster", words, "--job", "worker", "--task", "1", "--cpus", "2"});
  auto kept = place<"/job:ps/task:0">(variable(5, {.name = "kept"}));
  auto sum = place<"/job:worker/task:1/cpu:1">(kept + 1);
  session sess{toward(worker.target())};
  sess.run(kept.initializer());
  CHECK(int(sess.run(sum)) == 6);
  CHECK(inspect(worker.target()).name == name_of("worker", 1));
}

TEST_CASE("with --elastic a worker of whom the cluster's text says nothing may join, and without it none") {
  const cluster_spec spec = free_addresses({{"ps", 1}, {"worker", 1}});
  cluster_spec of_newcomer{{"ps", {spec.address("ps", 0)}}};
  of_newcomer.add_task("worker", 3, "127.0.0.1:0");
  for (const bool elastic : {true, false}) {
    std::vector<std::string> words{"--cluster", words_of(spec), "--job", "ps"};
    if (elastic) words.push_back("--elastic");
    const server_program ps(words);
    const pinion::server joins(of_newcomer, {.job = "worker", .task = 3, .config = {.elastic = true}});
    fresh f;
    auto sum = place<"/job:ps/task:0">(constant(1) + 2);
    auto options = toward(joins.target());
    session sess{options};
    if (elastic)
      CHECK(int(sess.run(sum)) == 3);
    else
      CHECK(caught([&] { sess.run(sum); }).code() == errc::permission_denied);
  }
}

TEST_CASE("the cluster comes from a file or the environment, which may tell the task, too") {
  const auto config_of = [](const char* ps, const char* worker) {
    return fmt::format(R"({{"cluster": {{"ps": ["127.0.0.1:{}"], "worker": ["127.0.0.1:{}"]}},)"
                       R"( "task": {{"type": "worker", "index": 0}}}})",
                       ps, worker);
  };
  const std::string config = config_of("9", "0");
  const temporary_file file;
  file.write(config);
  const server_program from_file({"--cluster", "@" + file.path});
  CHECK(inspect(from_file.target()).name == name_of("worker", 0));
  const server_program from_environment({}, "TF_CONFIG='" + config + "'");
  CHECK(inspect(from_environment.target()).name == name_of("worker", 0));
  const server_program another({"--job", "ps"}, "TF_CONFIG='" + config_of("0", "9") + "'");
  CHECK(inspect(another.target()).name == name_of("ps", 0));
}

TEST_CASE("a key that a file holds is asked for") {
  const temporary_file file;
  file.write("a secret of sixteen bytes\n");
  const server_program task({"--cluster", "local=127.0.0.1:0", "--key-file", file.path});
  CHECK(caught([&] { inspect(task.target()); }).code() == errc::unauthenticated);
  CHECK(inspect(task.target(), {.key_file = file.path}).name == name_of("local", 0));
}

TEST_CASE("what cannot be served ends with 1 and a sentence, wrong options with 2") {
  const server_program first({"--cluster", any_port});
  const std::string taken = first.target().substr(9);
  const struct {
    std::vector<std::string> words;
    int status;
    const char* says;
  } all[] = {
      {{"--cluster", "nonsense"}, 2, "is no cluster"},
      {{"--cluster", "@/no/such/file"}, 2, "/no/such/file"},
      {{"--cluster", "@/"}, 2, "/ is not a regular file"},
      {{"--cluster", "ps=a:1", "--job", "worker"}, 2, "the cluster has no job 'worker'"},
      {{"--cluster", any_port, "--task", "7"}, 2, "the cluster has no task 7 of job 'local'"},
      {{"--cluster", "local=" + taken}, 1, "Address already in use"},
      {{"--cluster", "local=0.0.0.0:0"}, 1, "needs a key or TLS"},
      {{"--cluster", any_port, "--metrics-port", taken.substr(taken.rfind(':') + 1)}, 1, "cannot listen on 127.0.0.1:"},
      {{"--no-such-option"}, 2, "--no-such-option"},
      {{"--cpus", "0"}, 2, "--cpus"},
      {{"--grace", "nan"}, 2, "'nan' is no number of seconds"},
      {{"--limit", "patience=3"}, 2, "there is no limit 'patience'; the limits are sessions, bytes_waiting, nodes"},
      {{"--limit", "clients=many"}, 2, "'clients=many' needs a number of at least 1, as in clients=100"},
      {{"--limit", "clients"}, 2, "'clients' needs a number"},
      {{"--limit", "clients=0"}, 2, "'clients=0' needs a number of at least 1"},
      {{"--limit", "kept_graphs=-1"}, 2, "'kept_graphs=-1' needs a number of at least 0, as in kept_graphs=100"},
      {{"--log-format", "xml"}, 2, "'xml' is neither text nor json"},
      {{"--task", "-1"}, 2, "not in range"},
      {{"--help"}, 0, "--cluster"},
      {{"--version"}, 0, "pinion_server " PINION_VERSION},
  };
  for (const auto& one : all) {
    const auto [text, status] = end_of(PINION_TEST_SERVER, one.words, "PINION_KEY= PINION_KEY_FILE=");
    INFO(one.words.back() << ": " << text);
    CHECK(status == one.status);
    CHECK_THAT(text, Catch::Contains(one.says));
  }
}

TEST_CASE("pinion_server keeps the variables of its task from one life to the next") {
  const temporary_folder folder;
  fresh f;
  auto v = variable(5, {.name = "v"});
  {
    server_program first({"--cluster", any_port, "--keep", folder.path("task")});
    session{toward(first.target())}.run(v.initializer());
    first.signal(SIGTERM);
    CHECK(first.result() == 0);
    CHECK_THAT(line_with(first, "keeps"), Catch::Contains("keeps 1 variables in " + folder.path("task")));
  }
  process second = run_program(PINION_TEST_SERVER, {"--cluster", any_port, "--keep", folder.path("task")});
  CHECK_THAT(second.line(), Catch::Contains("took 1 variables from " + folder.path("task")));
  CHECK(int(session{toward(second.line())}.run(v)) == 5);
}

TEST_CASE("pinion_server sets the limits of its task; no graph need stay there") {
  const server_program task({"--cluster", any_port, "--limit", "clients=17", "--limit", "bytes_waiting=5000000000",
                             "--limit", "kept_graphs=0"});
  const auto set = inspect(task.target()).limits;
  CHECK(set.clients == 17);
  CHECK(set.bytes_waiting == 5'000'000'000);
  CHECK(set.kept_graphs == 0);
  CHECK(set.runs == server_limits{}.runs);
}

TEST_CASE("in JSON, a line of the log is an object with time, level, task and message") {
  server_program task({"--cluster", any_port, "--log-format", "json"});
  said_to(task.target(), "GET / HTTP/1.0\r\n\r\n");
  const std::string line = task.line();
  INFO(line);
  const auto read = nlohmann::json::parse(line);
  CHECK(read.at("level") == "warning");
  CHECK(read.at("task") == name_of("local", 0));
  CHECK_THAT(read.at("message").get<std::string>(), Catch::StartsWith("refused 127.0.0.1:"));
  CHECK(read.at("time").get<std::string>().size() == 24);
}

TEST_CASE("a line in JSON keeps what strangers say within its strings") {
  const std::string line = server::json_line({log_level::error, "t", "\"}\n\x01\xff"}, 1'795'422'153'042);
  CHECK(line == R"({"time":"2026-11-23T08:22:33.042Z","level":"error","task":"t","message":"\"}\n\u0001)"
                "\xef\xbf\xbd"
                R"("})");
}

TEST_CASE("pinion_server answers for its metrics and its health where it is asked to, and only then") {
  const server_program silent({"--cluster", any_port});
  server_program task({"--cluster", any_port, "--metrics-port", "0"});
  const std::string url = task.line();
  CHECK_THAT(url, Catch::StartsWith("http://127.0.0.1:") && Catch::EndsWith("/metrics"));
  const std::string address = url.substr(7, url.rfind('/') - 7);
  const http_reply metrics = http_get(address, "/metrics"), health = http_get(address, "/healthz");
  CHECK(metrics.status == 200);
  CHECK(metrics.type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(metrics.text, Catch::Contains("\npinion_running 1\n"));
  CHECK(health.status == 200);
  CHECK(health.text == "running\n");
  task.signal(SIGTERM);
  CHECK(task.result() == 0);
  CHECK(http_get(address, "/healthz").status == 0);
}

}  // namespace
