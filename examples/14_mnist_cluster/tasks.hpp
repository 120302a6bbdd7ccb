// What the tasks of the cluster do: a ps keeps the variables, and the workers train them, each at its own pace.
#pragma once

#include <fstream>

#include <pinion/pinion.hpp>

#include "gpus.hpp"
#include "member.hpp"
#include "mnist_options.hpp"
#include "model.hpp"
#include "stopwatch.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

inline void serve(const member& me) {
  pn::server server{me.cluster, {.job = "ps", .task = me.task}};
  server.join();  // until pn::shutdown(target)
}

inline void work(const member& me, const mnist::options& o, const shared_gpus& gpus, bool live,
                 const std::string& page) {
  const auto digits = o.digits();
  constexpr std::int64_t batch = 50;
  const std::int64_t last = o.epochs * (static_cast<std::int64_t>(digits.train.count) / batch);
  pn::server server{me.cluster, {.job = "worker", .task = me.task, .config = gpus.part_of(me)}};

  // Every worker builds the same graph, so all mean the same variables; these stand on ps tasks, the rest at home.
  const std::string home = gpus.device(me);
  const pn::device on{
      pn::replica_device_setter{{.ps_device = "/job:ps/cpu:0", .worker_device = home, .cluster = me.cluster}}};
  const mnist::model m = mnist::build(5, 160, o.seed, .1);
  auto step = tr::get_or_create_global_step();
  // A gradient meets variables that the others have moved meanwhile. With much momentum that acts like a larger rate,
  // the more so the more workers there are, and on GPUs, whose steps read all variables when they begin.
  const double peak = std::min(.01, (gpus.count > 0 ? .01 : .02) / me.workers());
  const tr::momentum optimizer{{.learning_rate = mnist::rate(peak, step, last), .momentum = .95}};
  auto train = optimizer.minimize(m.loss, {.global_step = step});

  const auto show = [&](std::string_view line) {
    fmt::print("{}: {}{}", me.name(), line, live ? '\r' : '\n');
    std::fflush(stdout);
  };
  tr::monitored_training_session sess{
      {.master = server.target(),
       .is_chief = me.is_chief(),  // it initialises the variables; the others wait for that
       .hooks = {tr::stop_at_step({.last_step = last}), tr::nan_tensor(m.loss),
                 tr::progress_bar({.total_steps = last, .loss = m.loss, .log = show, .every_secs = live ? .2 : 5})},
       .config = {.allow_soft_placement = true},  // what has no kernel on a GPU, or no GPU, goes to the CPU
       .log_step_count_steps = 0}};
  if (me.is_chief()) {
    const auto plan = sess.raw_session().plan(m.loss, train);
    if (!page.empty()) std::ofstream(page) << plan.to_html();
    fmt::print("\n{}\n\n{}\n", plan, digits.source);
  }
  mnist::batches batches(digits.train, batch, static_cast<std::uint64_t>(100 * o.seed + me.task));
  const stopwatch watch;
  while (!sess.should_stop()) {
    const auto [x, y] = batches.next();
    sess.run({{m.X, x}, {m.y, y}}, train);
  }
  if (me.is_chief()) watch.report(sess.raw_session().run(step));
  fmt::print("{}: test accuracy {:.4f}\n", me.name(), mnist::test(sess.raw_session(), m, digits.test));
}
