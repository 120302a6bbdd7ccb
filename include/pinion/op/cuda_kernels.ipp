// Bodies of <pinion/op/cuda_kernels.hpp>.
#pragma once

#include <unordered_map>

#include <pinion/base/process.hpp>
#include <pinion/device/cuda/compiler.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/op/conv/cuda.hpp>
#include <pinion/op/cuda_kernels.hpp>
#include <pinion/op/elementwise/cuda.hpp>
#include <pinion/op/gather/cuda.hpp>
#include <pinion/op/layer/cuda.hpp>
#include <pinion/op/layout/cuda.hpp>
#include <pinion/op/matmul/cuda.hpp>
#include <pinion/op/nn/cuda.hpp>
#include <pinion/op/random/cuda.hpp>
#include <pinion/op/reduce/cuda.hpp>
#include <pinion/op/slice/cuda.hpp>
#include <pinion/op/source/cuda.hpp>
#include <pinion/op/variable/cuda_assign.hpp>
#include <pinion/op/variable/cuda_rows.hpp>
#include <pinion/op/variable/cuda_update.hpp>

namespace pinion { inline namespace v0 {

namespace detail {
inline const std::unordered_map<std::string_view, kernel_maker>& cuda_kernel_makers() {
  return table_of_this_process([] {
    std::unordered_map<std::string_view, kernel_maker> all;
    for_each_type(op::catalogue{}, [&]<class Op>() {
      if constexpr (requires(const kernel_setup& setup) { make_cuda_kernel(Op{}, setup); })
        all[Op::name] = [](const kernel_setup& setup) { return make_cuda_kernel(Op{}, setup); };
    });
    return all;
  });
}
}  // namespace detail

PINION_DECL kernel_maker cuda_kernel_of(std::string_view op) {
  const auto at = detail::cuda_kernel_makers().find(op);
  return at == detail::cuda_kernel_makers().end() ? nullptr : at->second;
}

PINION_DECL std::vector<std::string> open_gpu_libraries() {
  std::vector<std::string> found;
  if (cuda::compiler::of_this_program().is_there()) found.push_back("NVRTC");
  if (op::detail::open_products_library()) found.emplace_back(op::matmul::gpu_library);
  if (op::detail::open_convolutions_library()) found.emplace_back(op::conv2d::gpu_library);
  return found;
}

PINION_DECL void make_announced_code(devices::device& on, thread_pool* threads) {
  const auto* const gpu = dynamic_cast<const cuda::device*>(&on);
  if (!gpu) return;
  const cuda::card::visit here(gpu->facts().number);
  cuda::kernel_store::of(gpu->facts().major, gpu->facts().minor).make_announced(threads);
}

}}  // namespace pinion::v0
