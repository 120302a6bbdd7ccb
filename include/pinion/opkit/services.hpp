// Interfaces of the services that a task gives to its kernels. The runtime implements them locally, a server remotely.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/device.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

class thread_pool;
class transfer_key;

// A state that outlives a step: a variable, a queue. Shared by the resource manager and the kernels that use it.
//
// Its destructor runs when the container is reset or the task ends, and the last kernel lets go.
class resource {
 public:
  virtual ~resource() = default;
  // The size of the value that it holds, if it is a variable.
  virtual std::int64_t bytes() const { return 0; }
  // Tells that a task, by its full name, has ended or is not there any more, and why. Called in any thread. A task that
  // was lost may come back.
  virtual void lost(const std::string& task, const error& why) { static_cast<void>(task), static_cast<void>(why); }
};

// The resources of one task, by container and name. Thread-safe.
class resource_manager {
 public:
  virtual ~resource_manager() = default;
  // The resource of that name; `make` makes it where there is none yet.
  // `make` is called once for a name, unless it throws; threads that ask for the same name wait meanwhile.
  virtual std::shared_ptr<resource> find_or_create(const std::string& container, const std::string& name,
                                                   const std::function<std::shared_ptr<resource>()>& make) = 0;
};

// A value on its way between parts of a step. `ready` is the event at which a device with a stream has computed it;
// null for a value that is there.
struct handed_over {
  any_tensor value;
  std::shared_ptr<devices::event> ready;

  handed_over() = default;
  handed_over(any_tensor v, std::shared_ptr<devices::event> at = {}) : value(std::move(v)), ready(std::move(at)) {}
};

// The exchange of values between the parts of a step. A value is sent once and received once, in either order. send
// never blocks. A second receiver of a key gets an error at once, since it would wait for ever.
class rendezvous {
 public:
  using receiver = completion<handed_over>;
  virtual ~rendezvous() = default;
  // Sends the value of a key.
  virtual void send(const transfer_key& key, handed_over value) = 0;
  // Calls `done` once with the value of a key, when it has been sent. It may be called before receive returns.
  virtual void receive(const transfer_key& key, receiver done) = 0;
  virtual void abort(const error& why) = 0;  // ends every receiver, waiting or future, with the error

 protected:
  static error received_twice(const transfer_key& key);
};

struct body;
struct node;
struct output;
struct cell;
class bound_body;
class kernel_context;
class step_tracer;  // defined in the runtime; kernels pass it on to nested steps

// A body that is compiled to run as a step inside another step. Any number of runs may be under way at once.
class nested_step {
 public:
  using ended = completion<std::vector<any_tensor>>;  // takes the results of the body
  virtual ~nested_step() = default;
  // Starts a run. `arguments` are those of the body, in memory of the caller's device. `done` is called once, in any
  // thread, and may be called before start returns. The run ends with the caller's step; the caller's context
  // stays valid until `done`.
  virtual void start(kernel_context& caller, std::vector<any_tensor> arguments, ended done) = 0;
  // Tells whether nothing in the body waits, so that run() will do.
  virtual bool runs_in_place() const = 0;
  // Runs the body, and returns when it has ended. The arguments are moved out. `results` has one element for each.
  // Throws the first failure. Requires: runs_in_place().
  virtual void run(kernel_context& caller, std::span<any_tensor> arguments, std::span<any_tensor> results) = 0;
  // Binds the body to lasting cells of its arguments. Returns null where it cannot be bound: see opkit/binding.hpp.
  // The bound body refers to this one.
  virtual std::unique_ptr<bound_body> bind(std::span<const cell> arguments);
};

// Compiles bodies for the devices of the task. Thread-safe.
class body_compiler {
 public:
  virtual ~body_compiler() = default;
  // Compiles a body for the given results. Throws as a session does for a step that cannot be placed. The compiled step
  // refers to the body.
  virtual std::shared_ptr<nested_step> compile(const body& b, const std::vector<output>& results, const node& caller,
                                               const devices::device& on) = 0;
};

// The services that a task gives to its kernels. The task owns them.
struct task_services {
  resource_manager* resources = nullptr;
  thread_pool* intra_op = nullptr;  // splits loops inside one kernel
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/services.ipp>
#endif
