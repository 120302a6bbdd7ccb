// The session: what a user runs a graph with.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/source/spelling.hpp>
#include <pinion/op/variable/spelling.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/fed_value.hpp>
#include <pinion/runtime/fetches.hpp>
#include <pinion/tensor/take_tuple.hpp>

namespace pinion { inline namespace v0 {

namespace runtime {
// Makes the session of this process.
std::unique_ptr<session_backend> make_direct_session(const session_options& options, graph& g);
class prepared_call;
}  // namespace runtime

class session;
struct value_on_device;
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class device_tensor;

// A session as those know it who may outlive it: threads that run its steps, callables, values on its devices. A value;
// copies are the same. Thread-safe. Once the session is gone, what is asked of it throws failed_precondition.
class session_link {
 public:
  session_link() = default;
  explicit session_link(const session& s);

  // They do what session::run and session::to_device do.
  void run(const operation& target) const;
  template <element T>
  device_tensor<T> to_device(const tensor<T>& value, const device_spec& where) const {
    return copy_on_device(value.untyped(), where);
  }

  friend bool operator<(const session_link& a, const session_link& b) { return a.backend_.owner_before(b.backend_); }
  friend bool operator==(const session_link& a, const session_link& b) { return !(a < b) && !(b < a); }

 private:
  friend class session;
  friend class runtime::prepared_call;
  value_on_device copy_on_device(const any_tensor& value, const device_spec& where) const;
  // `who` needs it, and was made there.
  std::shared_ptr<runtime::session_backend> expect(const std::string& who, const std::string& where = {}) const;

  graph_ref graph_;
  std::weak_ptr<runtime::session_backend> backend_;
};

// A value in the memory of a device, whatever its elements.
struct value_on_device {
  any_tensor value;
  std::string device;  // "" where it lies on the host, as for a CPU
  session_link of;     // whose device that is
};

// A value in the memory of a device, made by session::to_device, to be fed to steps of that session without a copy. A
// value; copies share the memory, and keep it where they outlive the session.
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class device_tensor {
 public:
  const pinion::shape& shape() const { return there_.value.shape(); }
  // "" where it lies on the host, as for a CPU.
  const std::string& device() const { return there_.device; }
  const any_tensor& untyped() const { return there_.value; }

 private:
  friend class session_link;
  friend struct feed;
  device_tensor(value_on_device there) : there_(std::move(there)) {}
  value_on_device there_;
};

namespace runtime {
// Is V nothing that could be fed to an dsl::expression of T?
template <class V, class T>
concept misfit = !std::is_convertible_v<const V&, fed_value<T>> && !std::is_same_v<V, device_tensor<T>> &&
                 !std::is_same_v<V, any_tensor>;

template <class>
using braced_for = dsl::braced;
}  // namespace runtime

// One value for one output of the graph: {X, batch}. The dtype is checked by the compiler, the shape when it runs.
struct feed {
  any_expr to;
  any_tensor value;
  std::string device = {};  // on which it lies; "": on the host
  session_link of = {};     // whose device that is

  template <dsl::graph_operand E>
  feed(const E& x, fed_value<dsl::value_of<E>> v) : feed(end_of(x), std::move(v).take()) {}
  template <dsl::graph_operand E>
  feed(const E& x, const device_tensor<dsl::value_of<E>>& v) : feed(end_of(x), v.there_) {}
  template <dsl::graph_operand E, class V>
  requires runtime::misfit<V, dsl::value_of<E>> PINION_REFUSED_CONSTRUCTOR(
      "a feed has the dtype of what it is fed to: a pn::tensor, vector, span or nested braces of it, or a scalar")
  feed(const E&, const V&);
  PINION_REFUSED_CONSTRUCTOR("these braces hold what does not convert to the dtype of what they are fed to")
  feed(const any_expr&, const dsl::braces&);
  // Of a dtype known only when the program runs, and checked then.
  feed(const any_expr& x, any_tensor v);
  feed(const any_expr& x, const value_on_device& v);

 private:
  static const any_expr& end_of(const any_expr& x) { return x; }
  static any_expr end_of(const any_variable& v) { return v.read({}); }
  template <dsl::partitioned E>
  static any_expr end_of(const E& x) {
    return x.read({});
  }
};

// A step whose ends are known only when the program runs.
struct run_request {
  std::vector<feed> feeds = {};
  std::vector<any_expr> fetches = {};
  std::vector<operation> targets = {};
  step_trace* trace = nullptr;  // where the step is written down, if it is to be
};

// The ends of a callable, made by pn::feeds, pn::fetches and pn::targets.
template <class... T>
struct feed_list {
  std::vector<any_expr> ends;
};
template <class... F>
struct fetch_list {
  std::vector<any_expr> ends;
};
struct target_list {
  std::vector<operation> ends;
};
template <dsl::graph_operand... E>
feed_list<dsl::value_of<E>...> feeds(const E&... ends) {
  return {{dsl::endpoint_of(ends)...}};
}
template <dsl::graph_operand... E>
fetch_list<dsl::value_of<E>...> fetches(const E&... ends) {
  return {{dsl::endpoint_of(ends)...}};
}
template <class... O>
requires(std::is_convertible_v<const O&, operation>&&...) target_list targets(const O&... ends) {
  return {{operation(ends)...}};
}

template <class Feeds, class Fetches>
class callable;

// Runs parts of one graph on the devices of this process, or of a cluster. Owns its state (variables, compiled steps);
// refers to its graph, which must outlive it. Thread-safe: steps run concurrently and share variables; but no thread
// may build the graph meanwhile. Everything it throws is pn::error. Its destructor closes it.
class session {
 public:
  session();
  explicit session(const session_options& options);
  session(session&&) noexcept;
  session& operator=(session&& other) noexcept;
  // Steps that others run meanwhile, through a callable, are cancelled and waited for.
  ~session();

  // Runs what is fetched and what that needs. Expressions yield their values as tensors, operations yield nothing.
  template <runtime::fetchable... F>
  auto run(const F&... fetches) {
    return run(std::initializer_list<feed>{}, fetches...);
  }
  // The same with values for placeholders, or for any other expression, whose producer then does not run.
  template <runtime::fetchable... F>
  auto run(std::initializer_list<feed> feeds, const F&... fetches) {
    return runtime::taken<F...>(run_ends(nullptr, feeds, {fetches...}));
  }
  // The same, and writes down what ran where and when. That costs some time; `trace` is what it was where the step
  // fails.
  template <runtime::fetchable... F>
  auto run(step_trace& trace, const F&... fetches) {
    return runtime::taken<F...>(run_ends(&trace, {}, {fetches...}));
  }
  template <runtime::fetchable... F>
  auto run(step_trace& trace, std::initializer_list<feed> feeds, const F&... fetches) {
    return runtime::taken<F...>(run_ends(&trace, feeds, {fetches...}));
  }
  // The same, untyped: yields what is fetched, in order.
  std::vector<any_tensor> run(const run_request& request);

  // A step prepared once and called often, typed: callable(batch, labels) gives a tuple of what it fetches.
  template <class... X, class... F>
  callable<feed_list<X...>, fetch_list<F...>> make_callable(const feed_list<X...>& feeds,
                                                            const fetch_list<F...>& fetches,
                                                            const target_list& targets = {},
                                                            source_location where = source_location::current()) {
    return {*this, feeds, fetches, targets, where};
  }

  // A copy of a value in the memory of a device, for steps to come: to_device(batch, "/gpu:0"). It returns at once
  // where the device has a stream, which copies before it runs those steps; for a CPU it is the value itself. Throws
  // invalid_argument where no device of the session fits, or for text; unimplemented for a session on a cluster.
  template <element T>
  device_tensor<T> to_device(const tensor<T>& value, const device_spec& where) {
    return session_link(*this).to_device(value, where);
  }
  template <element T>
  device_tensor<T> to_device(const tensor<T>& value, std::string_view where) {
    return to_device(value, parse_device(where));
  }

  // Where each node would go, and why, without running anything.
  template <runtime::fetchable... F>
  pinion::plan plan(const F&... fetches) {
    return plan_of({fetches...});
  }

  // What the nodes of its steps took so far, for a cost model and to be kept in a file. Throws failed_precondition for
  // a session that was not made with .record_costs, unimplemented for one on a cluster.
  pinion::measured_costs measured_costs();

  std::vector<device_info> list_devices();
  // Running steps fail with an error; the session stays open.
  void cancel_steps(const error& why);
  // Cancels running steps and waits for them. Later calls throw failed_precondition; closing twice is harmless.
  void close(source_location where = source_location::current());
  pinion::graph& graph() const { return *graph_; }

  // Forgets the variables of some containers on every task of a cluster, or all of them, and closes the sessions of the
  // target's master; others find their variables uninitialised.
  static void reset(const std::string& target, const std::vector<std::string>& containers = {},
                    const security_options& security = {});

 private:
  friend class session_link;
  friend class runtime::prepared_call;

  runtime::session_backend& backend() const;
  std::vector<any_tensor> run_ends(step_trace* trace, std::initializer_list<feed> feeds,
                                   std::initializer_list<runtime::fetch_end> fetches);
  pinion::plan plan_of(std::initializer_list<runtime::fetch_end> fetches);
  std::vector<any_tensor> add_feeds(runtime::step_signature& s, std::span<const feed> feeds) const;
  std::vector<any_tensor> run_step(const runtime::step_signature& s, std::span<const any_tensor> values,
                                   step_trace* trace);
  const runtime::step_signature& checked(const runtime::step_signature& s) const;

  graph_ref graph_;
  std::shared_ptr<runtime::session_backend> backend_;  // others hold it while they run a step
};

namespace runtime {

// A prepared step, whatever its types: what a callable is over.
class prepared_call {
 public:
  prepared_call(const session& s, std::span<const any_expr> feeds, std::span<const any_expr> fetches,
                std::span<const operation> targets, source_location where);
  std::vector<any_tensor> operator()(std::span<const any_tensor> fed) const;

 private:
  session_link session_;
  step_signature signature_;
  std::vector<any_expr> feeds_;
  source_location where_;
  std::weak_ptr<prepared_step> step_;  // the session owns it: its memory is that of the session's devices
};

}  // namespace runtime

// A prepared step with typed arguments; thread-safe as the session is. Once its session, or the graph of what it feeds,
// is gone, a call throws failed_precondition.
template <class... X, class... F>
class callable<feed_list<X...>, fetch_list<F...>> {
  template <class... V>
  static constexpr bool callable_with() {
    if constexpr (sizeof...(V) == sizeof...(X))
      return (std::is_convertible_v<const V&, fed_value<X>> && ...);
    else
      return false;
  }

 public:
  callable(session& s, const feed_list<X...>& feeds, const fetch_list<F...>& fetches, const target_list& targets,
           source_location where = source_location::current())
      : call_(s, feeds.ends, fetches.ends, targets.ends, where) {}

  std::tuple<tensor<F>...> operator()(fed_value<X>... values) const {
    const std::array<any_tensor, sizeof...(X)> fed{std::move(values).take()...};
    auto results = call_(fed);
    return take_tuple<std::tuple<tensor<F>...>>(results);
  }
  template <class... V>
  requires(!callable_with<V...>()) PINION_REFUSED(
      "a callable takes one value for each of its feeds, of its dtype: a pn::tensor, vector, span or nested braces")
  operator()(const V&...) const PINION_REFUSAL;
  // Braces are of no type that the one above could have: a template, so that the one that runs is preferred.
  template <class = void>
  PINION_REFUSED("a callable takes one value for each of its feeds, and these braces hold what does not convert to it")
  operator()(const runtime::braced_for<X>&...) const PINION_REFUSAL;

 private:
  runtime::prepared_call call_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/session.ipp>
#endif
