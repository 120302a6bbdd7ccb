// Kernels of control flow: they run bodies as steps inside their own step, and hold no thread while a body waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/log.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/op/control/bodies.hpp>
#include <pinion/op/control/bound_loop.hpp>
#include <pinion/op/control/op.hpp>
#include <pinion/op/control/slice_stack.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// A body on the device of its node. It is compiled on first use, for those of its results that are read. Thread-safe.
class ready_body {
 public:
  ready_body(shared_body b, const kernel_setup& setup)
      : body_(std::move(b)), compiler_(setup.bodies), caller_(setup.node), device_(setup.device) {
    if (!compiler_) throw error(errc::unimplemented, "a node with a body runs in a session, not alone");
  }

  const body& of() const { return *body_; }
  std::shared_ptr<nested_step> for_results(const std::vector<unsigned char>& wanted) {
    std::lock_guard hold(mutex_);
    auto& step = steps_[wanted];
    if (step) return step;
    std::vector<output> results;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) results.push_back(body_->results[i]);
    return step = compiler_->compile(*body_, results, caller_, device_);
  }

 private:
  const shared_body body_;
  const std::shared_ptr<body_compiler> compiler_;
  const node& caller_;
  devices::device& device_;
  std::mutex mutex_;
  std::map<std::vector<unsigned char>, std::shared_ptr<nested_step>> steps_;
};

inline bool truth(const any_tensor& t, std::string_view what) {
  if (t.dtype() == dtype::boolean && t.count() == 1) return t.data<bool>()[0];
  throw error(errc::invalid_argument, std::string(what) + " is one bool, not a tensor of " +
                                          std::string(to_string(t.dtype())) + " " + to_string(t.shape()));
}

class conditional_kernel final : public kernel {
 public:
  explicit conditional_kernel(const kernel_setup& setup)
      : then_(setup.attrs().get<shared_body>("then"), setup),
        else_(setup.attrs().get<shared_body>("else"), setup),
        results_(static_cast<std::size_t>(setup.attrs().get<std::int64_t>("results"))) {}
  bool blocking() const override { return true; }
  void run(kernel_context&) override { throw error(errc::internal, "a node with a body was run instead of started"); }

  void start(kernel_context& c, ended done) override {
    const bool first = truth(c.input(0), "the predicate of If");
    ready_body& branch = first ? then_ : else_;
    // The outputs are the results, then those that the first branch kept, then those that the second kept.
    const std::size_t kept_before = first ? 0 : then_.of().results.size() - results_;
    std::vector<int> output_of;
    std::vector<unsigned char> wanted;
    for (std::size_t i = 0; i < branch.of().results.size(); ++i) {
      const int at = static_cast<int>(i < results_ ? i : i + kept_before);
      wanted.push_back(c.wants(at));
      if (wanted.back()) output_of.push_back(at);
    }
    for (std::size_t at = results_; at < c.outputs.size(); ++at)  // those of the branch that is not taken
      c.allocate(static_cast<int>(at), c.node->outputs[at].dtype, {0});
    std::vector<any_tensor> arguments(c.inputs.begin() + 1, c.inputs.end());
    for (any_tensor& in : c.inputs) in = {};
    const auto keep = [&c, output_of](std::vector<any_tensor> results) {
      for (std::size_t i = 0; i < output_of.size(); ++i)
        c.outputs[static_cast<std::size_t>(output_of[i])] = std::move(results[i]);
    };
    const auto step = branch.for_results(wanted);
    if (!step->runs_in_place())
      return step->start(c, std::move(arguments), [keep, done = std::move(done)](outcome<std::vector<any_tensor>> ran) {
        done(std::move(ran).then(keep));
      });
    std::vector<any_tensor> results(output_of.size());
    step->run(c, arguments, results);
    keep(std::move(results));
    done({});
  }

 private:
  ready_body then_, else_;
  std::size_t results_;
};

// Slice k of a tensor along its first axis, as a tensor with memory of its own.
inline any_tensor slice_of(kernel_context& c, const any_tensor& all, std::int64_t k) {
  shape extent;
  for (int i = 1; i < all.shape().rank(); ++i) extent.push_back(all.shape()[i]);
  any_tensor one(all.dtype(), extent, c.device->memory());
  const std::int64_t n = extent.count();
  visit_element(all.dtype(), [&]<class Element>() {
    std::copy_n(static_cast<const Element*>(all.raw()) + k * n, n, static_cast<Element*>(one.raw()));
  });
  return one;
}

// The bound loops that no run uses. Thread-safe.
class spare_loops {
 public:
  // Takes the one for these values, or else a new one of make(). Returns null where the bodies cannot be bound.
  template <class Make>
  std::unique_ptr<bound_loop> take(const bound_loop::values& v, Make make) {
    {
      std::lock_guard hold(mutex_);
      if (refused_ == most) return nullptr;
      for (std::unique_ptr<bound_loop>& one : idle_)
        if (one && one->is_of(v)) return std::move(one);
    }
    auto fresh = make();
    std::lock_guard hold(mutex_);
    refused_ += !fresh;
    return fresh;
  }
  // Takes one back, in place of an older one if there are many.
  void put(std::unique_ptr<bound_loop> one) {
    std::lock_guard hold(mutex_);
    std::swap(one, idle_[next_++ % most]);
  }

 private:
  static constexpr std::size_t most = 4;
  std::mutex mutex_;
  std::array<std::unique_ptr<bound_loop>, most> idle_;
  std::size_t next_ = 0, refused_ = 0;
};

// The unchanging part of a loop, shared by its runs. It changes only when it compiles or binds its bodies.
struct loop_parts {
  std::unique_ptr<ready_body> cond;  // null: an iteration for each slice
  ready_body body;
  std::size_t variables, scanned;
  std::int64_t most;  // most iterations; -1: no limit
  bool reverse;
  spare_loops bound;  // refers to the steps of the bodies

  explicit loop_parts(const kernel_setup& setup)
      : body(setup.attrs().get<shared_body>("body"), setup),
        variables(static_cast<std::size_t>(setup.attrs().get<std::int64_t>("variables"))),
        scanned(static_cast<std::size_t>(setup.attrs().get<std::int64_t>("scanned"))),
        most(setup.attrs().get_or<std::int64_t>("maximum_iterations", -1)),
        reverse(setup.attrs().get_or("reverse", false)) {
    if (setup.attrs().has("cond")) cond = std::make_unique<ready_body>(setup.attrs().get<shared_body>("cond"), setup);
  }
};

// One run of a loop. The callback that continues it keeps it alive. A body that ends at once is followed by the next
// one without recursion.
class loop_run : public std::enable_shared_from_this<loop_run> {
 public:
  loop_run(const std::shared_ptr<loop_parts>& parts, kernel_context& c, kernel::ended done)
      : p_(parts), c_(c), done_(std::move(done)) {
    const auto all = std::make_move_iterator(c.inputs.begin());
    variables_.assign(all, all + static_cast<std::ptrdiff_t>(p_->variables));
    scanned_.assign(all + static_cast<std::ptrdiff_t>(p_->variables),
                    all + static_cast<std::ptrdiff_t>(p_->variables + p_->scanned));
    invariants_.assign(all + static_cast<std::ptrdiff_t>(p_->variables + p_->scanned),
                       std::make_move_iterator(c.inputs.end()));
    for (std::size_t i = 0; i < p_->body.of().results.size(); ++i)
      wanted_.push_back(i < p_->variables || c.wants(static_cast<int>(i)));
    for (std::size_t i = p_->variables; i < wanted_.size(); ++i)
      if (wanted_[i]) kept_.push_back(i);
    body_ = p_->body.for_results(wanted_);
    if (p_->cond) cond_ = p_->cond->for_results({1});
    if (!scanned_.empty()) iterations_ = slices();
    for (const std::size_t i : kept_)
      stacks_.emplace_back(result_type(p_->body.of(), i).dtype, p_->cond ? -1 : iterations_, p_->reverse,
                           c.device->memory());
    if (may_be_bound())
      bound_ = p_->bound.take(values(), [this] { return bound_loop::make(cond_.get(), *body_, values()); });
  }

  // Runs bodies until a body waits, or none is left.
  void advance() {
    const auto waits = outcome_of([this] { return bound_ ? run_bound() : run_nested(); });
    if (!waits || !waits.value()) end(waits.failure());
  }

 private:
  enum what { condition, body };

  bool may_be_bound() const {
    return !c_.tracer && !c_.device->stream() && body_->runs_in_place() && (!cond_ || cond_->runs_in_place());
  }
  bound_loop::values values() const { return {variables_, scanned_, invariants_}; }

  // Runs all iterations, and returns false.
  bool run_bound() {
    bound_->begin(values());
    for (; has_next_bound(); ++iteration_) {
      if (iteration_ % iterations_between_looks == 0) expect_wanted();
      bound_->scan(scanned_, current_slice());
      bound_->compute(c_.watch);
      for (std::size_t i = 0; i < stacks_.size(); ++i) stacks_[i].push(bound_->kept()[i].shape, bound_->kept()[i].at);
      bound_->go_on();
    }
    expect_wanted();
    for (std::size_t i = 0; i < variables_.size(); ++i)
      variables_[i] = bound_->variables()[i].tensor(c_.device->memory());
    p_->bound.put(std::move(bound_));
    return finish(), false;
  }
  bool has_next_bound() {
    if (!p_->cond) return iteration_ < iterations_;
    return (p_->most < 0 || iteration_ < p_->most) && bound_->goes_on(c_.watch);
  }

  // Returns true where a body waits, and false where the loop has finished.
  bool run_nested() {
    for (;;) {
      expect_wanted();
      if (!next_step()) return finish(), false;
      if (!ended_at_once()) return true;
      take();
    }
  }
  std::int64_t slices() const {
    std::int64_t n = -1;
    for (const any_tensor& t : scanned_) {
      if (t.shape().rank() < 1 || (n >= 0 && t.shape()[0] != n))
        throw error(errc::invalid_argument, "a loop scans tensors of as many slices each, not shapes " +
                                                to_string(scanned_[0].shape()) + " and " + to_string(t.shape()));
      n = t.shape()[0];
    }
    return n;
  }
  // Ends a loop whose step was given up or is late, and tells in the log of one that runs for long.
  void expect_wanted() {
    if (c_.watch && c_.watch->failed()) throw error(errc::cancelled, "the loop's step was given up");
    const auto now = std::chrono::steady_clock::now();
    const auto limit = c_.watch ? c_.watch->time_limit() : std::nullopt;
    if (limit && now > *limit)
      throw error(errc::deadline_exceeded, "the step did not end within the session's operation_timeout: after " +
                                               std::to_string(iteration_) + " iterations the loop still goes on");
    if (!said_.is_due(now)) return;
    write_log(log_level::warning, "",
              fmt::format("'{}' ({}) has run for {:.1f} s, and goes on after {} iterations", c_.node->name, c_.node->op,
                          said_.seconds_until(now), iteration_));
  }
  std::int64_t current_slice() const { return p_->reverse ? iterations_ - 1 - iteration_ : iteration_; }
  // Chooses the next body; false after the last iteration.
  bool next_step() {
    if (!p_->cond) {
      next_ = body;
      return iteration_ < iterations_;
    }
    if (stops_) return false;
    if (next_ == body) return true;
    return p_->most < 0 || iteration_ < p_->most;
  }
  // Runs or starts the next body. Returns true if it has ended already; otherwise it calls advance() when it ends.
  bool ended_at_once() {
    auto& step = next_ == condition ? *cond_ : *body_;
    fill_arguments();
    if (step.runs_in_place()) {
      std::vector<any_tensor>& results = ended_.value();
      results.resize(next_ == condition ? 1 : p_->variables + kept_.size());
      step.run(c_, arguments_, results);
      return true;
    }
    left_.store(false, std::memory_order_relaxed);
    step.start(c_, std::move(arguments_), [self = shared_from_this()](outcome<std::vector<any_tensor>> ran) {
      self->ended_ = std::move(ran);
      if (self->left_.exchange(true, std::memory_order_acq_rel)) self->go_on();
    });
    return left_.exchange(true, std::memory_order_acq_rel);
  }
  void go_on() {
    if (const auto taken = outcome_of([this] { take(); }); !taken) return end(taken.failure());
    advance();
  }
  void fill_arguments() {
    std::vector<any_tensor>& all = arguments_;
    all.clear();
    const bool last_use = next_ == body;  // its last use: the body may write into the variables' memory
    for (any_tensor& v : variables_) all.push_back(last_use ? std::move(v) : v);
    if (next_ == body)
      for (const any_tensor& s : scanned_) all.push_back(slice_of(c_, s, current_slice()));
    all.insert(all.end(), invariants_.begin(), invariants_.end());
  }
  // Takes the results of the body that has ended.
  void take() {
    std::vector<any_tensor>& results = ended_.value();
    if (next_ == condition) {
      stops_ = !truth(results[0], "the condition of While");
      next_ = body;
      return;
    }
    for (std::size_t i = 0; i < p_->variables; ++i) {
      const shape& said = argument_type(p_->body.of(), i).shape;
      if (!fits(results[i].shape(), said))
        throw error(errc::invalid_argument, "loop variable " + std::to_string(i) + " has the shape invariant " +
                                                to_string(said) + ", but iteration " + std::to_string(iteration_) +
                                                " yields " + to_string(results[i].shape()));
      variables_[i] = std::move(results[i]);
    }
    for (std::size_t i = 0; i < stacks_.size(); ++i) stacks_[i].push(std::exchange(results[p_->variables + i], {}));
    ++iteration_;
    if (p_->cond) next_ = condition;
  }
  void finish() {
    for (std::size_t i = 0; i < p_->variables; ++i) c_.outputs[i] = std::move(variables_[i]);
    for (std::size_t i = 0; i < kept_.size(); ++i)
      c_.outputs[kept_[i]] = stacks_[i].whole(result_type(p_->body.of(), kept_[i]).shape);
  }
  void end(outcome<> how) {
    const auto done = std::move(done_);
    done(std::move(how));
  }

  const std::shared_ptr<loop_parts> p_;
  kernel_context& c_;
  kernel::ended done_;
  std::vector<any_tensor> variables_, scanned_, invariants_;
  std::vector<any_tensor> arguments_;  // of the body that runs next
  std::vector<unsigned char> wanted_;
  std::vector<std::size_t> kept_;    // the results that are kept of every iteration
  std::vector<slice_stack> stacks_;  // of these
  std::shared_ptr<nested_step> cond_, body_;
  outcome<std::vector<any_tensor>> ended_ = std::vector<any_tensor>();  // of the body that ran last
  static constexpr std::int64_t iterations_between_looks =
      64;                              // at the watch and the clock, which take as long as an iteration
  std::unique_ptr<bound_loop> bound_;  // null: the bodies run as nested steps
  what next_ = condition;
  bool stops_ = false;
  std::int64_t iterations_ = 0, iteration_ = 0;
  pinion::detail::said_work said_;
  std::atomic<bool> left_{false};  // set by the first to finish: the starter or the body
};

class loop_kernel final : public kernel {
 public:
  explicit loop_kernel(const kernel_setup& setup) : parts_(std::make_shared<loop_parts>(setup)) {}
  bool blocking() const override { return true; }
  void run(kernel_context&) override { throw error(errc::internal, "a node with a body was run instead of started"); }
  void start(kernel_context& c, ended done) override {
    std::make_shared<loop_run>(parts_, c, std::move(done))->advance();
  }

 private:
  std::shared_ptr<loop_parts> parts_;
};

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(conditional, const kernel_setup& setup) {
  return std::make_unique<detail::conditional_kernel>(setup);
}
inline std::unique_ptr<kernel> make_kernel(loop, const kernel_setup& setup) {
  return std::make_unique<detail::loop_kernel>(setup);
}

}}}  // namespace pinion::v0::op
