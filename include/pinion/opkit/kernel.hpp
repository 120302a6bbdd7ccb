// What runs: the contract between a step and the code of an op on a device.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/loop_body.hpp>
#include <pinion/device/device.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/services.hpp>

namespace pinion { inline namespace v0 {

class cancellation;

// What a kernel is made from, once per compiled step: its node, its device, and the services of the task. Whatever can
// be decided before shapes are known is decided there.
struct kernel_setup {
  const pinion::graph& graph;
  const pinion::node& node;
  devices::device& device;
  task_services& services;
  std::shared_ptr<body_compiler> bodies = nullptr;  // where nodes with bodies can run

  const attributes& attrs() const { return node.attrs; }
  const output_type& input(int i) const { return graph.type_of(node.inputs[static_cast<std::size_t>(i)]); }
  // The node that names the variable at a reference input.
  const pinion::node& referenced(int i) const { return graph[node.inputs[static_cast<std::size_t>(i)].node]; }
};

// Told of what goes wrong in a launched body, which may run when run() has long returned. Thread-safe; outlives the
// step.
class step_watch {
 public:
  virtual ~step_watch() = default;
  virtual bool failed() const = 0;
  virtual void fail(const error& why) = 0;
  // The time by which the step must have ended, if there is one.
  virtual std::optional<std::chrono::steady_clock::time_point> time_limit() const { return std::nullopt; }
};

// One execution of one node: inputs, outputs, and the device to launch on. Valid during run(), or until a blocking
// kernel's continuation is called. A kernel reads shapes and allocates when it runs, and touches elements only in
// launched bodies: on a device with a stream those run later, in order.
class kernel_context {
 public:
  const pinion::node* node = nullptr;
  devices::device* device = nullptr;
  step_watch* watch = nullptr;
  task_services* services = nullptr;
  pinion::rendezvous* rendezvous = nullptr;
  pinion::cancellation* cancellation = nullptr;
  std::int64_t step = 0;
  std::span<any_tensor> inputs;  // reference inputs are empty
  std::span<any_tensor> outputs;
  std::span<const unsigned char> wanted;  // may be empty: all are
  step_tracer* tracer = nullptr;          // where the step is written down, if it is

  const any_tensor& input(int i) const { return inputs[static_cast<std::size_t>(i)]; }
  bool wants(int i) const { return wanted.empty() || wanted[static_cast<std::size_t>(i)]; }
  // An uninitialised output in the device's memory.
  any_tensor& allocate(int i, dtype type, const shape& extent);
  any_tensor scratch(dtype type, const shape& extent) { return {type, extent, device->memory()}; }
  // An output in the memory of an input that nobody else holds, or in new memory.
  any_tensor& reuse_or_allocate(int i, int from, dtype type, const shape& extent);
  // Runs a body now, or enqueues it. It must capture by value, and what it captures must stay: tensors of this step do.
  // What a body throws fails its step, and is blamed on this node.
  template <class Body>
  void launch(Body&& body) {
    launch_or(std::forward<Body>(body), nullptr);
  }
  // The same, with what is done instead where the step has failed before the stream gets there: for those that have
  // published the memory already.
  template <class Body, class Otherwise>
  void launch_or(Body&& body, Otherwise&& otherwise) {
    if (auto* s = device->stream())
      enqueue(*s, std::forward<Body>(body), std::forward<Otherwise>(otherwise));
    else
      body();
  }
  // Splits [0, chunks) over the intra-op pool; see thread_pool::for_each_chunk. Usable inside a launched body.
  static void in_chunks(task_services& s, std::int64_t chunks, loop_body body);

 private:
  void enqueue(devices::stream& s, std::function<void()> body, std::function<void()> otherwise);
};

// The code of one node of a compiled step. Run by one thread at a time per step; a step that runs concurrently with
// itself has the same kernel object in both, so run() keeps no state in it without a lock. Fails by throwing error.
class kernel {
 public:
  virtual ~kernel() = default;
  virtual void run(kernel_context& context) = 0;
  // Does it take long enough to be worth another thread?
  virtual bool expensive() const { return false; }
  // A kernel that waits for somebody else holds no thread: it overrides start(), and calls done once, with the error if
  // it failed, in any thread. It must honour the context's cancellation.
  using ended = std::function<void(const error*)>;
  virtual bool blocking() const { return false; }
  virtual void start(kernel_context& context, ended done);
};

// A kernel that is a function of its context and of what its setup found out. There are hundreds, of a type each: a
// smart pointer of that type would cost a compiler more than the kernel.
template <class F>
std::unique_ptr<kernel> make_function_kernel(F body, bool expensive = false) {
  struct function_kernel final : kernel {
    function_kernel(F f, bool heavy) : body(std::move(f)), heavy_(heavy) {}
    void run(kernel_context& context) override { body(context); }
    bool expensive() const override { return heavy_; }
    F body;
    bool heavy_;
  };
  return std::unique_ptr<kernel>(new function_kernel(std::move(body), expensive));
}

// A kernel that waits: body(context, done) begins, and sees to it that done is called once.
template <class F>
std::unique_ptr<kernel> make_waiting_kernel(F body) {
  struct waiting_kernel final : kernel {
    explicit waiting_kernel(F f) : body(std::move(f)) {}
    bool blocking() const override { return true; }
    void run(kernel_context&) override {
      throw error(errc::internal, "a kernel that waits was run instead of started");
    }
    void start(kernel_context& context, ended done) override { body(context, std::move(done)); }
    F body;
  };
  return std::unique_ptr<kernel>(new waiting_kernel(std::move(body)));
}

using kernel_maker = std::unique_ptr<kernel> (*)(const kernel_setup&);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/kernel.ipp>
#endif
