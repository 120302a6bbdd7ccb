// Values that go to a GPU and come back, beside copies between pinned memory and the GPU.
#include <future>

#include "gpu_node.hpp"

namespace {

namespace pn = pinion;

void compare(std::int64_t bytes, pn::cuda::device& on) {
  const std::string size = fmt::format("{} MiB", bytes >> 20);
  const pn::any_tensor value(pn::dtype::uint8, {bytes}), there = on.from_host(value);
  const pn::any_tensor pinned(pn::dtype::uint8, {bytes}, pn::cuda::pinned_memory::of_gpus());
  const pn::any_tensor room(pn::dtype::uint8, {bytes}, on.memory());
  const auto size_in_bytes = static_cast<std::size_t>(bytes);
  const auto raw_copy = [&](void* to, const void* from) {
    return [=, &on] {
      cudaMemcpyAsync(to, from, size_in_bytes, cudaMemcpyDefault, on.stream()->native());
      on.stream()->synchronize();
    };
  };
  const auto fetch = [&] {
    std::promise<pn::any_tensor> done;
    on.to_host(there, [&](pn::outcome<pn::any_tensor> copy) { done.set_value(std::move(copy).value()); });
    return done.get_future().get();
  };
  const pn::any_tensor fetched = fetch();  // pinned, as values are that were fetched

  bench::contest c;
  const auto give = [&](const pn::any_tensor& v) {
    on.from_host(v);
    on.stream()->synchronize();
  };
  const int up = c.add("pinion", bench::wall_seconds, [&] { give(value); });
  const int up_pinned = c.add("pinion, of a fetched value", bench::wall_seconds, [&] { give(fetched); });
  const int up_limit = c.add("pinned copy", bench::wall_seconds, raw_copy(room.raw(), pinned.raw()));
  const int down = c.add("pinion", bench::wall_seconds, [&] { fetch(); });
  const int down_limit = c.add("pinned copy", bench::wall_seconds, raw_copy(pinned.raw(), room.raw()));
  c.run();
  c.row("to the GPU, " + size, up, up_limit, bench::at_least(.9));
  c.row("to the GPU, " + size, up_pinned, up_limit, bench::at_least(.9));
  c.row("to the host, " + size, down, down_limit, bench::at_least(.9));
}

}  // namespace

int main() {
  const auto on = bench::first_gpu();
  if (!on) return 2;
  for (const std::int64_t mib : {1, 16, 256})
    if (mib < 256 || !bench::quick()) compare(mib << 20, *on);
}
