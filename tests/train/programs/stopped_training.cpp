// A training program that is asked to stop by signals, in one of several ways to train.
//
//   stopped_training <way> <folder of checkpoints>
//
// Says on its standard output what happens, and what the library says too; exits with 0 where training ended well.
#include <pinion/pinion.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed.hpp>
#endif

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

// Counts its steps.
struct training {
  std::string dir;
  pn::variable_handle<std::int64_t> count = tr::get_or_create_global_step();
  pn::operation step = pn::group(pn::assign_add(count, std::int64_t{1}));

  tr::monitored_session_options options() const {
    return {.checkpoint_dir = dir, .log_step_count_steps = 0, .signal_grace_period = std::chrono::milliseconds(200)};
  }
  void end_at_should_stop(tr::monitored_training_session& sess) const {
    std::int64_t n = 0;
    while (!sess.should_stop()) {
      sess.run(step);
      n = sess.raw_session().run(count);
      if (n == 3) say("trains");
    }
    say("ended at " + std::to_string(n));
  }
};

void until_told(const training& t) {
  tr::monitored_training_session sess{t.options()};
  t.end_at_should_stop(sess);
  sess.close();
  say("closed");
}

void without_looking(const training& t) {
  tr::monitored_training_session sess{t.options()};
  for (int n = 1;; ++n) {
    sess.run(t.step);
    if (n == 3) say("trains");
  }
}

// Passes a float on, and says in the middle of the step that training is under way.
struct say_trains {
  static constexpr std::string_view name = "SayTrains";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtype_set{pn::dtype::float32}};
  static void infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
  static void cpu(pn::kernel_context& c) {
    say("trains");
    c.outputs[0] = c.input(0);
  }
};

// The third step waits for an element that nobody brings, at a queue where the guards say.
void until_it_waits(const training& t, const tr::monitored_session_options& options) {
  auto q = pn::fifo_queue<int>({.capacity = 1, .shapes = {{}}});
  const auto begins = pn::call<say_trains>(pn::cast<float>(t.count));
  const pn::operation waits = [&] {
    const pn::control_dependencies behind{pn::operation(begins)};
    return pn::group(q.dequeue());
  }();
  tr::monitored_training_session sess{options};
  sess.run(t.step);
  sess.run(t.step);
  while (!sess.should_stop()) sess.run(waits);
  say("ended at " + std::to_string(std::int64_t(sess.raw_session().run(t.count))));
}

void at_an_empty_queue(const training& t, std::chrono::milliseconds grace) {
  auto options = t.options();
  options.signal_grace_period = grace;
  until_it_waits(t, options);
}

void without_stopping(const training& t) {
  auto options = t.options();
  options.stop_on_signals = false;
  tr::monitored_training_session sess{options};
  t.end_at_should_stop(sess);
}

void with_an_own_handler(const training& t) {
  static volatile std::sig_atomic_t came = 0;
  std::signal(SIGTERM, [](int) { came = 1; });
  tr::monitored_training_session sess{t.options()};
  say("trains");
  while (!came) sess.run(t.step);
  say(sess.should_stop() ? "was told" : "was not told");
}

void after_the_session(const training& t) {
  tr::monitored_training_session sess{t.options()};
  sess.run(t.step);
  sess.close();
  say("trains");
  for (;;) ::pause();
}

void twice(const training& t) {
  until_told(t);
  tr::monitored_training_session next{t.options()};
  say("the next one trains");
}

void for_a_chief(const training& t) {
  auto options = t.options();
  options.is_chief = false;
  options.log = [](std::string_view line) { say(line.starts_with("has waited") ? "trains" : std::string(line)); };
  tr::monitored_training_session sess{options};
}

#if PINION_HAS_DISTRIBUTED
// Its variables are in a ps of this process, which may go only when they are saved.
void beside_servers(const std::string& dir) {
  pn::local_cluster local{{{"ps", 1}, {"worker", 1}}};
  const pn::device on{pn::replica_device_setter{{.worker_device = "/job:worker/task:0", .cluster = local.spec()}}};
  const training t{.dir = dir};
  std::thread serves([&] {
    local.server("ps", 0).join();
    say("served");
  });
  auto options = t.options();
  options.master = local.target("worker", 0);
  options.log = [](std::string_view line) { say(std::string(line)); };
  {
    tr::monitored_training_session sess{options};
    t.end_at_should_stop(sess);
    sess.close();
    say("closed");
  }
  local.server("worker", 0).join();  // asked already
  serves.join();
}

void at_a_queue_elsewhere(const std::string& dir) {
  pn::local_cluster local{{{"ps", 1}, {"worker", 1}}};
  const pn::device on{pn::replica_device_setter{{.worker_device = "/job:worker/task:0", .cluster = local.spec()}}};
  const training t{.dir = dir};
  const pn::device there("/job:ps/task:0");
  auto options = t.options();
  options.master = local.target("worker", 0);
  until_it_waits(t, options);
}

// Nobody serves at its target.
void at_an_absent_master(const training& t) {
  auto options = t.options();
  {
    pn::local_cluster gone{{{"worker", 1}}};
    options.master = gone.target("worker", 0);
  }
  tr::monitored_training_session sess{options};
}
#endif

void train(const std::string& way, const std::string& dir) {
#if PINION_HAS_DISTRIBUTED
  if (way == "beside_servers") return beside_servers(dir);
  if (way == "at_a_queue_elsewhere") return at_a_queue_elsewhere(dir);
#endif
  const training t{.dir = dir};
  if (way == "until_told") return until_told(t);
  if (way == "without_looking") return without_looking(t);
  if (way == "at_an_empty_queue") return at_an_empty_queue(t, std::chrono::milliseconds(200));
  if (way == "patiently") return at_an_empty_queue(t, std::chrono::hours(1));
  if (way == "without_stopping") return without_stopping(t);
  if (way == "with_an_own_handler") return with_an_own_handler(t);
  if (way == "after_the_session") return after_the_session(t);
  if (way == "twice") return twice(t);
  if (way == "for_a_chief") return for_a_chief(t);
#if PINION_HAS_DISTRIBUTED
  if (way == "at_an_absent_master") return at_an_absent_master(t);
#endif
  say("no such way to train: " + way);
}

}  // namespace

int main(int, char** words) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(STDOUT_FILENO, STDERR_FILENO);
  train(words[1], words[2]);
  return 0;
} catch (const pn::error& e) {
  say(std::string(to_string(e.code())) + ": " + e.what());
  return 1;
}
