// Bodies of <pinion/runtime/partial_run.hpp>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>

#include <pinion/graph/traverse.hpp>
#include <pinion/runtime/feed_check.hpp>
#include <pinion/runtime/partial_run.hpp>
#include <pinion/runtime/partial_run_backend.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// An end of a partial run.
struct partial_end {
  std::string name, op, where;
  std::vector<std::size_t> needs = {};  // the feeds without which it cannot be computed, by number
  bool used = false;                    // it was fed, fetched or run
};

inline partial_end end_of(graph_view g, node_id id, int index = 0) {
  const node& n = g[id];
  return {output_name(n, index), n.op, to_string(n.where)};
}

inline std::vector<std::size_t> feeds_behind(graph_view g, const runtime::step_signature& s,
                                             const std::vector<output>& fetches, const std::vector<node_id>& targets) {
  std::vector<bool> found(s.feeds.size());
  const auto note = [&](const output& o) {
    const auto at = std::find(s.feeds.begin(), s.feeds.end(), o);
    if (at != s.feeds.end()) found[static_cast<std::size_t>(at - s.feeds.begin())] = true;
  };
  for (const output& o : fetches) note(o);
  for (const node_id id : ancestors(g, fetches, targets, s.feeds))
    for (const output& in : g[id].inputs) note(in);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) numbers.push_back(i);
  return numbers;
}

}  // namespace detail

// The run, and the ends that were used so far.
struct partial_run::inside {
  // The ends that one call names, by their numbers, and the values that it feeds.
  struct named {
    std::vector<std::size_t> feeds, fetches, targets;
    std::vector<any_tensor> values;
  };

  session_link session;
  source_location where;
  runtime::step_signature signature;
  std::vector<detail::partial_end> feeds = {}, fetches = {}, targets = {};
  std::shared_ptr<runtime::partial_run_backend> run = {};
  std::mutex mutex = {};  // guards what is used

  ~inside() {
    if (run) run->fail(error(errc::cancelled, "the partial run was given up before all of it had run"));
  }

  void list_ends(graph_view g) {
    for (const output& o : signature.feeds) feeds.push_back(detail::end_of(g, o.node, o.index));
    for (const output& o : signature.fetches) {
      fetches.push_back(detail::end_of(g, o.node, o.index));
      fetches.back().needs = detail::feeds_behind(g, signature, {o}, {});
    }
    for (const node_id t : signature.targets) {
      targets.push_back(detail::end_of(g, t));
      targets.back().needs = detail::feeds_behind(g, signature, {}, {t});
    }
  }

  // Looks up what a call asks for, and notes that it is used. Throws, and notes nothing, if that cannot be.
  named use(graph& g, std::initializer_list<feed> values, const runtime::step_signature& asked) {
    std::lock_guard hold(mutex);
    named call;
    for (const feed& f : values) use_feed(g, f, call);
    for (const output& o : asked.fetches) {
      const auto n = number_of(
          signature.fetches, o, [&] { return detail::end_of(g, o.node, o.index); }, "fetches");
      add(call.fetches, fetches, n, "fetched");
    }
    for (const node_id t : asked.targets)
      add(call.targets, targets,
          number_of(
              signature.targets, t, [&] { return detail::end_of(g, t); }, "targets"),
          "run");
    if (call.feeds.empty() && call.fetches.empty() && call.targets.empty())
      throw error(errc::invalid_argument, "a call of a partial run was given nothing to feed, fetch or run")
          .called_at(to_string(where));
    for (const std::size_t n : call.fetches) expect_fed(fetches[n], call);
    for (const std::size_t n : call.targets) expect_fed(targets[n], call);
    note(call);
    return call;
  }

 private:
  void use_feed(graph& g, const feed& f, named& call) const {
    runtime::expect_fed(f.to, f.value);
    const output o = runtime::end_in(g, f.to);
    const auto n = number_of(
        signature.feeds, o, [&] { return detail::end_of(g, o.node, o.index); }, "feeds");
    if (!f.device.empty())
      refuse(feeds[n], "takes a value in host memory in a partial run, and this one lies on " + f.device);
    add(call.feeds, feeds, n, "fed");
    call.values.push_back(f.value);
  }
  // The number of an end; `as_end` is called to name one that is not there.
  template <class Id, class AsEnd>
  std::size_t number_of(const std::vector<Id>& all, const Id& id, const AsEnd& as_end, const std::string& kind) const {
    const auto at = std::find(all.begin(), all.end(), id);
    if (at == all.end()) refuse(as_end(), "is not among the " + kind + " that the partial run was made with");
    return static_cast<std::size_t>(at - all.begin());
  }
  void add(std::vector<std::size_t>& numbers, const std::vector<detail::partial_end>& ends, std::size_t n,
           const std::string& what) const {
    if (ends[n].used || std::find(numbers.begin(), numbers.end(), n) != numbers.end())
      refuse(ends[n], "was " + what + " already, and can be once in a partial run");
    numbers.push_back(n);
  }
  void expect_fed(const detail::partial_end& e, const named& call) const {
    for (const std::size_t n : e.needs)
      if (!feeds[n].used && std::find(call.feeds.begin(), call.feeds.end(), n) == call.feeds.end())
        refuse(e, "needs '" + feeds[n].name + "', which must be fed first");
  }
  void note(const named& call) {
    for (const std::size_t n : call.feeds) feeds[n].used = true;
    for (const std::size_t n : call.fetches) fetches[n].used = true;
    for (const std::size_t n : call.targets) targets[n].used = true;
  }
  [[noreturn]] void refuse(const detail::partial_end& e, const std::string& sentence) const {
    throw error(errc::invalid_argument,
                "'" + e.name + "' " + sentence + " (the partial run was made at " + to_string(where) + ")")
        .at_node(e.name, e.op, e.where);
  }
};

PINION_DECL partial_run::partial_run(session& s, const std::vector<any_expr>& feeds,
                                     const std::vector<any_expr>& fetches, const std::vector<operation>& targets,
                                     source_location where)
    : in_(new inside{session_link(s), where, {}}) {
  graph& g = s.graph();
  runtime::step_signature& signature = in_->signature;
  const auto add = [](auto& all, const auto& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  for (const any_expr& e : feeds) signature.feeds.push_back(runtime::end_in(g, e));
  for (const any_expr& e : fetches) add(signature.fetches, runtime::end_in(g, e));
  for (const operation& o : targets) add(signature.targets, runtime::end_in(g, o));
  s.checked(signature);
  in_->list_ends(g);
  in_->run = s.backend().begin_partial_run(signature);
}

PINION_DECL partial_run::partial_run(partial_run&&) noexcept = default;
PINION_DECL partial_run& partial_run::operator=(partial_run&&) noexcept = default;
PINION_DECL partial_run::~partial_run() = default;

PINION_DECL std::vector<any_tensor> partial_run::call(std::initializer_list<feed> feeds,
                                                      std::initializer_list<runtime::fetch_end> fetches) {
  if (!in_) throw error(errc::failed_precondition, "a call is made of a partial run that was moved from");
  const auto backend = in_->session.expect("a call of a partial run", in_->where);
  backend->expect_open();
  runtime::partial_run_backend& run = *in_->run;
  run.expect_well();
  graph& g = *in_->session.graph_;
  runtime::step_signature asked;
  for (const runtime::fetch_end& f : fetches) f.add_to(asked, g);
  auto named = in_->use(g, feeds, asked);
  for (std::size_t i = 0; i < named.feeds.size(); ++i) run.feed(named.feeds[i], std::move(named.values[i]));
  return run.await(named.fetches, named.targets);
}

}}  // namespace pinion::v0
