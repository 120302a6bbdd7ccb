// Bodies of <pinion/train/replicas/sync_replicas.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <random>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/sync/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/train/replicas/sync_replicas.hpp>
#include <pinion/train/task_of.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

// Builds the nodes of a program piece by piece.
class sync_builder {
 public:
  sync_builder(const sync_replicas_options& o, const variable_handle<std::int64_t>& global_step, source_location where);

  // The accumulator of a variable's gradients, on the variable's device.
  node_id accumulator(node_id variable);
  operation push(node_id accumulator, const gradient_value& gradient, const expr<std::int64_t>& ticket);
  // A number that no other step of any replica has.
  expr<std::int64_t> next_ticket() { return assign_add(ticket_, std::int64_t{1}, where_); }

  // The end of a replica's step, which runs once all gradients are pushed.
  operation commit(const std::vector<operation>& pushed, const expr<std::int64_t>& ticket);
  void enter(sync_nodes& into);
  operation leave() { return make(op::barrier_leave::name, {{barrier_, 0}, replica_.read().endpoint(g_)}); }

  struct round {
    output step, tickets;
  };
  round take();
  gradient_value taken(node_id accumulator, const gradient_value& like, const round& r);
  // Lets all replicas go on, with the value that the global step has after an operation.
  operation advance(const operation& after, bool begins = false);
  // Resets barrier and accumulators to the value of the global step.
  operation start(const std::vector<node_id>& accumulators);
  operation stop(bool ended);
  expr<std::string> news();
  sync_replicas_counts counts();

 private:
  operation make(std::string_view op, std::vector<output> inputs, attributes attrs = {});
  node_id resource(std::string_view op, const std::string& what, attributes attrs, const std::string& shared_name);
  // A variable that each replica keeps for itself. Tickets begin at a random number, so that a replica that comes back
  // has new ones.
  variable_handle<std::int64_t> local(const std::string& what);

  const sync_replicas_options& o_;
  graph& g_;
  const variable_handle<std::int64_t> step_;
  const source_location where_;
  const operation here_;  // in the task of the replica
  variable_handle<std::int64_t> local_step_, replica_, ticket_;
  node_id barrier_ = no_node;
};

}  // namespace detail

PINION_DECL void sync_replicas_hook::after_create_session(session& on, coordinator& with) {
  if (is_chief_) on.run(nodes_->start);
  const std::string task = task_of(on, nodes_->entry.here);
  enter(on, with, task);
  with.launch("looks after the replicas",
              [n = nodes_, &on, &with, task, wakes = is_chief_, worker_timeout = worker_timeout_] {
                detail::look_after_others(on, with, n->entry.news, task, worker_timeout);
                if (wakes) on.run(n->wake);  // this wakes the thread of the updates, which waits for replicas
              });
  if (!is_chief_) return;
  with.launch("updates for the replicas", [n = nodes_, &on, &with] {
    try {
      while (!with.should_stop()) on.run(n->update);
    } catch (const error& e) {
      if (e.code() == errc::cancelled) return;  // end() stops the updates before the coordinator is stopped
      with.request_stop(e);
      on.cancel_steps(e);  // the step of this program may wait for an update, and there will be none
    }
  });
}

PINION_DECL void sync_replicas_hook::end(session& on) {
  on.run(nodes_->leave);
  if (is_chief_) on.run(nodes_->stop);
}

PINION_DECL void sync_replicas_hook::enter(session& on, const coordinator& with, const std::string& task) {
  const detail::replica_entry& entry = nodes_->entry;
  const auto until = std::chrono::steady_clock::now() + worker_timeout_;
  for (auto pause = std::chrono::milliseconds(10);; pause = std::min(2 * pause, std::chrono::milliseconds(500))) {
    const auto [replica, ended] = on.run({{entry.wanted, replica_}, {entry.task, tensor<std::string>(task)}}, entry.got,
                                         nodes_->ended, nodes_->enter);
    replica_ = std::int64_t(replica);
    if (std::int64_t(ended) == 0 || std::chrono::steady_clock::now() > until || with.wait_for_stop(pause)) return;
  }
}

}}}  // namespace pinion::v0::train

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL sync_builder::sync_builder(const sync_replicas_options& o, const variable_handle<std::int64_t>& global_step,
                                       source_location where)
    : o_(o), g_(global_step.owner()), step_(global_step), where_(where), here_(no_op(o.name + "/worker", where)) {
  {
    const colocate_with near(here_);
    local_step_ = local("local_step");
    replica_ = local("replica");
    ticket_ = local("ticket");
  }
  const colocate_with beside{operation(step_)};
  barrier_ =
      resource(op::replica_barrier::name, "barrier",
               {{"replicas_to_aggregate", o.replicas_to_aggregate}, {"total_num_replicas", o.total_num_replicas}},
               o.name + "/barrier");
}

PINION_DECL node_id sync_builder::accumulator(node_id variable) {
  const node v = g_[variable];
  const colocate_with near(operation(g_, variable));
  return resource(op::gradient_accumulator::name, "grad_accum",
                  {{"dtype", v.outputs[0].dtype}, {"shape", v.outputs[0].shape}}, v.name + "/grad_accum");
}

PINION_DECL operation sync_builder::push(node_id accumulator, const gradient_value& gradient,
                                         const expr<std::int64_t>& ticket) {
  const output a{accumulator, 0}, step = local_step_.read().endpoint(g_);
  if (gradient.is_sparse())
    return make(op::sparse_accumulator_apply::name, {a, step, ticket.endpoint(g_), gradient.indices, gradient.rows});
  return make(op::accumulator_apply::name, {a, step, ticket.endpoint(g_), gradient.dense});
}

PINION_DECL operation sync_builder::commit(const std::vector<operation>& pushed, const expr<std::int64_t>& ticket) {
  node_request r{
      .op = op::barrier_commit::name,
      .base_name = o_.name + "/commit",
      .inputs = {{barrier_, 0}, replica_.read().endpoint(g_), ticket.endpoint(g_), local_step_.read().endpoint(g_)},
      .where = where_};
  for (const operation& p : pushed) r.control_inputs.push_back(p.id(g_));
  const node_id committed = build(g_, std::move(r));
  return assign(local_step_, expr<std::int64_t>(g_, {committed, 0}), where_);
}

PINION_DECL void sync_builder::enter(sync_nodes& into) {
  replica_entry& entry = into.entry = make_entry(o_.name, here_, where_);
  const operation entered =
      make(op::barrier_enter::name, {{barrier_, 0}, entry.wanted.endpoint(g_), entry.task.endpoint(g_)});
  entry.got = {g_, {entered.id(g_), 1}};
  entry.news = news();
  into.ended = {g_, {entered.id(g_), 2}};
  const operation step = assign(local_step_, expr<std::int64_t>(g_, {entered.id(g_), 0}), where_);
  const operation replica = assign(replica_, entry.got, where_);
  into.enter = group(step, replica, ticket_.initializer());
}

PINION_DECL sync_builder::round sync_builder::take() {
  const operation taken = make(op::barrier_take::name, {{barrier_, 0}});
  return {{taken.id(g_), 0}, {taken.id(g_), 1}};
}

PINION_DECL gradient_value sync_builder::taken(node_id accumulator, const gradient_value& like, const round& r) {
  const bool sparse = like.is_sparse();
  const operation mean = make(sparse ? op::sparse_accumulator_take::name : op::accumulator_take::name,
                              {{accumulator, 0}, r.step, r.tickets}, {{"sum", o_.sum_gradients}});
  gradient_value y = like;
  if (sparse) {
    y.indices = {mean.id(g_), 0};
    y.rows = {mean.id(g_), 1};
  } else {
    y.dense = {mean.id(g_), 0};
  }
  return y;
}

PINION_DECL operation sync_builder::advance(const operation& after, bool begins) {
  const control_dependencies then{after};
  return make(op::barrier_advance::name, {{barrier_, 0}, step_.read(where_).endpoint(g_)}, {{"begins", begins}});
}

PINION_DECL operation sync_builder::start(const std::vector<node_id>& accumulators) {
  std::vector<operation> reset;
  for (const node_id a : accumulators)
    reset.push_back(make(op::accumulator_set_step::name, {{a, 0}, step_.read(where_).endpoint(g_)}));
  node_request all{.op = op::no_op::name, .base_name = o_.name + "/reset", .where = where_};
  for (const operation& r : reset) all.control_inputs.push_back(r.id(g_));
  return advance({g_, build(g_, std::move(all))}, true);
}

PINION_DECL operation sync_builder::stop(bool ended) {
  return make(op::barrier_stop::name, {{barrier_, 0}}, {{"ended", ended}});
}

PINION_DECL expr<std::string> sync_builder::news() {
  const operation expiry = make(op::barrier_expire::name, {{barrier_, 0}, replica_.read().endpoint(g_)},
                                {{"patience_ms", static_cast<std::int64_t>(o_.worker_timeout.count())}});
  return {g_, {expiry.id(g_), 0}};
}

PINION_DECL sync_replicas_counts sync_builder::counts() {
  const operation c = make(op::barrier_counts::name, {{barrier_, 0}});
  return {{g_, {c.id(g_), 0}}, {g_, {c.id(g_), 1}}};
}

PINION_DECL operation sync_builder::make(std::string_view op, std::vector<output> inputs, attributes attrs) {
  return {g_, build(g_, {.op = op,
                         .base_name = o_.name + "/" + std::string(op),
                         .inputs = std::move(inputs),
                         .attrs = std::move(attrs),
                         .where = where_})};
}

PINION_DECL node_id sync_builder::resource(std::string_view op, const std::string& what, attributes attrs,
                                           const std::string& shared_name) {
  attrs.set("shared_name", shared_name);
  return build(g_, {.op = op, .base_name = o_.name + "/" + what, .attrs = std::move(attrs), .where = where_});
}

PINION_DECL variable_handle<std::int64_t> sync_builder::local(const std::string& what) {
  std::random_device random;
  const std::int64_t first = what == "ticket" ? std::int64_t{random() >> 1} << 32 : 0;
  return variable(first, {.name = o_.name + "/" + what, .trainable = false, .local = true}, where_);
}

struct sync_nodes_in_the_making::state {
  state(const sync_replicas_options& o, const std::vector<gradient_of_variable>& gradients,
        const minimize_options& options, source_location where)
      : line(where), nothing(nullptr), builder(o, checked(options, gradients).global_step, where) {}
  static const minimize_options& checked(const minimize_options& options,
                                         const std::vector<gradient_of_variable>& gradients) {
    if (options.global_step.empty())
      throw error(errc::invalid_argument,
                  "sync_replicas counts steps: give it .global_step, as of tr::get_or_create_global_step()");
    if (gradients.empty()) throw error(errc::invalid_argument, "sync_replicas was given no gradients");
    return options;
  }

  const called_from line;
  const control_dependencies nothing;
  sync_builder builder;
  std::shared_ptr<sync_nodes> made = std::make_shared<sync_nodes>();
  std::vector<node_id> accumulators;
  std::vector<gradient_of_variable> means;
};

PINION_DECL sync_nodes_in_the_making::sync_nodes_in_the_making(const sync_replicas_options& o,
                                                               const std::vector<gradient_of_variable>& gradients,
                                                               const minimize_options& options, source_location where)
    : state_(std::make_shared<state>(o, gradients, options, where)) {
  state& s = *state_;
  const auto ticket = s.builder.next_ticket();
  std::vector<operation> pushed;
  for (const gradient_of_variable& one : gradients) {
    s.accumulators.push_back(s.builder.accumulator(one.variable));
    pushed.push_back(s.builder.push(s.accumulators.back(), one.gradient, ticket));
  }
  s.made->train = s.builder.commit(pushed, ticket);
  const auto round = s.builder.take();
  for (std::size_t i = 0; i < gradients.size(); ++i)
    s.means.push_back(
        {s.builder.taken(s.accumulators[i], gradients[i].gradient, round), gradients[i].variable, gradients[i].of});
}

PINION_DECL sync_nodes_in_the_making::~sync_nodes_in_the_making() = default;

PINION_DECL const std::vector<gradient_of_variable>& sync_nodes_in_the_making::means() const {
  return state_->means;
}

PINION_DECL std::shared_ptr<sync_nodes> sync_nodes_in_the_making::finish(const operation& updated) {
  state& s = *state_;
  s.made->update = s.builder.advance(updated);
  s.made->start = s.builder.start(s.accumulators);
  s.builder.enter(*s.made);
  s.made->leave = s.builder.leave();
  s.made->wake = s.builder.stop(false);
  s.made->stop = s.builder.stop(true);
  s.made->counts = s.builder.counts();
  return std::move(s.made);
}

}}}}  // namespace pinion::v0::train::detail
