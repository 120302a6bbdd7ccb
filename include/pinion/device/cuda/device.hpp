// A GPU of this machine as a device.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/card.hpp>
#include <pinion/device/cuda/memory.hpp>
#include <pinion/device/cuda/stream.hpp>
#include <pinion/device/device.hpp>
#include <pinion/device/gpu_options.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// The copies that a stream has not ended yet, with the memory that they read. Thread-safe.
class copies_under_way {
 public:
  // Keeps memory until a stream of the card has reached what was enqueued so far.
  void keep(any_tensor memory, card& on, const stream& order);
  // Lets go of what has been copied.
  void reap();
  // Waits until at most so many bytes are under way.
  void wait_for_room(std::int64_t most);

 private:
  struct copy {
    any_tensor memory;
    std::shared_ptr<CUevent_st> end;
  };
  std::mutex mutex_;
  std::deque<copy> copies_;
  std::int64_t bytes_ = 0;
};

// A GPU, with one stream for kernels and two for copies. Nothing of it takes memory before a step uses it. Several
// devices may share one GPU, each with its part of the memory. Strings cannot go to it: from_host() throws
// invalid_argument.
class device final : public devices::device {
 public:
  // `memory_limit`: bytes; `reserve`: its first use takes them all; `helpers` copy large values of the host beside the
  // caller.
  device(const device_spec& spec, const card_facts& facts, std::int64_t memory_limit, bool reserve,
         product_precision float_products = product_precision::full, thread_pool* helpers = nullptr);
  // Waits for the streams and for the callbacks.
  ~device() override;

  devices::kernel_code kernels() const override { return devices::kernel_code::cuda; }
  product_precision float_products() const override { return float_products_; }
  const card_facts& facts() const { return card_->facts(); }
  cuda::memory& memory() override { return *use().memory; }
  std::int64_t memory_used() override { return memory().used(); }
  std::int64_t memory_peak() override { return memory().peak(); }
  devices::stream* stream() override { return use().kernels.get(); }

  any_tensor from_host(const any_tensor& value) override;
  any_tensor from_peer(const any_tensor& value, std::shared_ptr<devices::event> ready) override;
  void to_host(const any_tensor& value, completion<any_tensor> done) override;

 private:
  // The parts of a GPU in use.
  struct parts {
    explicit parts(const std::shared_ptr<card>& on, std::int64_t memory_limit, bool reserve);
    const std::shared_ptr<cuda::stream> kernels;
    cuda::stream uploads, downloads;
    const std::shared_ptr<cuda::memory> memory;
    copies_under_way from_host;
  };
  parts& use();
  void upload(parts& p, const any_tensor& value, const any_tensor& to);
  // Copies within the memory of the host.
  void copy_here(void* to, const void* from, std::size_t bytes) const;
  // A copy that the stream makes of a tensor whose other holders may write to it, as updates of variables do.
  any_tensor stable(parts& p, const any_tensor& value);

  const std::shared_ptr<card> card_;
  const bool reserve_;
  const product_precision float_products_;
  thread_pool* const helpers_;
  std::once_flag once_;
  std::unique_ptr<parts> parts_;
};

// The devices /gpu:0, /gpu:1, ... of a task, over the GPUs that the options choose. `why_none` is a sentence where
// there are none; that of a driver which is too old is also told once on standard error.
struct task_gpus {
  std::vector<std::unique_ptr<devices::device>> devices;
  std::string why_none;
};
// Makes no context. Throws as devices::chosen_gpus() does. The helpers are those of device.
task_gpus make_devices(const device_spec& task, const gpu_options& o, thread_pool* helpers = nullptr);

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/device.ipp>
#endif
