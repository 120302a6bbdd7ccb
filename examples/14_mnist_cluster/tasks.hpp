// What the tasks of the cluster do: a ps keeps the variables, and the workers train them, each at its own pace.
#pragma once

#include <fstream>

#include <pinion/pinion.hpp>

#include "member.hpp"
#include "mnist.hpp"
#include "model.hpp"
#include "patience.hpp"
#include "progress.hpp"
#include "schedule.hpp"

namespace pn = pinion;
namespace tr = pinion::train;
using std::chrono::seconds;

inline void serve(const member& me) {
  pn::server server{me.cluster, {.job = "ps", .task = me.task}};
  server.join();  // until pn::shutdown(target)
}

inline void work(const member& me, const mnist::dataset& digits, int epochs, bool live, const std::string& page) {
  pn::server server{me.cluster, {.job = "worker", .task = me.task}};

  // Every worker builds the same graph, so all mean the same variables; these stand on ps tasks, the rest at home.
  const pn::device on{pn::replica_device_setter{{.worker_device = me.device(), .cluster = me.cluster}}};
  const mnist::model m = mnist::build(5, 160, 42);
  auto rate = pn::placeholder<float>({}, "rate");
  auto step = tr::get_or_create_global_step();
  auto train = tr::momentum{{.learning_rate = 1, .momentum = .95f}}.minimize(rate * m.loss, {.global_step = step});
  auto init = pn::global_variables_initializer();
  auto ready = pn::variable(1.0f, {.name = "ready", .trainable = false});  // made after init, so init leaves it alone

  pn::session sess{{.target = server.target()}};
  const schedule rates{me.workers()};
  if (me.is_chief()) {
    const auto plan = sess.plan(m.loss, train);
    if (!page.empty()) std::ofstream(page) << plan.to_html();
    fmt::print("\n{}\n\n{}\n{}\n\n", plan, digits.source, rates.text());
    sess.run(init);
    sess.run(ready.initializer());
  }
  wait_until([&] { return is_initialised(sess, ready); }, me.name(), "worker 0 to initialise", seconds(60));

  constexpr std::int64_t batch = 50;
  mnist::batches batches(digits.train, batch, 7 + me.task);
  pn::tensor<float> images({batch, 784});
  pn::tensor<std::int32_t> labels({batch});
  auto train_step = sess.make_callable(pn::feeds(m.X, m.y, rate), pn::fetches(m.loss), pn::targets(train));
  progress line(epochs, batches.per_epoch() / me.workers(), {.who = me.name() + ": ", .live = live});
  while (!line.complete()) {
    batches.next(images.data(), labels.data());
    auto [loss] = train_step(images, labels, pn::tensor<float>(rates(line.done())));
    if (!std::isfinite(loss)) throw pn::error(pn::errc::aborted, "the training diverged: its learning rate is too large");
    line.step(loss);
  }
  line.finish();

  // The variables stand still once the last worker is done; then all test the same model.
  const std::int64_t all = line.all() * me.workers();
  wait_until([&] { return sess.run(step) >= all; }, me.name(), "the other workers to be done", seconds(600));
  const double took = line.seconds();
  if (me.is_chief()) fmt::print("{} steps in all, {:.1f} s, {:.0f} steps/s\n", all, took, all / took);
  fmt::print("{}: test accuracy {:.4f}\n", me.name(), mnist::test(sess, m, digits.test));
}
