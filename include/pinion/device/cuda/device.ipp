// Bodies of <pinion/device/cuda/device.hpp>.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/log.hpp>
#include <pinion/base/process.hpp>
#include <pinion/device/cuda/device.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

// Copies up to this size go through the stream of kernels, where an order between streams would cost more than it
// brings.
constexpr std::size_t small_copy = 64 << 10;
// Larger ones go through pinned memory in pieces, so that the host fills one while the GPU reads another.
constexpr std::size_t piece = 4 << 20;
constexpr std::int64_t most_under_way = 64 << 20;

inline bool is_pinned(const any_tensor& t) {
  return t.storage()->home().get() == &pinned_memory::of_gpus();
}

// Enqueues a copy between GPUs, or within one of several devices. CUDA goes over the host where it has to.
inline cudaError_t copy_from_peer(const any_tensor& to, const any_tensor& from, const card_facts& here,
                                  cudaStream_t by) {
  auto& owner = dynamic_cast<cuda::memory&>(*from.storage()->home());
  if (owner.card_number() == here.number)
    return cudaMemcpyAsync(to.raw(), from.raw(), from.bytes(), cudaMemcpyDeviceToDevice, by);
  owner.open_to(here);
  return cudaMemcpyPeerAsync(to.raw(), here.number, from.raw(), owner.card_number(), from.bytes(), by);
}

// Calls enqueue(), which has a stream fill a block that belongs to another. Where it throws, the block goes back only
// when the stream is done with it.
template <class F>
void enqueue_fill(const stream& by, F enqueue) {
  try {
    enqueue();
  } catch (...) {
    cudaStreamSynchronize(by.handle());
    throw;
  }
}

}  // namespace detail

PINION_DECL void copies_under_way::keep(any_tensor memory, card& on, const stream& order) {
  auto end = on.event();
  on.expect(cudaEventRecord(end.get(), order.handle()), "cudaEventRecord");
  std::lock_guard hold(mutex_);
  bytes_ += static_cast<std::int64_t>(memory.bytes());
  copies_.push_back({std::move(memory), std::move(end)});
}

PINION_DECL void copies_under_way::reap() {
  std::lock_guard hold(mutex_);
  while (!copies_.empty() && cudaEventQuery(copies_.front().end.get()) != cudaErrorNotReady) {
    bytes_ -= static_cast<std::int64_t>(copies_.front().memory.bytes());
    copies_.pop_front();
  }
  cudaGetLastError();  // what another call reports is no news
}

PINION_DECL void copies_under_way::wait_for_room(std::int64_t most) {
  for (;;) {
    std::shared_ptr<CUevent_st> first;
    {
      std::lock_guard hold(mutex_);
      if (bytes_ <= most || copies_.empty()) return;
      first = copies_.front().end;
    }
    cudaEventSynchronize(first.get());
    reap();
  }
}

PINION_DECL device::parts::parts(const std::shared_ptr<card>& on, std::int64_t memory_limit, bool reserve)
    : kernels(std::make_shared<cuda::stream>(on)),
      uploads(on),
      downloads(on),
      memory(std::make_shared<cuda::memory>(on, kernels, memory_limit, reserve)) {
  pinned_memory::of_gpus().serve_tensors(*on);
}

PINION_DECL device::device(const device_spec& spec, const card_facts& facts, std::int64_t memory_limit, bool reserve,
                           product_precision float_products, thread_pool* helpers)
    : devices::device(spec, memory_limit,
                      facts.name + ", CUDA, compute capability " + std::to_string(facts.major) + "." +
                          std::to_string(facts.minor) + ", bus " + facts.bus),
      card_(std::make_shared<card>(facts, name())),
      reserve_(reserve),
      float_products_(float_products),
      helpers_(helpers) {}

PINION_DECL device::~device() {
  if (!parts_) return;
  const card::visit here(card_->facts().number);
  for (cuda::stream* const s : {parts_->kernels.get(), &parts_->uploads, &parts_->downloads}) {
    cudaStreamSynchronize(s->handle());
    s->settle();
  }
}

PINION_DECL device::parts& device::use() {
  std::call_once(once_, [this] { parts_ = std::make_unique<parts>(card_, memory_limit(), reserve_); });
  return *parts_;
}

PINION_DECL any_tensor device::from_host(const any_tensor& value) {
  if (value.dtype() == dtype::string)
    throw error(errc::invalid_argument, "text stays in host memory; it cannot go to " + name());
  parts& p = use();
  any_tensor copy(value.dtype(), value.shape(), *p.memory);
  if (value.bytes() == 0) return copy;
  card_->enter();
  p.from_host.reap();
  if (value.bytes() <= detail::small_copy) {  // CUDA reads it before it returns
    card_->expect(cudaMemcpyAsync(copy.raw(), value.raw(), value.bytes(), cudaMemcpyHostToDevice, p.kernels->handle()),
                  "cudaMemcpyAsync");
    if (detail::is_pinned(value)) p.from_host.keep(value, *card_, *p.kernels);
    return copy;
  }
  p.uploads.wait(p.kernels->record());  // until then the block belongs to its former user
  detail::enqueue_fill(p.uploads, [&] {
    upload(p, value, copy);
    p.kernels->wait(p.uploads.record());
  });
  return copy;
}

PINION_DECL void device::upload(parts& p, const any_tensor& value, const any_tensor& to) {
  const auto copy = [&](std::size_t at, const void* from, std::size_t bytes) {
    card_->expect(cudaMemcpyAsync(to.byte_data() + at, from, bytes, cudaMemcpyHostToDevice, p.uploads.handle()),
                  "cudaMemcpyAsync");
  };
  if (detail::is_pinned(value)) {
    copy(0, value.raw(), value.bytes());
    return p.from_host.keep(value, *card_, p.uploads);
  }
  for (std::size_t at = 0; at < value.bytes(); at += detail::piece) {
    const std::size_t bytes = std::min(detail::piece, value.bytes() - at);
    p.from_host.wait_for_room(detail::most_under_way);
    any_tensor stage(dtype::uint8, {static_cast<std::int64_t>(bytes)}, pinned_memory::of_gpus());
    copy_here(stage.raw(), value.byte_data() + at, bytes);
    copy(at, stage.raw(), bytes);
    p.from_host.keep(std::move(stage), *card_, p.uploads);
  }
}

PINION_DECL void device::copy_here(void* to, const void* from, std::size_t bytes) const {
  constexpr std::size_t part = 512 << 10;  // one thread copies a fifth of what a GPU reads meanwhile
  if (!helpers_ || bytes <= part) return void(std::memcpy(to, from, bytes));
  helpers_->for_each_chunk(static_cast<std::int64_t>((bytes - 1) / part + 1), [&](std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i) * part;
    std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, std::min(part, bytes - at));
  });
}

PINION_DECL any_tensor device::from_peer(const any_tensor& value, std::shared_ptr<devices::event> ready) {
  parts& p = use();
  any_tensor copy(value.dtype(), value.shape(), *p.memory);
  if (value.bytes() == 0) return copy;
  card_->enter();
  p.uploads.wait(p.kernels->record());
  p.uploads.wait(std::move(ready));
  detail::enqueue_fill(p.uploads, [&] {
    card_->expect(detail::copy_from_peer(copy, value, facts(), p.uploads.handle()), "cudaMemcpyPeerAsync");
    p.uploads.when_reached([value](const outcome<>&) {});
    p.kernels->wait(p.uploads.record());
  });
  return copy;
}

PINION_DECL any_tensor device::stable(parts& p, const any_tensor& value) {
  any_tensor copy(value.dtype(), value.shape(), *p.memory);
  card_->expect(cudaMemcpyAsync(copy.raw(), value.raw(), value.bytes(), cudaMemcpyDeviceToDevice, p.kernels->handle()),
                "cudaMemcpyAsync");
  return copy;
}

PINION_DECL void device::to_host(const any_tensor& value, completion<any_tensor> done) {
  parts& p = use();
  card_->enter();
  any_tensor copy(value.dtype(), value.shape(), pinned_memory::of_gpus());
  const bool is_small = value.bytes() <= detail::small_copy;
  cuda::stream& by = is_small ? *p.kernels : p.downloads;
  const any_tensor from = is_small || value.unique() ? value : stable(p, value);
  if (!is_small) by.wait(p.kernels->record());
  if (value.bytes() > 0)
    card_->expect(cudaMemcpyAsync(copy.raw(), from.raw(), value.bytes(), cudaMemcpyDeviceToHost, by.handle()),
                  "cudaMemcpyAsync");
  by.when_reached([held = from, copy, done = std::move(done)](outcome<> copied) mutable {
    held = {};
    done(std::move(copied).then([&] { return std::move(copy); }));
  });
}

namespace detail {

struct told_problems {
  std::once_flag once;
};

}  // namespace detail

PINION_DECL task_gpus make_devices(const device_spec& task, const gpu_options& o, thread_pool* helpers) {
  machine_cards machine = list_cards();
  if (machine.is_trouble)
    std::call_once(of_this_process<detail::told_problems>().once,
                   [&] { write_log(log_level::warning, "", machine.why_none); });
  task_gpus made{{}, std::move(machine.why_none)};
  for (const devices::gpu_share& share : devices::chosen_gpus(o, machine.cards.size())) {
    const card_facts& facts = machine.cards[share.number];
    const bool reserve = o.per_process_memory_fraction > 0 && !o.allow_growth;
    made.devices.push_back(
        std::make_unique<device>(task.with_type("GPU").with_index(static_cast<int>(made.devices.size())), facts,
                                 share.of(facts.memory), reserve, o.float_products, helpers));
  }
  return made;
}

}}}  // namespace pinion::v0::cuda
