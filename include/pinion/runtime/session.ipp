// Bodies of <pinion/runtime/session.hpp>.
#pragma once

#include <pinion/runtime/direct_session.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion::inline v0 {

PINION_DECL std::shared_ptr<runtime::session_backend> session_link::expect(const std::string& who,
                                                                           const std::string& where) const {
  if (auto alive = backend_.lock()) return alive;
  throw error(errc::failed_precondition,
              who +
                  " is wanted of a session that is gone: it was destroyed, or a monitored session put another in its "
                  "place when it recovered")
      .at_node("", "", where);
}

PINION_DECL session& session::operator=(session&& other) noexcept {
  session old(std::move(*this));
  graph_ = std::exchange(other.graph_, {});
  backend_ = std::move(other.backend_);
  return *this;
}

PINION_DECL session::~session() {
  if (backend_) backend_->close({});
}

PINION_DECL std::vector<any_tensor> session::run(const run_request& request) {
  runtime::step_signature signature;
  const auto values = add_feeds(signature, request.feeds);
  for (const any_expr& f : request.fetches) {
    check_owner(f);
    signature.fetches.push_back(f.endpoint());
  }
  for (const operation& t : request.targets) add_fetch(signature, t);
  return run_step(signature, values, request.trace);
}

PINION_DECL void session::reset(const std::string& target, const std::vector<std::string>& containers,
                                const security_options& security) {
  runtime::remote_scheme_of(target).reset(target, containers, security);
}

PINION_DECL std::unique_ptr<runtime::session_backend> session::make_backend(const session_options& options,
                                                                            pinion::graph& g) {
  if (options.target.empty()) return runtime::make_direct_session(options, g);
  return runtime::remote_scheme_of(options.target).make_session(options, g);
}

PINION_DECL runtime::session_backend& session::backend() const {
  if (!backend_) throw error(errc::failed_precondition, "the session is closed");
  return *backend_;
}

PINION_DECL std::vector<any_tensor> session::run_step(const runtime::step_signature& s,
                                                      std::span<const any_tensor> values, step_trace* trace) {
  const auto step = backend().prepare(checked(s));
  std::vector<any_tensor> results(s.fetches.size());
  backend().run(*step, values, results, trace);
  return results;
}

PINION_DECL void session::check_feed(const any_expr& to, const any_tensor& value) {
  if (to.empty()) throw error(errc::invalid_argument, "a feed for an expression that was never assigned");
  if (value.dtype() != to.dtype())
    throw error(errc::invalid_argument, "a value of " + std::string(to_string(value.dtype())) + " was fed to '" +
                                            to.name() + "', which is " + std::string(to_string(to.dtype())))
        .at_node(to.name(), to.op(), to_string(to.node().where));
  if (!fits(value.shape(), to.shape()))
    throw error(errc::invalid_argument, "a value of shape " + to_string(value.shape()) + " was fed to '" + to.name() +
                                            "', whose shape is " + to_string(to.shape()))
        .at_node(to.name(), to.op(), to_string(to.node().where));
}

PINION_DECL const runtime::step_signature& session::checked(const runtime::step_signature& s) const {
  graph_->settle();
  for (std::size_t i = 0; i < s.feeds.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (s.feeds[i] == s.feeds[k]) {
        const pinion::node& n = (*graph_)[s.feeds[i].node];
        throw error(errc::invalid_argument, "'" + n.name + "' was fed twice").at_node(n.name, n.op, to_string(n.where));
      }
  if (s.fetches.empty() && s.targets.empty())
    throw error(errc::invalid_argument, "run() was given nothing to fetch or run");
  return s;
}

PINION_DECL void session_link::run(const operation& target) const {
  const auto backend = expect("'" + target.name() + "'");
  session::check_owner(target, graph_.get());
  const auto step = backend->prepare({.feeds = {}, .fetches = {}, .targets = {target.id()}});
  backend->run(*step, {}, {}, nullptr);
}

}  // namespace pinion::inline v0

namespace pinion::inline v0::runtime {

PINION_DECL std::unique_ptr<session_backend> make_direct_session(const session_options& options, graph& g) {
  return std::make_unique<direct_session>(options, g);
}

}  // namespace pinion::inline v0::runtime
