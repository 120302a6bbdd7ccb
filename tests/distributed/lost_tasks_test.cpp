// Training whose tasks are killed, with a process for each: who notices, what is said, who waits and what is lost.
#include <catch2/catch.hpp>

#include <pinion/train.hpp>

#include "distributed/real_cluster.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace tr = pinion::train;
using namespace real;

const std::string the_chief = "the chief, " + name_of("worker", 0) + ", ";

struct training {
  std::string how = "async";
  std::string folder = "-";
  std::int64_t last_step = 1'000'000'000;
  std::chrono::milliseconds max_wait = 60s, operation_timeout = 0s;
  int ps_tasks = 1, workers = 2;

  cluster_spec spec = free_addresses({{"ps", ps_tasks}, {"worker", workers}});
  std::vector<std::optional<process>> ps{static_cast<std::size_t>(ps_tasks)}, worker{static_cast<std::size_t>(workers)};

  void start_ps(std::size_t task) {
    ps[task].reset();  // of which the port is then free
    ps[task].emplace(task_process(spec, "ps", static_cast<int>(task), {.heartbeat = 400ms}));
  }
  process& start_worker(std::size_t task) {
    std::vector<std::string> words{PINION_TEST_TRAINING_TASK,
                                   std::to_string(task),
                                   how,
                                   folder,
                                   std::to_string(last_step),
                                   std::to_string(max_wait.count()),
                                   std::to_string(operation_timeout.count())};
    for (const auto& job : spec.jobs())
      for (const int t : spec.task_indices(job))
        words.push_back(job + "/" + std::to_string(t) + "=" + spec.address(job, t));
    worker[task].reset();
    return worker[task].emplace(std::move(words));
  }
  void start_all() {
    for (std::size_t i = 0; i < ps.size(); ++i) start_ps(i);
    for (std::size_t i = 0; i < worker.size(); ++i) start_worker(i);
  }
  void start() {
    start_all();
    for (auto& one : worker) CHECK(one->line_with("now at step ") != "");
  }
  // A process that is gone at once, with no time to say anything.
  static void kill(std::optional<process>& one) { one.reset(); }
};

// The number behind a word of a line: 20 of "at step 20: ..." behind "at step ".
std::int64_t number_behind(const std::string& line, const std::string& word) {
  const auto at = line.find(word);
  return at == line.npos ? -1 : std::atoll(line.c_str() + at + word.size());
}

}  // namespace

TEST_CASE(
    "asynchronous workers say that the chief is lost, go on, and say that it is back; it goes on where they are") {
  temporary_folder dir;
  training t{.folder = dir.path()};
  t.start();
  process& other = *t.worker[1];
  CHECK(t.worker[0]->line_with("saved checkpoint " + dir.path("model-")) != "");
  training::kill(t.worker[0]);
  CHECK(other.line_with(the_chief) == the_chief + "is lost: training goes on, but nobody saves until it is back");
  const std::int64_t then = number_behind(other.line_with("now at step "), "now at step ");
  CHECK(then > 0);
  const std::string line = t.start_worker(0).line_with("training goes on at step ");
  INFO(line);
  CHECK(number_behind(line, "at step ") >= then);
  CHECK(line.find(": the variables are there, and no older than checkpoint " + dir.path("model-")) != line.npos);
  CHECK(other.line_with(the_chief).starts_with(the_chief + "is back after "));
}

TEST_CASE("workers in step wait for a lost chief, and go on with the one that comes") {
  temporary_folder dir;
  const auto a_step_may_take = GENERATE(0ms, 1500ms);
  training t{.how = "sync", .folder = dir.path(), .operation_timeout = a_step_may_take};
  t.start();
  process& other = *t.worker[1];
  CHECK(t.worker[0]->line_with("saved checkpoint " + dir.path("model-")) != "");  // else the next chief begins anew
  training::kill(t.worker[0]);
  CHECK(other.line_with(the_chief) == the_chief + "is lost: this program waits for it, for 60 s at most");
  CHECK(t.start_worker(0).line_with("training goes on at step ") != "");
  CHECK(other.line_with(the_chief).starts_with(the_chief + "is back after "));
  CHECK(number_behind(other.line_with("now at step "), "now at step ") > 0);
}

TEST_CASE("workers in step whose chief does not come back end, in time, with a sentence that names it") {
  training t{.how = "sync", .max_wait = 2s};
  t.start();
  process& other = *t.worker[1];
  training::kill(t.worker[0]);
  const std::string line = other.line_with("failed: ");
  CHECK(line.starts_with("failed: " + the_chief + "has been lost for 2 s and did not come back"));
  CHECK(other.result() == 1);
}

TEST_CASE("workers in step go on at once without one that is killed, by name, and meet it again") {
  training t{.how = "sync", .workers = 3};
  t.start();
  training::kill(t.worker[2]);
  for (const std::size_t left : {0u, 1u}) {
    const std::string line = t.worker[left]->line_with("without replica ");
    INFO(line);
    CHECK(line.starts_with(name_of("worker", static_cast<int>(left)) + " goes on at barrier 'sync_replicas/barrier' "));
    CHECK(line.find(" (" + name_of("worker", 2) + "), which is lost: ") != line.npos);
    CHECK(t.worker[left]->line_with("now at step ") != "");
  }
  t.start_worker(2);
  CHECK(t.worker[0]->line_with(" meets replica ").find("(" + name_of("worker", 2) + ") again") != std::string::npos);
  CHECK(t.worker[2]->line_with("now at step ") != "");
}

TEST_CASE("a chief that saves trains, and begins anew, while a worker is missing") {
  temporary_folder dir;
  training t{.folder = dir.path()};
  t.start_ps(0);
  for (int i = 0; i < 2; ++i) {
    CHECK(t.start_worker(0).line_with("saved checkpoint " + dir.path("model-")) != "");
    CHECK(t.worker[0]->line_with("now at step ") != "");
  }
}

TEST_CASE("a chief that ends is missed by nobody") {
  training t{.last_step = 300};
  t.start_all();  // a worker that comes when the last step is done trains none
  for (auto& one : t.worker) {
    std::string said;
    for (std::string line = one->line(); !line.empty() && said.find("ended") == said.npos; line = one->line())
      said += line + "\n";
    CHECK(said.find("is lost") == said.npos);
    CHECK(one->result() == 0);
  }
}

TEST_CASE("an asynchronous worker that goes on when its chief was asked to end says that nobody saves") {
  training t;
  t.start();
  t.worker[0]->signal(SIGTERM);
  CHECK(t.worker[1]->line_with("the chief, ") ==
        the_chief + "has ended: training goes on, but nobody saves until it is back");
  CHECK(t.worker[0]->result() == 0);
  const auto state = [&t] {
    for (const peer_report& peer : inspect("pinion://" + t.spec.address("ps", 0)).peers)
      if (peer.name == name_of("worker", 0)) return peer.state;
    return std::string("unknown");
  };
  CHECK(soon([&] { return state() == "stopped"; }));
}

TEST_CASE("a worker of whom nobody has heard joins a training, trains with the others, and leaves it to them") {
  temporary_folder dir;
  training t{.folder = dir.path()};
  const server ps(t.spec, {.job = "ps", .config = {.heartbeat = 400ms, .elastic = true}});
  for (const std::size_t task : {0, 1}) CHECK(t.start_worker(task).line_with("now at step ") != "");
  const auto tasks = [&ps] { return inspect_cluster(ps.target()).tasks.size(); };
  training joins;
  joins.spec = {{"ps", {t.spec.address("ps", 0)}}};
  joins.spec.add_task("worker", 0, t.spec.address("worker", 0)).add_task("worker", 2, "127.0.0.1:0");
  joins.worker.resize(3);
  process& third = joins.start_worker(2);
  CHECK(third.line_with("training goes on at step ") != "");
  CHECK(third.line_with("now at step ") != "");
  CHECK(tasks() == 4);
  third.signal(SIGTERM);
  CHECK(third.line_with("training has stopped") != "");
  CHECK(third.result() == 0);
  CHECK(soon([&] { return tasks() == 3; }));
  CHECK(t.worker[1]->line_with("now at step ") != "");
  for (auto& one : t.worker) training::kill(one);
}

TEST_CASE("a ps that comes back later than a step may take is waited for, by name; what is lost is said in steps") {
  temporary_folder dir;
  training t{.folder = dir.path(), .operation_timeout = 700ms};
  t.start();
  CHECK(t.worker[0]->line_with("saved checkpoint " + dir.path("model-")) != "");
  training::kill(t.ps[0]);
  for (auto& one : t.worker) {
    const std::string lost = one->line_with("recovering");
    CHECK(lost.starts_with("lost " + name_of("ps", 0) + " at step "));
    const std::string waits = one->line_with(" s, of 60 s at most, for tasks: ");  // other lines tell of waits, too
    CHECK(waits.starts_with("has waited "));
    CHECK(waits.find(name_of("ps", 0)) != waits.npos);
  }
  t.start_ps(0);
  const std::string line = t.worker[0]->line_with("recovered ");
  INFO(line);
  const auto now = number_behind(line, "at step "), then = number_behind(line, "the cluster was at step ");
  CHECK(line.find("from checkpoint " + dir.path("model-" + std::to_string(now))) != line.npos);
  if (then != -1) {  // nothing is said where the checkpoint has the last step that was seen
    CHECK(then > now);
    CHECK(number_behind(line, "the cluster was at step " + std::to_string(then) + ": ") == then - now);
  }
  CHECK(number_behind(t.worker[1]->line_with("recovered "), "at step ") >= now);
}

TEST_CASE("a ps that comes back where nothing was saved begins anew, and that is said") {
  training t{.workers = 1};
  t.start();
  CHECK(number_behind(t.worker[0]->line_with("now at step "), "now at step ") > 0);
  training::kill(t.ps[0]);
  t.start_ps(0);
  const std::string line = t.worker[0]->line_with("recovered ");
  INFO(line);
  CHECK(line.starts_with(
      "recovered at step 0: there is no checkpoint, so the variables are initialised anew; the cluster was at step "));
  CHECK(line.ends_with("lost, if not more"));
}

TEST_CASE("when a ps comes back beside one that stayed, all variables are restored and not only its own") {
  temporary_folder dir;
  training t{.folder = dir.path(), .ps_tasks = 2, .workers = 1};
  t.start();
  CHECK(t.worker[0]->line_with("saved checkpoint " + dir.path("model-")) != "");
  const std::size_t which = GENERATE(0, 1);
  training::kill(t.ps[which]);
  t.start_ps(which);
  const std::string line = t.worker[0]->line_with("recovered ");
  INFO(line);
  CHECK(number_behind(line, "from checkpoint " + dir.path("model-")) == number_behind(line, "at step "));
  const bool is_lost = line.find(" lost") != line.npos;  // not where the checkpoint has the last step that was seen
  CHECK((line.find("but not all variables are left: ") != line.npos) ==
        (is_lost && which == 1));  // the step is on ps 0
}

TEST_CASE("a ps that comes back at another address tells the workers, which go on there from the last checkpoint") {
  temporary_folder dir;
  training t{.folder = dir.path()};
  t.start();
  CHECK(t.worker[0]->line_with("saved checkpoint " + dir.path("model-")) != "");
  training::kill(t.ps[0]);
  cluster_spec moved{{"ps", {"127.0.0.1:0"}}};
  for (const int task : {0, 1}) moved.add_task("worker", task, t.spec.address("worker", task));
  const server elsewhere(moved, {.job = "ps", .config = {.heartbeat = 400ms, .elastic = true}});
  const std::string line = t.worker[0]->line_with("recovered ");
  INFO(line);
  CHECK(line.find("from checkpoint " + dir.path("model-")) != line.npos);
  for (auto& one : t.worker) CHECK(one->line_with("now at step ") != "");
}
