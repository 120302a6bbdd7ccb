// Expressions, variables and operations of another graph, given to every function that takes one. The nodes of the two
// graphs have the same numbers, dtypes and shapes: a number that is taken without its graph names another node.
#include <pinion/runtime/partial_run.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/caught.hpp"

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct other_model {
  graph g;
  expr<float> x, rows;
  expr<bool> yes;
  expr<std::int64_t> whole;
  variable_handle<float> v;
  variable_handle<std::int64_t> step;
  expr<float> loss;
  operation target;
  expr<std::string> summary;

  other_model() {
    const auto use = g.as_default();
    x = constant<float>({7, 7}, "x");
    rows = constant<float>({{1, 2}, {3, 4}}, "rows");
    yes = constant(true, "yes");
    whole = constant(std::int64_t{0}, "whole");
    v = variable(tensor<float>::of({1, 2}), {.name = "v"});
    step = tr::get_or_create_global_step();
    loss = reduce_sum(square(v) * x);
    target = no_op("target");
    summary = tr::summary::scalar("loss", loss);
  }
};

struct use {
  const char* name;
  std::function<void(other_model& here, other_model& far)> call;
};

const tr::gradient_descent& descent() {
  static const tr::gradient_descent one{{.learning_rate = .1}};
  return one;
}
std::vector<tr::gradient_of_variable> gradients_in(other_model& m) {
  const auto use = m.g.as_default();
  return descent().compute_gradients(m.loss);
}

// One step of a monitored session.
void train(other_model& here, tr::monitored_session_options o) {
  tr::monitored_training_session sess{std::move(o)};
  sess.run(here.target);
}
void train_with(other_model& here, tr::any_hook hook) {
  train(here, {.hooks = {std::move(hook)}});
}
void train_by(other_model& here, const std::function<void(tr::scaffold&)>& make) {
  tr::monitored_session_options o;
  make(o.scaffold);
  train(here, std::move(o));
}

const std::vector<use>& uses() {
  static const std::vector<use> all{
      // values of nodes
      {"an operator", [](other_model& h, other_model& f) { (void)(h.x + f.x); }},
      {"matmul", [](other_model& h, other_model& f) { (void)matmul(h.rows, f.rows); }},
      {"select", [](other_model& h, other_model& f) { (void)select(f.yes, h.x, h.x); }},
      {"concat",
       [](other_model& h, other_model& f) {
         (void)concat({h.x, f.x}, 0);
       }},
      {"stack",
       [](other_model& h, other_model& f) {
         (void)stack({h.x, f.x});
       }},
      {"gather", [](other_model& h, other_model& f) { (void)gather(h.v, f.whole); }},
      {"gradients by", [](other_model& h, other_model& f) { (void)gradients(h.loss, f.v); }},
      {"gradients of", [](other_model& h, other_model& f) { (void)gradients(f.loss, h.v); }},
      {"assign", [](other_model& h, other_model& f) { (void)assign(h.v, f.x); }},
      {"assign_add", [](other_model& h, other_model& f) { (void)assign_add(h.v, f.x); }},
      {"assign_sub", [](other_model& h, other_model& f) { (void)assign_sub(h.v, f.x); }},
      {"assign of a variable", [](other_model& h, other_model& f) { (void)assign(h.v, f.v); }},
      {"an initial value", [](other_model&, other_model& f) { (void)variable(f.x); }},
      {"an initial value in parts",
       [](other_model&, other_model& f) {
         (void)partitioned_variable<float>(f.rows, {.name = "p", .partition = fixed_size_partitioner{2}});
       }},
      {"enqueue",
       [](other_model&, other_model& f) {
         const auto q = fifo_queue<float>({.capacity = 1, .shapes = {{2}}});
         (void)q.enqueue(f.x);
       }},
      {"enqueue_many",
       [](other_model&, other_model& f) {
         const auto q = fifo_queue<float>({.capacity = 1, .shapes = {{2}}});
         (void)q.enqueue_many(f.rows);
       }},
      // bodies
      {"cond yields",
       [](other_model& h, other_model& f) {
         (void)cond(
             h.yes, [&] { return f.x; }, [&] { return h.x; });
       }},
      {"cond uses",
       [](other_model& h, other_model& f) {
         (void)cond(
             h.yes, [&] { return h.x + f.x; }, [&] { return h.x; });
       }},
      {"while_loop begins with",
       [](other_model& h, other_model& f) {
         (void)while_loop([](auto i, auto) { return i < std::int64_t{2}; },
                          [](auto i, auto y) {
                            return std::tuple{i + std::int64_t{1}, y * 2.f};
                          },
                          h.whole, f.x);
       }},
      {"while_loop yields",
       [](other_model& h, other_model& f) {
         (void)while_loop([](auto y) { return reduce_sum(y) < 2.f; }, [&](auto) { return f.x; }, h.x);
       }},
      {"cond chooses by",
       [](other_model& h, other_model& f) {
         (void)cond(
             f.yes, [&] { return h.x; }, [&] { return h.x * 2.f; });
       }},
      {"cond chooses by, and uses",
       [](other_model& h, other_model& f) {
         (void)cond(
             f.yes, [&] { return f.x + h.x; }, [&] { return f.x; });
       }},
      {"cond chooses by, and reads",
       [](other_model& h, other_model& f) {
         (void)cond(
             f.yes, [&] { return h.v.read(); }, [&] { return f.x; });
       }},
      {"while_loop begins with, and uses",
       [](other_model& h, other_model& f) {
         (void)while_loop([](auto y) { return reduce_sum(y) < 2.f; }, [&](auto y) { return y + h.x; }, f.x);
       }},
      {"while_loop begins with, and asks",
       [](other_model& h, other_model& f) {
         (void)while_loop([&](auto y) { return reduce_sum(y) < reduce_sum(h.x); }, [](auto y) { return y * 2.f; }, f.x);
       }},
      {"dropout is switched by",
       [](other_model& h, other_model& f) { (void)nn::dropout(h.x, {.rate = .5, .training = f.yes}); }},
      {"batch_norm is switched by",
       [](other_model& h, other_model& f) { (void)nn::batch_norm(h.rows, {.training = f.yes}); }},
      {"a node under control_dependencies of the default graph",
       [](other_model& h, other_model& f) {
         const control_dependencies after{h.target};
         (void)(f.x + 1.f);
       }},
      {"a node under colocate_with of the default graph",
       [](other_model& h, other_model& f) {
         const colocate_with near{operation(h.v)};
         (void)(f.x + 1.f);
       }},
      // scopes and operations
      {"group", [](other_model& h, other_model& f) { (void)group(h.target, f.target); }},
      {"control_dependencies", [](other_model&, other_model& f) { const control_dependencies after{f.target}; }},
      {"colocate_with", [](other_model&, other_model& f) { const colocate_with near{operation(f.v)}; }},
      // steps
      {"a fetch", [](other_model&, other_model& f) { session().run(f.x); }},
      {"a fetched variable", [](other_model&, other_model& f) { session().run(f.v); }},
      {"a target", [](other_model&, other_model& f) { session().run(f.target); }},
      {"a feed",
       [](other_model& h, other_model& f) {
         session().run({{f.x, tensor<float>::of({1, 2})}}, h.x);
       }},
      {"a callable's feed",
       [](other_model& h, other_model& f) { (void)session().make_callable(feeds(f.x), fetches(h.x)); }},
      {"a callable's fetch",
       [](other_model& h, other_model& f) { (void)session().make_callable(feeds(h.x), fetches(f.x)); }},
      {"a callable's target",
       [](other_model& h, other_model& f) {
         (void)session().make_callable(feeds(h.x), fetches(h.x), targets(f.target));
       }},
      {"a partial run",
       [](other_model& h, other_model& f) {
         session s;
         const partial_run run(s, feeds(h.x), fetches(f.x));
       }},
      // training
      {"minimize by", [](other_model& h, other_model& f) { (void)descent().minimize(h.loss, {.variables = {f.v}}); }},
      {"minimize counts",
       [](other_model& h, other_model& f) { (void)descent().minimize(h.loss, {.global_step = f.step}); }},
      {"compute_gradients", [](other_model& h, other_model& f) { (void)descent().compute_gradients(h.loss, {f.v}); }},
      {"apply_gradients", [](other_model&, other_model& f) { (void)descent().apply_gradients(gradients_in(f)); }},
      {"change_gradients",
       [](other_model&, other_model& f) {
         (void)tr::change_gradients(gradients_in(f), [](auto g) { return g * 2.f; });
       }},
      {"a learning rate",
       [](other_model& h, other_model& f) { (void)tr::gradient_descent{{.learning_rate = f.loss}}.minimize(h.loss); }},
      {"clip_by_global_norm",
       [](other_model& h, other_model& f) {
         (void)tr::clip_by_global_norm(std::vector<expr<float>>{h.x, f.x}, 1);
       }},
      {"a decaying rate of an optimizer",
       [](other_model& h, other_model& f) {
         (void)tr::gradient_descent{{.learning_rate = tr::exponential_decay(.1, f.step)}}.minimize(h.loss);
       }},
      {"a loss", [](other_model& h, other_model& f) { (void)tr::mean_squared_error(h.x, f.x); }},
      {"a metric", [](other_model& h, other_model& f) { (void)tr::mean(h.x, {.weights = f.x}); }},
      {"accuracy", [](other_model& h, other_model& f) { (void)tr::accuracy(h.x, f.x); }},
      {"a runner's enqueue operations",
       [](other_model& h, other_model& f) {
         const fifo_queue<float> q({.capacity = 1, .shapes = {{}}});
         (void)tr::queue_runner(q, {h.target, f.target});
       }},
      {"a step of a runner",
       [](other_model& h, other_model& f) {
         const tr::queue_runner of_far = [&] {
           const auto there = f.g.as_default();
           return tr::queue_runner(fifo_queue<float>({.capacity = 1, .shapes = {{}}}), {f.target});
         }();
         tr::coordinator all;
         session s{{.graph = &h.g}};
         of_far.start(s, all);
         all.join();
       }},
      // hooks and scaffolds
      {"nan_tensor", [](other_model& h, other_model& f) { train_with(h, tr::nan_tensor(f.loss)); }},
      {"logging_tensor",
       [](other_model& h, other_model& f) {
         train_with(h, tr::logging_tensor({{"loss", f.loss}}, {.every_n_iter = 1}));
       }},
      {"progress_bar", [](other_model& h, other_model& f) { train_with(h, tr::progress_bar({.loss = f.loss})); }},
      {"feed_fn",
       [](other_model& h, other_model& f) {
         train_with(h, tr::feed_fn([&] { return std::vector<feed>{{f.x, tensor<float>::of({1, 2})}}; }));
       }},
      {"final_ops",
       [](other_model& h, other_model& f) {
         tr::monitored_training_session sess{{.hooks = {tr::final_ops({.fetches = {f.x}})}}};
         sess.run(h.target);
         sess.close();
       }},
      {"early_stopping saves",
       [](other_model& h, other_model& f) {
         train_with(h,
                    tr::early_stopping({.metric = [](session&) { return 1.; },
                                        .every_n_steps = 1,
                                        .saver = std::make_shared<tr::saver>(tr::saver_options{.variables = {f.v}})}));
       }},
      {"a scaffold's init_op",
       [](other_model& h, other_model& f) { train_by(h, [&](auto& s) { s.init_op = f.target; }); }},
      {"a scaffold's init_feeds",
       [](other_model& h, other_model& f) {
         train_by(h, [&](auto& s) { s.init_feeds = {{f.x, tensor<float>::of({1, 2})}}; });
       }},
      {"a scaffold's ready_op",
       [](other_model& h, other_model& f) { train_by(h, [&](auto& s) { s.ready_op = f.target; }); }},
      {"a scaffold's ready_for_local_init_op",
       [](other_model& h, other_model& f) { train_by(h, [&](auto& s) { s.ready_for_local_init_op = f.target; }); }},
      {"a scaffold's local_init_op",
       [](other_model& h, other_model& f) { train_by(h, [&](auto& s) { s.local_init_op = f.target; }); }},
      {"a monitored session's step",
       [](other_model&, other_model& f) { tr::monitored_training_session{{}}.run(f.target); }},
      {"weights of a loss",
       [](other_model& h, other_model& f) { (void)tr::mean_squared_error(h.x, h.x, {.weights = f.x}); }},
      {"merged summaries",
       [](other_model& h, other_model& f) {
         (void)tr::summary::merge({h.summary, f.summary});
       }},
      {"a saver's variables",
       [](other_model&, other_model& f) {
         session s;
         tr::saver{{.variables = {f.v}}}.save(s, "never/written");
       }},
      {"a saver's names",
       [](other_model&, other_model& f) {
         session s;
         tr::saver{{.names = {{"v", f.v}}}}.save(s, "never/written");
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("what belongs to another graph is refused by every function that takes one, by name") {
  for (const use& u : uses()) {
    other_model far, here;
    const auto in_use = here.g.as_default();
    INFO(u.name);
    CHECK(refusal([&] { u.call(here, far); }, errc::invalid_argument, "belongs to another graph than ",
                  "; each thread has a default graph of its own", "other_graphs_test.cpp:") == "");
  }
}

TEST_CASE("an assignment of what another thread made, in its own default graph, is refused") {
  graph g;
  const auto use = g.as_default();
  const auto before = constant<float>({1, 1}, "before");
  const auto v = variable(tensor<float>::of({0, 0}), {.name = "v"});
  session s;
  s.run(v.initializer());
  std::string said;
  std::thread([&] {
    const auto seven = constant<float>({7, 7}, "seven");
    said = failure([&] { s.run(assign(v, seven)); });
  }).join();
  CHECK(
      said ==
      "invalid_argument: 'seven' belongs to another graph than the node that takes it; each thread has a default graph "
      "of its own");
  CHECK(s.run(v) == tensor<float>::of({0, 0}));
}

TEST_CASE("an initializer made in another thread, whose graph has no variables, says of which graph it is") {
  graph g;
  const auto use = g.as_default();
  const auto v = variable(1.f, {.name = "v"});
  session s;
  std::string said;
  std::thread([&] { said = failure([&] { s.run(global_variables_initializer()); }); }).join();
  CHECK(said ==
        "invalid_argument: 'init' belongs to another graph than the session's; each thread has a default graph "
        "of its own");
}

TEST_CASE("a monitored session whose graph is gone refuses a step") {
  auto own = std::make_unique<graph>();
  std::optional<tr::monitored_training_session> sess;
  operation nothing;
  {
    const auto use = own->as_default();
    tr::get_or_create_global_step();
    nothing = no_op("nothing");
    sess.emplace(tr::monitored_session_options{.log_step_count_steps = 0, .log = tr::silent});
  }
  sess->run(nothing);
  own = nullptr;
  const error e = caught([&] { sess->run(run_request{}); });
  CHECK(e.code() == errc::failed_precondition);
  CHECK(e.sentence().find("whose graph is gone") != std::string_view::npos);
}
