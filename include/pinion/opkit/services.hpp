// What kernels need of the task they run in, as interfaces: the runtime has local ones, a server remote ones.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/device/device.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

class thread_pool;

// Something that outlives a step: a variable, a queue. Shared by the kernels that use it.
class resource {
 public:
  virtual ~resource() = default;
};

// The state of one task, by container and name. Thread-safe.
class resource_manager {
 public:
  virtual ~resource_manager() = default;
  // The resource of that name, made by `make` if there is none yet.
  virtual std::shared_ptr<resource> find_or_create(const std::string& container, const std::string& name,
                                                   const std::function<std::shared_ptr<resource>()>& make) = 0;
};

// A value on its way. One that is still on a device with a stream comes with the point at which it is there.
struct handed_over {
  any_tensor value;
  std::shared_ptr<devices::event> ready;

  handed_over() = default;
  handed_over(any_tensor v, std::shared_ptr<devices::event> at = {}) : value(std::move(v)), ready(std::move(at)) {}
};

// Where the parts of a step meet. A value is sent once and received once; either may come first. send never blocks. A
// second receiver of a key gets an error at once: it would wait for ever.
class rendezvous {
 public:
  using receiver = std::function<void(handed_over, const error*)>;
  virtual ~rendezvous() = default;
  virtual void send(const std::string& key, handed_over value) = 0;
  virtual void receive(const std::string& key, receiver done) = 0;
  virtual void abort(const error& why) = 0;  // every receiver, waiting or to come, gets the error

 protected:
  static error received_twice(const std::string& key);
};

struct body;
struct node;
struct output;
class kernel_context;
class step_tracer;  // the runtime's: kernels hand it on to the steps inside theirs

// A body made ready to run, as a step of its own inside another. Any number of runs at once.
class nested_step {
 public:
  using ended = std::function<void(std::vector<any_tensor> results, const error*)>;
  virtual ~nested_step() = default;
  // `arguments` as the body has them, in the memory of the caller's device; `done` is called once, in any thread, maybe
  // before this returns. It ends with the step of the caller, whose context stays until then.
  virtual void start(kernel_context& caller, std::vector<any_tensor> arguments, ended done) = 0;
};

// Makes bodies ready, on the devices of the task. Thread-safe.
class body_compiler {
 public:
  virtual ~body_compiler() = default;
  // For these of the body's results. Throws what a session throws for a step that cannot be placed. Refers to the body.
  virtual std::shared_ptr<nested_step> compile(const body& b, const std::vector<output>& results, const node& caller,
                                               const devices::device& on) = 0;
};

struct task_services {
  resource_manager* resources = nullptr;
  thread_pool* intra_op = nullptr;  // loops inside one kernel are split over it
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/services.ipp>
#endif
