// Elementwise kernels: a node's program, compiled if this binary holds its kernel, interpreted otherwise.
#pragma once

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <pinion/op/kernel.hpp>
#include <pinion/op/map/broadcast.hpp>
#include <pinion/op/map/op.hpp>
#include <pinion/op/map/runner.hpp>

namespace pinion::inline v0::op {

namespace detail {

// One operand of a launch: where its elements are, and how large they are.
struct map_operand {
  std::byte* data = nullptr;
  std::size_t element = 0;
};

// Room for an input that stays along a strip: `widest` equal elements.
struct alignas(64) splat {
  std::byte bytes[scalar::widest * 8];
  const void* fill(const std::byte* value, std::size_t element) {
    for (int i = 0; i < scalar::widest; ++i) std::memcpy(bytes + static_cast<std::size_t>(i) * element, value, element);
    return bytes;
  }
};

// A launch over a broadcast space; inputs first, then results.
struct map_launch {
  const program_runner* run;
  broadcast_walk walk;
  std::vector<map_operand> operands;
  std::vector<scalar::sink> how;  // one per result
  std::size_t inputs;

  void rows(std::int64_t first, std::int64_t last) const {
    // A single row is split along its strip instead: then `first` and `last` count elements of it.
    scalar::strip s;
    splat splats[scalar::max_inputs];
    const bool along = walk.outer() == 1;
    const std::int64_t begin = along ? first : 0;
    s.n = along ? last - first : walk.inner();
    for (std::size_t k = 0; k < how.size(); ++k) s.how[k] = how[k];
    for (std::int64_t row = along ? 0 : first; row < (along ? 1 : last); ++row) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const bool advances = walk.advances(k);
        std::byte* p = operands[k].data;
        if (p) p += (walk.start(k, row) + (advances ? begin : 0)) * static_cast<std::int64_t>(operands[k].element);
        if (k >= inputs) {
          s.out[k - inputs] = p;
        } else {
          s.advance[k] = advances ? ~std::int64_t{0} : 0;
          s.in[k] = advances ? p : splats[k].fill(p, operands[k].element);
        }
      }
      (*run)(s);
    }
  }
};

}  // namespace detail

// Kernel of every elementwise op.
class map_kernel final : public kernel {
 public:
  explicit map_kernel(const kernel_setup& setup)
      : run_(std::make_shared<program_runner>(program_of(setup.attrs()))), services_(setup.services) {}

  void run(kernel_context& c) override {
    std::vector<shape> operands;
    shape space{};
    for (const auto& in : c.inputs) {
      shape wider;
      if (!broadcast(space, in.shape(), wider))
        throw error(errc::invalid_argument,
                    "shapes " + to_string(space) + " and " + to_string(in.shape()) + " do not broadcast");
      space = wider;
      operands.push_back(in.shape());
    }
    const dtype result = run_->program().results[0].type;
    any_tensor& out = c.reuse_or_allocate(0, candidate(c, result, space), result, space);
    if (space.count() == 0) return;
    operands.push_back(space);
    detail::map_launch launch{run_.get(), broadcast_walk(space, operands), {}, {scalar::sink::store}, c.inputs.size()};
    for (const auto& in : c.inputs) launch.operands.push_back({in.byte_data(), size_of(in.dtype())});
    launch.operands.push_back({out.byte_data(), size_of(result)});
    c.launch([launch = std::move(launch), keep = run_, services = &services_] {
      const std::int64_t outer = launch.walk.outer(), inner = launch.walk.inner();
      const std::int64_t items = outer == 1 ? inner : outer;
      const std::int64_t per_item = outer == 1 ? 1 : inner;
      const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / per_item);  // ~128 KiB of floats a chunk
      kernel_context::in_chunks(*services, (items + grain - 1) / grain, [&](std::int64_t i) {
        launch.rows(i * grain, std::min(items, (i + 1) * grain));
      });
    });
  }

 private:
  // The first input whose memory the result could take.
  static int candidate(const kernel_context& c, dtype result, const shape& space) {
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      if (c.inputs[i].dtype() == result && c.inputs[i].shape() == space && c.inputs[i].unique()) return static_cast<int>(i);
    return 0;
  }
  std::shared_ptr<program_runner> run_;
  task_services& services_;
};

// Kernel of MapGrad: all gradients in one pass, sums over broadcast axes folded in. The order of each sum is fixed by
// shapes alone.
class map_gradient_kernel final : public kernel {
 public:
  explicit map_gradient_kernel(const kernel_setup& setup)
      : run_(std::make_shared<program_runner>(program_of(setup.attrs()))) {}

  void run(kernel_context& c) override {
    std::vector<shape> operands;
    shape space{};
    for (const auto& in : c.inputs) {
      shape wider;
      if (!broadcast(space, in.shape(), wider))
        throw error(errc::invalid_argument,
                    "shapes " + to_string(space) + " and " + to_string(in.shape()) + " do not broadcast");
      space = wider;
      operands.push_back(in.shape());
    }
    const auto& p = run_->program();
    const std::size_t results = p.results.size(), inputs = c.inputs.size();
    for (std::size_t k = 0; k < results; ++k) operands.push_back(c.inputs[k].shape());
    detail::map_launch launch{run_.get(), broadcast_walk(space, operands), {}, {}, inputs};
    for (const auto& in : c.inputs) launch.operands.push_back({in.byte_data(), size_of(in.dtype())});
    std::vector<std::pair<std::byte*, std::size_t>> sums;
    for (std::size_t k = 0; k < results; ++k) {
      if (!c.wants(static_cast<int>(k))) {
        launch.operands.push_back({});
        launch.how.push_back(scalar::sink::drop);
        continue;
      }
      const any_tensor& out = c.allocate(static_cast<int>(k), p.arithmetic, c.inputs[k].shape());
      launch.operands.push_back({out.byte_data(), size_of(p.arithmetic)});
      const bool whole = c.inputs[k].count() == space.count();
      if (!whole) sums.emplace_back(out.byte_data(), out.bytes());
      launch.how.push_back(whole ? scalar::sink::store
                           : launch.walk.advances(inputs + k) ? scalar::sink::add : scalar::sink::sum);
    }
    const bool empty = space.count() == 0;
    c.launch([launch = std::move(launch), keep = run_, sums = std::move(sums), empty] {
      for (auto [data, bytes] : sums) std::memset(data, 0, bytes);
      if (empty) return;
      launch.rows(0, launch.walk.outer() == 1 ? launch.walk.inner() : launch.walk.outer());
    });
  }

 private:
  std::shared_ptr<program_runner> run_;
};

template <class Functor>
std::unique_ptr<kernel> make_kernel(const map<Functor>&, const kernel_setup& setup) {
  return std::make_unique<map_kernel>(setup);
}
inline std::unique_ptr<kernel> make_kernel(map_gradient, const kernel_setup& setup) {
  return std::make_unique<map_gradient_kernel>(setup);
}

}  // namespace pinion::inline v0::op
