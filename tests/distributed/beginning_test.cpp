// How a chief begins on ps tasks that have variables already: whose they are, how old, and what is kept.
#include <catch2/catch.hpp>

#include <pinion/distributed.hpp>
#include <pinion/train.hpp>

#include <distributed/real_cluster.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
using namespace std::chrono_literals;
namespace tr = pinion::train;

// A chief's program, on ps tasks that outlive it.
struct chief : own_graph {
  explicit chief(pn::local_cluster& on, int task = 0) : chief(on.target("worker", task), task) {}
  explicit chief(std::string at, int task = 0) : target(std::move(at)), worker(task) {}

  // Trains so many steps more, of which the first and the last are saved, and maybe some that are not. Returns how it
  // began.
  std::string train(const std::string& dir, int steps, int unsaved = 0) {
    const auto use = g.as_default();
    std::vector<std::string> said;
    tr::monitored_session_options o{
        .master = target, .checkpoint_dir = dir, .save_checkpoint_steps = 1000, .log_step_count_steps = 0};
    o.log = [&](std::string_view line) { said.emplace_back(line); };
    {
      tr::monitored_training_session sess{o};
      for (int i = 0; i < steps; ++i) sess.run(up);
    }
    pn::session others{{.target = target}};
    for (int i = 0; i < unsaved; ++i) others.run(up);
    now = others.run(step);
    return said[0];
  }

  const std::string target;
  const int worker;
  pn::device on{
      pn::replica_device_setter{{.ps_tasks = 2, .worker_device = "/job:worker/task:" + std::to_string(worker)}}};
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::variable_handle<float> w = pn::variable(1.0f, {.name = "w"});
  pn::operation up = pn::group(pn::operation(pn::assign_add(step, 1)), pn::operation(pn::assign_add(w, 1.0f)));
  std::int64_t now = 0;
};

pn::local_cluster cluster() {
  return pn::local_cluster{{{"ps", 2}, {"worker", 1}}};
}

}  // namespace

TEST_CASE("a chief that is started again keeps variables that are newer than its last checkpoint") {
  temporary_folder dir;
  auto local = cluster();
  CHECK(chief(local).train(dir.path(), 3, 4) == "initialised the variables: training begins at step 0");
  chief again(local);
  CHECK(again.train(dir.path(), 1) ==
        "training goes on at step 7: the variables are there, and no older than checkpoint " + dir.path("model-3"));
  CHECK(again.now == 8);
}

TEST_CASE("a ps that keeps its variables and comes back costs a training no step, whichever variables it has") {
  const temporary_folder dir, kept;
  const auto keeping = [&](const std::string& file, const pn::cluster_spec& spec, int task) {
    pn::server_config config;
    config.keep = kept.path(file);
    return std::make_unique<pn::server>(spec, pn::server_options{.job = "ps", .task = task, .config = config});
  };
  const pn::cluster_spec spec = real::free_addresses({{"ps", 2}, {"worker", 1}});
  const pn::server worker(spec, {.job = "worker"});
  std::unique_ptr<pn::server> ps[2] = {keeping("0", spec, 0), keeping("1", spec, 1)};
  chief first(worker.target());
  first.train(dir.path(), 3, 4);
  for (const int task : {0, 1}) {
    ps[task]->drain();
    ps[task].reset();
    ps[task] = keeping(std::to_string(task), spec, task);
    chief again(worker.target());
    const std::int64_t before = 7 + task;
    CHECK_THAT(again.train(dir.path(), 1),
               Catch::StartsWith(fmt::format("training goes on at step {}: the variables are there", before)));
    CHECK(again.now == before + 1);
  }
}

TEST_CASE("variables that another training has left are not kept, whatever their step") {
  temporary_folder dir, other;
  auto before = cluster(), local = cluster();
  chief(before).train(dir.path(), 3);
  chief(local).train(other.path(), 5);
  chief mine(local);
  CHECK(mine.train(dir.path(), 1) ==
        "restored checkpoint " + dir.path("model-3") +
            ": training goes on at step 3; the cluster had variables of another training, at step 5");
  CHECK(mine.now == 4);
}

TEST_CASE("variables that are older than the last checkpoint are restored") {
  temporary_folder dir;
  auto local = cluster();
  chief first(local);
  first.train(dir.path(), 3);
  pn::session sess{{.target = first.target, .graph = &first.g}};
  sess.run(first.step.initializer());
  CHECK(chief(local).train(dir.path(), 1) ==
        "restored checkpoint " + dir.path("model-3") + ": training goes on at step 3");
}

TEST_CASE("a worker does not join while a chief writes the variables, though all of them are there") {
  pn::local_cluster local{{{"ps", 2}, {"worker", 2}}};
  chief first(local);
  first.train("", 3);
  pn::session sess{{.target = first.target, .graph = &first.g}};
  const auto put = [&](std::int64_t beat) {
    const auto use = first.g.as_default();
    tr::chief_sign::of_default_graph()->put(sess, {1, beat, "/job:worker/replica:0/task:0"});
  };
  const auto joins = [&] {
    chief other(local, 1);
    const auto use = other.g.as_default();
    tr::monitored_training_session late{
        {.master = other.target, .is_chief = false, .max_wait = 300ms, .log = [](std::string_view) {}}};
    late.run(other.up);
  };
  put(tr::chief_note::writes);
  const pn::error e = caught(joins);
  CHECK(e.code() == pn::errc::deadline_exceeded);
  CHECK_THAT(e.what(), Catch::Contains("/job:worker/replica:0/task:0 has not written all of them yet"));
  put(1);
  joins();
}

TEST_CASE("a second chief is refused while the first gives signs of life, and may begin when that has ended") {
  pn::local_cluster local{{{"ps", 2}, {"worker", 2}}};
  chief first(local, 0), second(local, 1);
  {
    const auto use = first.g.as_default();
    tr::monitored_training_session sess{{.master = first.target, .log = [](std::string_view) {}, .heartbeat = 20ms}};
    sess.run(first.up);
    const pn::error e = caught([&] { second.train("", 1); });
    CHECK(e.code() == pn::errc::failed_precondition);
    CHECK_THAT(e.what(), Catch::Contains("/job:worker/replica:0/task:0 is the chief of a training") &&
                             Catch::Contains("a second chief, /job:worker/replica:0/task:1,"));
    sess.run(first.up);
    CHECK(int(sess.run(first.step)) == 2);
  }
  CHECK_THAT(second.train("", 1), Catch::StartsWith("initialised the variables"));
}

TEST_CASE("a chief without a checkpoint begins anew, and says that there was something") {
  auto local = cluster();
  chief(local).train("", 5);
  CHECK(
      chief(local).train("", 1) ==
      "initialised the variables: training begins at step 0; the cluster had variables of another training, at step 5");
  temporary_folder dir;
  chief(local).train(dir.path(), 5);
  for (const std::string& file : dir.files()) std::filesystem::remove(dir.path(file));
  CHECK(chief(local).train(dir.path(), 1) ==
        "initialised the variables: training begins at step 0; the cluster was at step 5: 5 steps are lost");
}
