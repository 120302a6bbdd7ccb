// One worker of a cluster as a process of its own, which trains; worker 0 is the chief. It says what its session
// and the library say, "now at step N" now and then, and "ended" when training has.
//
//   training_task <task> <async or sync> <folder, or -> <last step> <ms it waits for others> <ms of a step, or 0>
//                 <job>/<task>=<host:port> ...
#include <pinion/base/log.hpp>
#include <pinion/pinion.hpp>

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <support/cluster_words.hpp>

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using namespace std::chrono_literals;

constexpr auto heartbeat = 400ms;

void say(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

struct tell_step {
  pn::variable_handle<std::int64_t> step;
  std::chrono::steady_clock::time_point told{};
  pn::run_request before_run(tr::run_context&) { return {.fetches = {pn::any_expr(step.read())}}; }
  void after_run(tr::run_context&, std::span<const pn::any_tensor> values) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told < 50ms) return;
    told = now;
    say("now at step " + std::to_string(*values[0].data<std::int64_t>()));
  }
};

// w goes towards 3, by the gradient of (w - 3)^2; of two ps tasks w is on the second.
void train(const pn::cluster_spec& cluster, int task, bool in_step, tr::monitored_session_options o,
           std::int64_t last) {
  const pn::device on{pn::replica_device_setter{{.ps_tasks = static_cast<int>(cluster.task_indices("ps").size()),
                                                 .worker_device = "/job:worker/task:" + std::to_string(task)}}};
  const auto step = tr::get_or_create_global_step();
  const auto w = pn::variable(0.0f, {.name = "w"});
  const auto loss = pn::square(w - 3.0f);
  const tr::gradient_descent descent{{.learning_rate = .0005f}};
  tr::sync_replicas sync{descent,
                         {.replicas_to_aggregate = static_cast<std::int64_t>(cluster.task_indices("worker").size())}};
  const auto step_of_training =
      in_step ? sync.minimize(loss, {.global_step = step}) : descent.minimize(loss, {.global_step = step});
  o.hooks = {tr::stop_at_step({.last_step = last}), tell_step{step}};
  if (in_step) o.hooks.push_back(sync.make_session_run_hook(task == 0));
  tr::monitored_training_session sess{o};
  while (!sess.should_stop()) sess.run(step_of_training);
}

}  // namespace

int main(int count, char** arguments) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int task = std::atoi(arguments[1]);
  const std::string how = arguments[2], folder = arguments[3];
  pn::set_log([](const pn::log_line& line) { say(line.task + " " + line.text); });
  const auto cluster = cluster_of(arguments + 7, arguments + count);
  pn::server server(cluster, {.job = "worker", .task = task, .config = {.heartbeat = heartbeat, .elastic = true}});
  train(cluster, task, how == "sync",
        {.master = server.target(),
         .is_chief = task == 0,
         .checkpoint_dir = folder == "-" || task != 0 ? "" : folder,
         .save_checkpoint_steps = 50,
         .config = {.operation_timeout = std::chrono::milliseconds(std::atoi(arguments[6]))},
         .log_step_count_steps = 0,
         .max_wait = std::chrono::milliseconds(std::atoi(arguments[5])),
         .log = say,
         .heartbeat = heartbeat},
        std::atoll(arguments[4]));
  say("ended");
  return 0;
} catch (const pinion::error& e) {
  say(std::string("failed: ") + e.what());
  return 1;
}
