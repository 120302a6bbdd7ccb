// Bodies of <pinion/runtime/session.hpp>.
#pragma once

#include <pinion/base/each_process.hpp>
#include <pinion/base/process.hpp>
#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/placement/plan/explain.hpp>
#include <pinion/runtime/direct_session.hpp>
#include <pinion/runtime/feed_check.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::shared_ptr<runtime::session_backend> session_link::expect(std::string_view who,
                                                                           source_location where) const {
  if (auto alive = backend_.lock()) return alive;
  throw error(errc::failed_precondition,
              std::string(who) +
                  " is wanted of a session that is gone: it was destroyed, or a monitored session put another in its "
                  "place when it recovered")
      .at_node("", "", to_string(where));
}

PINION_DECL value_on_device session_link::copy_on_device(const any_tensor& value, const device_spec& where) const {
  auto [there, name] = expect("a copy to a device")->to_device(value, where);
  return {std::move(there), name, name.empty() ? session_link() : *this};
}

PINION_DECL session_link::session_link(const session& s) : graph_(s.graph_), backend_(s.backend_) {}

PINION_DECL feed::feed(const any_expr& x, any_tensor v) : to(x), value(std::move(v)) {}
PINION_DECL feed::feed(const any_expr& x, const value_on_device& v)
    : to(x), value(v.value), device(v.device), of(v.of) {}

namespace detail {

inline std::shared_ptr<runtime::session_backend> make_backend(const session_options& options, graph& g) {
  auto made = options.target.empty() ? runtime::make_direct_session(options, g)
                                     : runtime::remote_scheme_of(options.target).make_session(options, g);
  return {made.release(), delete_where_made()};
}

}  // namespace detail

PINION_DECL session::session() : session(session_options{}) {}
PINION_DECL session::session(const session_options& options)
    : graph_(options.graph ? *options.graph : default_graph()), backend_(detail::make_backend(options, *graph_)) {}
PINION_DECL session::session(session&&) noexcept = default;

PINION_DECL session& session::operator=(session&& other) noexcept {
  session old(std::move(*this));
  graph_ = std::exchange(other.graph_, {});
  backend_ = std::move(other.backend_);
  return *this;
}

PINION_DECL session::~session() {
  if (backend_ && backend_->is_of_this_process()) backend_->close({});
}

PINION_DECL std::vector<any_tensor> session::run(const run_request& request) {
  runtime::step_signature signature;
  auto values = add_feeds(signature, request.feeds);
  for (const any_expr& f : request.fetches) {
    signature.fetches.push_back(runtime::end_in(graph_, f));
  }
  for (const operation& t : request.targets) runtime::fetch_end(t).add_to(signature, graph_);
  signature.check_values = request.check_values;
  return run_step(signature, values, request.trace);
}

PINION_DECL std::vector<any_tensor> session::run_ends(step_trace* trace, std::initializer_list<feed> feeds,
                                                      std::initializer_list<runtime::fetch_end> fetches) {
  runtime::step_signature signature;
  auto values = add_feeds(signature, feeds);
  for (const runtime::fetch_end& f : fetches) f.add_to(signature, graph_);
  return run_step(signature, values, trace);
}

PINION_DECL std::vector<any_tensor> session::add_feeds(runtime::step_signature& s, std::span<const feed> feeds) const {
  std::vector<any_tensor> values;
  for (const feed& f : feeds) {
    runtime::expect_fed(f.to, f.value);
    s.feeds.push_back(runtime::end_in(graph_, f.to));
    values.push_back(f.value);
    if (f.device.empty()) continue;
    if (f.of != session_link(*this))
      throw error(errc::invalid_argument,
                  "the value fed to '" + f.to.name() + "' lies on " + f.device + " of another session")
          .at_node(f.to.name(), f.to.op(), to_string(f.to.node().where));
    s.feed_devices.resize(s.feeds.size() - 1);
    s.feed_devices.push_back(f.device);
  }
  if (!s.feed_devices.empty()) s.feed_devices.resize(s.feeds.size());
  return values;
}

PINION_DECL plan session::plan_of(std::initializer_list<runtime::fetch_end> fetches) {
  runtime::step_signature signature;
  for (const runtime::fetch_end& f : fetches) f.add_to(signature, graph_);
  pinion::plan made = backend().plan(checked(signature));
  note_doubts(made, *graph_);
  note_recomputed(made, *graph_);
  return made;
}

PINION_DECL measured_costs session::measured_costs() {
  return backend().measured_costs();
}

PINION_DECL memory_use session::memory() {
  return backend().memory();
}

PINION_DECL std::vector<device_info> session::list_devices() {
  return backend().list_devices();
}

PINION_DECL void session::cancel_steps(const error& why) {
  backend().cancel_steps(why);
}

PINION_DECL void session::close(source_location where) {
  if (backend().is_of_this_process()) backend().close(where);
}

PINION_DECL void session::reset(const std::string& target, const std::vector<std::string>& containers,
                                const security_options& security) {
  runtime::remote_scheme_of(target).reset(target, containers, security);
}

PINION_DECL runtime::session_backend& session::backend() const {
  if (!backend_) throw error(errc::failed_precondition, "the session is closed");
  return *backend_;
}

PINION_DECL std::vector<any_tensor> session::run_step(const runtime::step_signature& s, std::span<any_tensor> values,
                                                      step_trace* trace) {
  const auto step = backend().prepare(checked(s));
  std::vector<any_tensor> results(s.fetches.size());
  backend().run(*step, values, results, trace);
  return results;
}

PINION_DECL const runtime::step_signature& session::checked(const runtime::step_signature& s) const {
  const graph_view g(*graph_);
  for (std::size_t i = 0; i < s.feeds.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (s.feeds[i] == s.feeds[k]) {
        const pinion::node& n = g[s.feeds[i].node];
        throw error(errc::invalid_argument, "'" + n.name + "' was fed twice").at_node(n.name, n.op, to_string(n.where));
      }
  if (s.fetches.empty() && s.targets.empty())
    throw error(errc::invalid_argument, "run() was given nothing to fetch or run");
  return s;
}

PINION_DECL void session_link::run(const operation& target) const {
  const auto backend = expect("'" + target.name() + "'");
  const auto step = backend->prepare({.feeds = {}, .fetches = {}, .targets = {runtime::end_in(graph_, target)}});
  backend->run(*step, {}, {}, nullptr);
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL prepared_call::prepared_call(const session& s, std::span<const any_expr> feeds,
                                         std::span<const any_expr> fetches, std::span<const operation> targets,
                                         source_location where)
    : session_(s), feeds_(feeds.begin(), feeds.end()), where_(where) {
  for (const any_expr& e : feeds) signature_.feeds.push_back(runtime::end_in(s.graph_, e));
  for (const any_expr& e : fetches) signature_.fetches.push_back(runtime::end_in(s.graph_, e));
  for (const operation& e : targets) signature_.targets.push_back(runtime::end_in(s.graph_, e));
  step_ = s.backend().prepare(s.checked(signature_));
}

PINION_DECL void prepared_call::operator()(std::span<any_tensor> fed, std::span<any_tensor> results) const {
  const auto backend = session_.expect("a call of a callable", where_);
  backend->expect_open();
  for (std::size_t i = 0; i < fed.size(); ++i) expect_fed(feeds_[i], fed[i]);
  auto step = step_.lock();
  if (!step) step = backend->prepare(signature_);
  backend->run(*step, fed, results, nullptr);
}

PINION_DECL std::unique_ptr<session_backend> make_direct_session(const session_options& options, graph& g) {
  return std::make_unique<direct_session>(options, g);
}

}}}  // namespace pinion::v0::runtime
