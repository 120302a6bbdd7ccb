// Handwritten digits on a cluster: this program starts itself once for every task, and the workers train one model,
// between-graph and asynchronously: each has a graph, batches and a pace of its own.
//
//                         this program ── starts, listens, shuts down
//            ┌───────────────────┼───────────────────┐
//     worker 0 (chief)        worker 1            worker 2         gradients of 50 digits at a time
//            └───── variables ↑ ─┼─ gradients ↓ ─────┘
//                              ps 0                                variables, momenta, the global step
//
// With --gpus, each worker's model is on a GPU: of two GPUs, workers 0 and 2 share the first.
//
#include "launcher.hpp"
#include "tasks.hpp"

struct settings {
  int ps = 1, workers = 3;
  mnist::options training;
  shared_gpus gpus;
  std::string plan;
  bool live = false;
  // What the launcher tells the tasks.
  std::string job;
  int task = 0;
  std::vector<std::string> ps_hosts, worker_hosts;
};

void launch(const settings& s) {
  const mnist::options& o = s.training;
  std::vector<std::string> options{"--epochs=" + std::to_string(o.epochs), "--seed=" + std::to_string(o.seed),
                                   "--digits=" + std::to_string(o.drawn)};
  if (!o.data.empty()) options.push_back("--data=" + o.data);
  if (s.gpus.count > 0) options.push_back("--gpus=" + std::to_string(s.gpus.count));
  if (s.gpus.simulated) options.push_back("--simulated");
  if (!s.plan.empty()) options.push_back("--plan=" + s.plan);
  if (::isatty(STDOUT_FILENO)) options.push_back("--live");
  launcher(s.ps, s.workers).run(options);
}

void be(const member& me, const settings& s) {
  if (me.job == "ps")
    serve(me);
  else
    work(me, s.training, s.gpus, s.live, s.plan);
}

int main(int argc, char** argv) {
  command_line line(
      "Trains a network of five hidden layers on handwritten digits, with a process for each task of a cluster.");
  settings s;
  s.training.add_to(line);
  line.add("--ps", s.ps, "tasks that keep the variables", {1, 64});
  line.add("--workers", s.workers, "tasks that train", {1, 64});
  line.add("--gpus", s.gpus.count, "GPUs of this machine that the workers share; 0: they compute on CPUs", {0, 64});
  line.add_flag("--simulated", s.gpus.simulated, "simulates these GPUs");
  line.add("--plan", s.plan, "file for the plan as a page, to be opened in a browser");
  line.add_hidden("--live", s.live);
  line.add_hidden("--job", s.job);
  line.add_hidden("--task", s.task);
  line.add_hidden("--ps-hosts", s.ps_hosts);
  line.add_hidden("--worker-hosts", s.worker_hosts);
  if (const auto status = line.parse(argc, argv)) return *status;

  std::string name = "mnist_cluster";
  try {
    if (s.job.empty()) return launch(s), 0;
    const member me{{{"ps", s.ps_hosts}, {"worker", s.worker_hosts}}, s.job, s.task};
    name = me.name();
    be(me, s);
    return 0;
  } catch (const pn::error& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    return 1;
  }
}
