// The session runs parts of a graph: it feeds values, fetches results, and owns the state between steps.
//
//   pn::session sess;
//   auto [loss_value, guess] = sess.run({{X, batch}, {Y, labels}}, loss, guesses);
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
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/placement/device_info.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/fed_value.hpp>
#include <pinion/runtime/fetches.hpp>
#include <pinion/tensor/take_tuple.hpp>

namespace pinion { inline namespace v0 {

namespace runtime {
// Makes the backend of a session that runs its steps on devices of this process.
std::unique_ptr<session_backend> make_direct_session(const session_options& options, graph& g);
class prepared_call;
}  // namespace runtime

class session;
struct value_on_device;
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class device_tensor;

// A weak reference to a session, held by code that may outlive it: threads that run its steps, callables, values on its
// devices. It is a value, keeps nothing alive, and its copies are equal. Thread-safe. After the session is gone, every
// call through the link throws failed_precondition.
//
// Callables and device tensors hold one. A thread of one's own may, too, where the session may be closed under it:
//
//   std::thread t([link = pn::session_link(sess), put] { link.run(put); });   // throws once `sess` is gone
class session_link {
 public:
  session_link() = default;
  explicit session_link(const session& s);

  // These two do the work of session::run and session::to_device.
  void run(const operation& target) const;
  template <element T>
  device_tensor<T> to_device(const tensor<T>& value, const device_spec& where) const;

  friend bool operator<(const session_link& a, const session_link& b) { return a.backend_.owner_before(b.backend_); }
  friend bool operator==(const session_link& a, const session_link& b) { return !(a < b) && !(b < a); }

 private:
  friend class session;
  friend class partial_run;
  friend class runtime::prepared_call;
  value_on_device copy_on_device(const any_tensor& value, const device_spec& where) const;
  // Returns the backend, or throws failed_precondition with a sentence that begins with `who` and names line `where`.
  std::shared_ptr<runtime::session_backend> expect(std::string_view who, source_location where = {}) const;

  graph_ref graph_;
  std::weak_ptr<runtime::session_backend> backend_;
};

// A value in the memory of a device, with its dtype known at run time only.
//
// Made for code that handles values of several dtypes; device_tensor has the dtype in its type.
struct value_on_device {
  any_tensor value;
  std::string device;  // "" if the value lies in host memory, as it does for a CPU
  session_link of;     // the session that owns the device
};

// A value that session::to_device has copied to a device, so that steps of that session take it without another copy.
// It is a value type: copies share the device memory and keep it alive, even after the session is gone. Feeding it to
// another session throws invalid_argument.
//
//   const auto there = sess.to_device(batch, "/gpu:0");
//   sess.run({{X, there}}, loss);
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class device_tensor {
 public:
  // The shape of the value, known without waiting for the copy.
  const pinion::shape& shape() const { return there_.value.shape(); }
  // The full name of the device; "" if the value lies in host memory, as it does for a CPU.
  const std::string& device() const { return there_.device; }
  // Returns the value without its static dtype. Unless device() is "", its elements are not in host memory, and the
  // program must not read them.
  const any_tensor& untyped() const { return there_.value; }

 private:
  friend class session_link;
  friend struct feed;
  device_tensor(value_on_device there) : there_(std::move(there)) {}
  value_on_device there_;
};

template <element T>
device_tensor<T> session_link::to_device(const tensor<T>& value, const device_spec& where) const {
  return copy_on_device(value.untyped(), where);
}

namespace runtime {
// V cannot be fed to an expression of T; such feeds are refused by a constructor whose message says why.
template <class V, class T>
concept misfit = !std::is_convertible_v<const V&, fed_value<T>> && !std::is_same_v<V, device_tensor<T>> &&
                 !std::is_same_v<V, any_tensor>;

template <class>
using braced_for = dsl::braced;
}  // namespace runtime

// A value for one expression of the graph: {X, batch}. The value takes the place of the expression, whose producer does
// not run. The compiler checks the dtype; session::run checks the shape and throws invalid_argument if it does not fit.
// A fed tensor is shared, not copied.
//
// The value may be a tensor, nested vectors or braces, or a number; a scalar placeholder takes {rate, .1f}. It refers
// to nothing of the caller's after it is made, except for the memory that a tensor shares. An end that is fed twice in
// one step throws invalid_argument.
struct feed {
  any_expr to;
  any_tensor value;
  std::string device = {};  // the device that holds the value; "": host memory
  session_link of = {};     // the session that owns the device

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
  // The dtype of this value is known at run time only; session::run throws invalid_argument if it is not that of `x`.
  // It has no check by the compiler, and serves programs that read names and values from elsewhere.
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

// A step whose feeds and fetches are known at run time only.
//
//   const std::vector<pn::any_tensor> values = sess.run({.feeds = {{X, batch}}, .fetches = {loss}});
//
// The ends belong to the session's graph; invalid_argument otherwise. A step with neither fetches nor targets is
// refused with that code, too. Fetching one expression twice yields its value twice, and computes it once.
struct run_request {
  std::vector<feed> feeds = {};         // each expression at most once
  std::vector<any_expr> fetches = {};   // values to return, in this order
  std::vector<operation> targets = {};  // operations to run, which return nothing
  step_trace* trace = nullptr;          // receives a record of the step; null: none is made
  bool check_values = false;            // fails at the first NaN or infinity, as session_options::check_values says
};

// The feeds, fetches and targets of a callable: the arguments of session::make_callable, made by pn::feeds, pn::fetches
// and pn::targets.
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
// A call of the callable then gives one value for each, in this order.
template <dsl::graph_operand... E>
feed_list<dsl::value_of<E>...> feeds(const E&... ends) {
  return {{dsl::endpoint_of(ends)...}};
}
template <dsl::graph_operand... E>
fetch_list<dsl::value_of<E>...> fetches(const E&... ends) {
  return {{dsl::endpoint_of(ends)...}};
}
// Expressions and variables convert to operations, and their values are then not returned.
template <class... O>
requires(std::is_convertible_v<const O&, operation>&&...) target_list targets(const O&... ends) {
  return {{operation(ends)...}};
}

template <class Feeds, class Fetches>
class callable;

// Runs parts of one graph, on devices of this process or of a cluster.
//
// Ownership: a session owns its variables, queues and compiled steps. It refers to its graph, which must outlive it;
// once the graph is gone, run() throws failed_precondition. The destructor closes the session.
//
// Threads: thread-safe. Steps of several threads run concurrently and share the variables. While steps run, no thread
// may add to the graph.
//
// Errors: every failure is thrown as pn::error. The common codes are invalid_argument (a feed that does not fit, or an
// expression of another graph), failed_precondition (the session is closed), cancelled (it was closed while the step
// ran), deadline_exceeded (options.startup_timeout and operation_timeout), and on a cluster unavailable and aborted (a
// task is gone, or was restarted).
//
// A step runs every node that its fetches and targets need, each once, as soon as its inputs are there; nodes that
// neither depend on each other nor are ordered by control_dependencies may run at the same time. The first run of a set
// of fetches and feeds places and compiles it, and later runs reuse that, so a loop should fetch the same expressions
// every time and feed what changes. An error of a node fails the step: it names the node, the line that made it and its
// device, and assignments that had run before stay done.
//
//   pn::session sess;
//   sess.run(pn::global_variables_initializer());
//   for (int i = 0; i < 1000; ++i) sess.run({{X, batch(i)}, {Y, labels(i)}}, train);
//   float now = sess.run({{X, test}, {Y, truth}}, loss);            // one fetch: a tensor, and a scalar converts
//   auto [l, a] = sess.run({{X, test}, {Y, truth}}, loss, accuracy); // several: a tuple; operations yield nothing
class session {
 public:
  // Makes a session of this process with the default graph of the calling thread and default options.
  // It opens one CPU device, and threads for each core of the machine.
  session();
  // Makes a session. A session on a cluster does not connect yet: its first call waits for the target. Throws
  // invalid_argument for a target of another form than "pinion://host:port", or for options that the machine does not
  // meet; failed_precondition for a target if no source file of the program includes <pinion/distributed.hpp>.
  // Designators name the options that differ from their defaults: session sess{{.graph = &g, .cpu_devices = 2}}.
  explicit session(const session_options& options);
  // Moving leaves the source closed; the session that is assigned to is closed. No other thread may use either
  // meanwhile.
  session(session&&) noexcept;
  session& operator=(session&& other) noexcept;
  // Closes the session: steps that run meanwhile, through a callable, are cancelled and waited for.
  ~session();

  // Runs the fetched nodes and everything they depend on, and returns when all of it has ended. An expression or
  // variable yields its value as a tensor, an operation yields nothing; several values are returned as a tuple.
  // Throws invalid_argument where a placeholder that is needed was not fed, failed_precondition where a variable has no
  // value yet, out_of_range where a queue is closed and empty.
  template <runtime::fetchable... F>
  auto run(const F&... fetches) {
    return run(std::initializer_list<feed>{}, fetches...);
  }
  // Also feeds values to placeholders, or to any other expression; the producer of a fed expression does not run.
  // The shape of each value must fit that of the expression: {pn::unknown, 784} takes [50, 784] and [10, 784].
  template <runtime::fetchable... F>
  auto run(std::initializer_list<feed> feeds, const F&... fetches) {
    return runtime::taken<F...>(run_ends(nullptr, feeds, {fetches...}));
  }
  // Also records in `trace` which node ran where and when, which takes some time. If the step fails, it has what ran
  // before and tells at which node, and it is unchanged if the step did not begin. On a cluster it then has what the
  // tasks tell that still answer.
  // See runtime/step/step_trace.hpp for the record and its forms.
  template <runtime::fetchable... F>
  auto run(step_trace& trace, const F&... fetches) {
    return runtime::taken<F...>(run_ends(&trace, {}, {fetches...}));
  }
  template <runtime::fetchable... F>
  auto run(step_trace& trace, std::initializer_list<feed> feeds, const F&... fetches) {
    return runtime::taken<F...>(run_ends(&trace, feeds, {fetches...}));
  }
  // Runs a step known at run time only. Returns the fetched values in the order of request.fetches.
  // Values are in host memory, each of the dtype of its expression.
  std::vector<any_tensor> run(const run_request& request);

  // Prepares a step once, to be called often: callable(batch, labels) returns a tuple of the fetched values. The
  // session keeps the step; the callable may outlive the session, but cannot be called then.
  //
  //   const auto step = sess.make_callable(pn::feeds(X, Y), pn::fetches(loss), pn::targets(train));
  //   const auto [value] = step(batch, labels);
  //
  // A call takes the way of run() without looking its step up by name, so it suits loops of short steps. Throws
  // invalid_argument for an end of another graph and for one that is fed twice.
  template <class... X, class... F>
  callable<feed_list<X...>, fetch_list<F...>> make_callable(const feed_list<X...>& feeds,
                                                            const fetch_list<F...>& fetches,
                                                            const target_list& targets = {},
                                                            source_location where = source_location::current()) {
    return {*this, feeds, fetches, targets, where};
  }

  // Copies a value to the memory of the first device that fits `where`, for later steps: to_device(batch, "/gpu:0"). On
  // a device with a stream it returns at once, and the stream copies before it runs those steps; on a CPU it shares the
  // value. Throws invalid_argument if no device of the session fits or the elements are strings, unimplemented for a
  // session on a cluster.
  // A bad device string throws invalid_argument.
  template <element T>
  device_tensor<T> to_device(const tensor<T>& value, const device_spec& where) {
    return session_link(*this).to_device(value, where);
  }
  template <element T>
  device_tensor<T> to_device(const tensor<T>& value, std::string_view where) {
    return to_device(value, parse_device(where));
  }

  // Returns the device of each node that run() would need, with the reason, without running anything. The plan is of
  // the step as run() would optimize it. A later step with these fetches is placed as its plan said, unless the graph
  // changed in between or another step placed its nodes. Throws what run() would throw for a node that cannot be
  // placed.
  //
  //   fmt::print("{}\n", sess.plan(loss, train));
  template <runtime::fetchable... F>
  pinion::plan plan(const F&... fetches) {
    return plan_of({fetches...});
  }

  // Returns the measured time of each node in the steps so far, for a cost model or a file. Throws failed_precondition
  // unless the session was made with .record_costs, unimplemented for a session on a cluster.
  pinion::measured_costs measured_costs();

  // Returns what the session holds of the memory now. Throws unimplemented for a session on a cluster.
  memory_use memory();

  // Returns the devices that steps may use; on a cluster those of all tasks that pass options.device_filters.
  // On a cluster it asks the target, and waits for it as run() does.
  std::vector<device_info> list_devices();
  // Fails all running steps with the error `why`; the session stays open, and later steps run.
  // It returns at once, without waiting for the steps. Any thread may call it.
  void cancel_steps(const error& why);
  // Cancels the running steps, waits for them, and frees the state; on a cluster the variables stay with their tasks.
  // Later calls throw failed_precondition, with the line `where`; closing twice is harmless. A kernel that ignores its
  // cancellation is waited for without limit, on a cluster for 10 seconds.
  void close(source_location where = source_location::current());
  // Returns the graph of the session; throws failed_precondition if it is gone.
  pinion::graph& graph() const { return *graph_; }

  // Forgets the variables of the named containers, or of all containers if none is named, on every task of a cluster,
  // and closes the sessions of the target's master. Sessions of other masters then find their variables uninitialised.
  // Waits up to 30 seconds for the target.
  // Throws invalid_argument for a target of another form than "pinion://host:port", and failed_precondition if no
  // source file of the program includes <pinion/distributed.hpp>.
  static void reset(const std::string& target, const std::vector<std::string>& containers = {},
                    const security_options& security = {});

 private:
  friend class session_link;
  friend class partial_run;
  friend class runtime::prepared_call;

  runtime::session_backend& backend() const;
  std::vector<any_tensor> run_ends(step_trace* trace, std::initializer_list<feed> feeds,
                                   std::initializer_list<runtime::fetch_end> fetches);
  pinion::plan plan_of(std::initializer_list<runtime::fetch_end> fetches);
  std::vector<any_tensor> add_feeds(runtime::step_signature& s, std::span<const feed> feeds) const;
  // Moves the values out.
  std::vector<any_tensor> run_step(const runtime::step_signature& s, std::span<any_tensor> values, step_trace* trace);
  const runtime::step_signature& checked(const runtime::step_signature& s) const;

  graph_ref graph_;
  std::shared_ptr<runtime::session_backend> backend_;  // session links share it while they run a step
};

namespace runtime {

// The untyped part of a callable.
class prepared_call {
 public:
  prepared_call(const session& s, std::span<const any_expr> feeds, std::span<const any_expr> fetches,
                std::span<const operation> targets, source_location where);
  // Runs the step. Moves the fed values out.
  void operator()(std::span<any_tensor> fed, std::span<any_tensor> results) const;

 private:
  session_link session_;
  step_signature signature_;
  std::vector<any_expr> feeds_;
  source_location where_;
  std::weak_ptr<prepared_step> step_;  // owned by the session, since its memory is that of the session's devices
};

}  // namespace runtime

// The result of a callable with one fetch: a tuple, which converts to its tensor, and to what that converts to, as the
// result of session::run does: pn::tensor<float> loss = step(batch, labels).
template <class T>
struct one_result : std::tuple<tensor<T>> {
  one_result(std::tuple<tensor<T>> value) : std::tuple<tensor<T>>(std::move(value)) {}
  operator const tensor<T>&() const& { return std::get<0>(*this); }
  operator tensor<T>() && { return std::get<0>(std::move(*this)); }
  explicit operator T() const { return static_cast<T>(std::get<0>(*this)); }
};

namespace runtime {
template <class... F>
struct results {
  using type = std::tuple<tensor<F>...>;
};
template <class F>
struct results<F> {
  using type = one_result<F>;
};
}  // namespace runtime

// A prepared step with typed arguments, made by session::make_callable. Copyable; copies share the step. Thread-safe as
// the session is. A call throws failed_precondition once the session, or the graph of a fed expression, is gone.
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

  // Runs the step with one value per feed, in the order of pn::feeds; returns the values of pn::fetches. Throws what
  // session::run throws.
  // The result is a tuple also where there is one fetch: const auto [value] = step(batch, labels).
  typename runtime::results<F...>::type operator()(fed_value<X>... values) const {
    std::array<any_tensor, sizeof...(X)> fed{std::move(values).take()...};
    std::array<any_tensor, sizeof...(F)> results;
    call_(fed, results);
    return take_tuple<std::tuple<tensor<F>...>>(results);
  }
  // Its first argument tells, in compilers' messages, what is taken.
  template <class Takes = feed_list<X...>, class... V>
  requires(!callable_with<V...>()) PINION_REFUSED(
      "a callable takes one value for each of its feeds, of its dtype: a pn::tensor, vector, span or nested braces")
  operator()(const V&...) const PINION_REFUSAL;
  // Braces have no type that the overload above could deduce. This one is a template so that the valid call is
  // preferred.
  template <class = void>
  PINION_REFUSED("a callable takes one value for each of its feeds, and these braces hold what does not convert to it")
  operator()(const runtime::braced_for<X>&...) const PINION_REFUSAL;

 private:
  runtime::prepared_call call_;
};

}}  // namespace pinion::v0

namespace std {
template <class T>
struct tuple_size<pinion::one_result<T>> : integral_constant<size_t, 1> {};
template <class T>
struct tuple_element<0, pinion::one_result<T>> {
  using type = pinion::tensor<T>;
};
}  // namespace std

#if PINION_HEADER_ONLY
#include <pinion/runtime/session.ipp>
#endif
