// Maps on GPUs: a program's kernel for each form of its runs.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/cuda_ahead_map.hpp>
#include <pinion/op/elementwise/cuda_compiler.hpp>
#include <pinion/op/elementwise/cuda_interpreted.hpp>
#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A program whose results all have an element for each element of the space. Thread-safe.
class cuda_map_program {
 public:
  // `is_guarded`: a run writes nothing where an earlier kernel of its step met a wrong value.
  cuda_map_program(const kernel_setup& setup, const scalar::program& p, bool is_guarded = false)
      : program_(scalar::executable(p)),
        is_guarded_(is_guarded),
        compiler_(setup),
        ahead_(program_),
        interpreted_(program_) {}

  const scalar::program& program() const { return program_; }

  // Announces the kernel of runs over a walk, whose operands begin at whole vectors, unless there is one already.
  void announce(const broadcast_walk& walk) {
    if (ahead_.takes(walk)) return;
    const std::vector<const void*> aligned(walk.strides.size(), nullptr);
    compiler_.announce(text_of(form_of(walk, aligned)));
  }
  // Launches a run. Nothing is launched over an empty space.
  void run(kernel_context& c, const broadcast_walk& walk, const cuda_addresses& operands) {
    if (walk.inner() == 0 || walk.outer() == 0) return;
    const auto guard = is_guarded_ && c.watch ? c.watch->wrong_so_far(*c.device) : cuda::wrong_places{};
    if (ahead_.launch(c, walk, operands.all(), guard)) return;
    const cuda_form form = form_of(walk, operands.all());
    if (CUkern_st* const kernel = find(form))
      launch(c, kernel, cuda_map_launch(program_, walk, form, operands.all(), guard));
    else
      interpreted_.launch(c, walk, operands.all(), guard);
  }

 private:
  cuda_form form_of(const broadcast_walk& walk, std::span<const void* const> addresses) const {
    cuda_form form = cuda_form_of(program_, walk, addresses);
    form.is_guarded = is_guarded_;
    return form;
  }
  cuda::kernel_text text_of(const cuda_form& form) const {
    return named_text([&](const std::string& name) { return cuda_map_text(program_, form, name); });
  }
  CUkern_st* find(const cuda_form& form) {
    {
      std::lock_guard hold(mutex_);
      for (const auto& [known, kernel] : kernels_)
        if (known == form) return kernel;
    }
    CUkern_st* const kernel = compiler_.find(text_of(form), program_);
    std::lock_guard hold(mutex_);
    kernels_.emplace_back(form, kernel);
    return kernel;
  }

  const scalar::program program_;
  const bool is_guarded_;
  const cuda_compiler compiler_;
  ahead_map ahead_;
  interpreted_map interpreted_;
  std::mutex mutex_;
  std::vector<std::pair<cuda_form, CUkern_st*>> kernels_;
};

}}}}  // namespace pinion::v0::op::detail
