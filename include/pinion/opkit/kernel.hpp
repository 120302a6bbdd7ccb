// Kernels: the code of an op on a device, and the contract between that code and the step that runs it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/loop_body.hpp>
#include <pinion/device/cuda/first_wrong.hpp>
#include <pinion/device/device.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/opkit/services.hpp>

namespace pinion { inline namespace v0 {

class binding;
class cancellation;

// The argument from which a kernel is made, once per compiled step: its node, its device, and the services of the task.
// A kernel decides here all that does not depend on shapes.
//
// All references are valid as long as the kernel, and may be kept by it.
struct kernel_setup {
  graph_view graph;
  const pinion::node& node;
  devices::device& device;
  task_services& services;
  std::shared_ptr<body_compiler> bodies = nullptr;  // runs bodies of control flow; null where there are none

  const attributes& attrs() const { return node.attrs; }
  const output_type& input(int i) const { return graph.type_of(node.inputs[static_cast<std::size_t>(i)]); }
  // The node that names the variable at reference input i.
  // Requires: input i is a reference or a resource.
  const pinion::node& referenced(int i) const { return graph[node.inputs[static_cast<std::size_t>(i)].node]; }
};

// The receiver of errors in launched bodies, which may run long after run() has returned. Thread-safe; outlives the
// step.
class step_watch {
 public:
  virtual ~step_watch() = default;
  // Tells whether the step has failed already; bodies that have not begun are then skipped.
  virtual bool failed() const = 0;
  // Fails the step with this error.
  virtual void fail(const error& why) = 0;
  // Room on the device for the first wrong value that a CUDA kernel meets. Where the step ends, it fails with the error
  // that `describe` makes of the position and the value. Throws internal where nobody would look.
  using describe_wrong = std::function<error(std::int64_t position, std::int64_t value)>;
  virtual cuda::first_wrong* expect_values(devices::device& on, describe_wrong describe);
  // The places that kernels of the step were given on the device so far, as far as an update should heed them.
  virtual cuda::wrong_places wrong_so_far(devices::device& on);
  // A word on the device that holds, whenever recorded work is enqueued, the number that `next` yields for that run.
  // Null where the work runs now and is not recorded: the kernel then takes the number itself.
  using next_number = std::function<std::uint64_t()>;
  virtual const std::uint64_t* number_of_run(devices::device&, next_number) { return nullptr; }
  // Adds room that kernels have used already: an int64 tensor of [n, 2] on the device, and what describes each value.
  virtual void add_expected(devices::device& on, const any_tensor& places, std::vector<describe_wrong> describe);
  // The time by which the step must have ended, if it has a limit.
  virtual std::optional<std::chrono::steady_clock::time_point> time_limit() const { return std::nullopt; }
};

// One execution of one node: its inputs, its outputs, and the device to launch on. Valid during run(), or until a
// blocking kernel calls its continuation.
//
// A kernel reads shapes and allocates outputs in run(). It touches elements in launched bodies only: a device with a
// stream runs those later, in the order in which they were launched.
//
// A function kernel of an op with one input, from start to end:
//
//   static void cpu(pn::kernel_context& c) {
//     const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
//     c.launch([x, y] {
//       for (std::int64_t i = 0; i < x.count(); ++i) y.data<float>()[i] = 2 * x.data<float>()[i];
//     });
//   }
//
// Shapes that were unknown to the shape function are checked here: throw pn::error(errc::invalid_argument, ...), and
// the step's error gets the name of the node, its line and its device. Memory that the device does not have is
// resource_exhausted.
class kernel_context {
 public:
  const pinion::node* node = nullptr;
  devices::device* device = nullptr;
  step_watch* watch = nullptr;
  task_services* services = nullptr;
  pinion::rendezvous* rendezvous = nullptr;
  pinion::cancellation* cancellation = nullptr;
  std::int64_t step = 0;
  std::span<any_tensor> inputs;  // empty at reference inputs
  std::span<any_tensor> outputs;
  std::span<const unsigned char> wanted;  // one flag per output; empty: all are wanted
  step_tracer* tracer = nullptr;          // records the step; null: it is not recorded
  allocator* memory = nullptr;            // of values that end with the run; null: the device's own

  const any_tensor& input(int i) const { return inputs[static_cast<std::size_t>(i)]; }
  // Tells whether output i is read. A kernel need not allocate one that is not.
  bool wants(int i) const { return wanted.empty() || wanted[static_cast<std::size_t>(i)]; }
  // Makes output i of uninitialised memory of the device.
  any_tensor& allocate(int i, dtype type, const shape& extent);
  // A tensor in the device's memory that is no output.
  // It is freed with its last copy, so a launched body captures it.
  any_tensor scratch(dtype type, const shape& extent) {
    return {type, extent, memory ? *memory : device->memory(),
            node ? std::string_view(node->name) : std::string_view()};
  }
  // Makes output i of the memory of input `from`, if dtype and shape agree and nobody else holds it; else of new
  // memory.
  // Requires: the body reads an element of that input before it writes the same one, and no later.
  any_tensor& reuse_or_allocate(int i, int from, dtype type, const shape& extent);
  // Runs a body, which is host code, at once, or enqueues it on the device's stream. The body captures by value, and
  // its captures must stay valid until it has run, as tensors of the step do. An exception of the body fails the step;
  // the error names this node. Throws internal on a device whose kernels are CUDA.
  template <class Body>
  void launch(Body&& body) {
    launch_or(std::forward<Body>(body), [] { return nullptr; });
  }
  // Launches a body, and has the function that make_otherwise() returns called instead where the step has failed before
  // the stream gets there. For kernels that publish memory before the body has filled it. A device without a stream
  // calls neither.
  template <class Body, class MakeOtherwise>
  void launch_or(Body&& body, MakeOtherwise&& make_otherwise) {
    if (auto* s = device->stream())
      enqueue(*s, std::forward<Body>(body), make_otherwise());
    else
      body();
  }
  // Room for a CUDA kernel to leave the first wrong value that it meets, such as an index out of range. The step then
  // fails where it ends, with the error that `describe(position, value)` makes of it; the error names this node.
  cuda::first_wrong* expect_values(step_watch::describe_wrong describe);
  // Calls body(i) for i in [0, chunks), split over the threads of the intra-op pool; see thread_pool::for_each_chunk. A
  // launched body may call it.
  // It returns when all chunks are done; an exception of a chunk is thrown here. See op::in_ranges for many small
  // items.
  static void in_chunks(task_services& s, std::int64_t chunks, loop_body body);

 private:
  void enqueue(devices::stream& s, std::function<void()> body, std::function<void()> otherwise);
};

// The code of one node of a compiled step. A step runs it by one thread at a time; but runs of the compiled step that
// overlap share the kernel object, so run() changes no member without a lock. Fails by throwing error.
//
// Results must not depend on the number of threads, and a stateful kernel is kept by its session from step to step.
class kernel {
 public:
  virtual ~kernel() = default;
  // Computes one node: allocates its outputs, and launches bodies. Throws error.
  virtual void run(kernel_context& context) = 0;
  // Tells whether it takes long enough to be worth another thread.
  virtual bool expensive() const { return false; }
  // A blocking kernel waits for other steps or tasks without holding a thread. It overrides start(), which returns at
  // once, and calls `done` exactly once, in any thread: done({}) when the outputs are there, done(error) if it failed.
  // It must heed the context's cancellation.
  using ended = completion<>;
  virtual bool blocking() const { return false; }
  // The default runs the kernel and calls `done` at once.
  virtual void start(kernel_context& context, ended done);

  // Announces the code of runs over the shapes that the graph knows, for kernels whose code is made while the program
  // runs: so that of a step is made together, before its first run. `wanted`: one flag per output. Called at most once.
  virtual void announce(std::span<const unsigned char> wanted) { static_cast<void>(wanted); }

  // Tells whether the CUDA kernels that a run launches may be recorded, and enqueued again in place of another run with
  // inputs of the same shapes: their arguments follow from shapes, attributes and addresses alone, and numbers that
  // differ from run to run are read from the device.
  virtual bool may_replay() const { return false; }

  // Tells whether bind() may succeed. Such a kernel computes its outputs from its inputs alone.
  virtual bool may_bind() const { return false; }
  // Binds the kernel to the cells of small values, see opkit/binding.hpp. Returns false, or throws, where it cannot be
  // bound to values of these types; a step then runs it with tensors. Requires: may_bind().
  virtual bool bind(binding&) { return false; }
};

// Makes a kernel of a function of its context. It returns a pointer to the base because there are hundreds of these
// types, and compiling a unique_ptr of each would take longer than compiling the kernel.
//
// The body is called as non-const, once for each run, possibly by several threads at the same time. If it has a
// function bind(binding&), that is the kernel's.
template <class F>
std::unique_ptr<kernel> make_function_kernel(F body, bool expensive = false) {
  static constexpr bool binds = requires(binding & b) {
    body.bind(b);
  };
  struct function_kernel final : kernel {
    function_kernel(F f, bool heavy) : body(std::move(f)), heavy_(heavy) {}
    void run(kernel_context& context) override { body(context); }
    bool expensive() const override { return heavy_; }
    bool may_bind() const override { return binds; }
    bool bind(binding& b) override {
      if constexpr (binds) return body.bind(b);
      return false;
    }
    F body;
    bool heavy_;
  };
  return std::unique_ptr<kernel>(new function_kernel(std::move(body), expensive));
}

// Makes a blocking kernel of body(context, done), which begins to wait and ensures that `done` is called once.
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

// A function that makes the kernel of an op.
using kernel_maker = std::unique_ptr<kernel> (*)(const kernel_setup&);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/kernel.ipp>
#endif
