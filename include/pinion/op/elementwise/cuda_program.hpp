// Programs as kernels of a GPU, compiled from text at the first run of a form.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/device.hpp>
#include <pinion/device/cuda/kernel_store.hpp>
#include <pinion/op/elementwise/cuda_interpreted.hpp>
#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/op/elementwise/cuda_map_gradient.hpp>
#include <pinion/op/elementwise/cuda_sums.hpp>
#include <pinion/op/elementwise/layout.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The text of a kernel under a name of its own: write(name) gives the text under a name.
template <class Write>
cuda::kernel_text named_text(Write write) {
  const std::string name = "pinion_" + cuda::digest(write("kernel"));
  return {name, write(name)};
}

// The kernels of the GPU that a node runs on, and the threads that help to compile them. A value.
class cuda_compiler {
 public:
  explicit cuda_compiler(const kernel_setup& setup)
      : card_(facts_of(setup.device).number), store_(&store_of(setup.device)), threads_(setup.services.intra_op) {}

  void announce(cuda::kernel_text text) const { store_->announce(std::move(text)); }
  // The kernel; null where there is no compiler, so that the program is interpreted.
  CUkern_st* find(const cuda::kernel_text& text) const {
    try {
      const cuda::card::visit here(card_);
      return store_->find(text, threads_);
    } catch (const error& e) {
      if (e.code() != errc::unimplemented) throw;
      return nullptr;
    }
  }

 private:
  static const cuda::card_facts& facts_of(const devices::device& on) {
    return static_cast<const cuda::device&>(on).facts();
  }
  static cuda::kernel_store& store_of(const devices::device& on) {
    return cuda::kernel_store::of(facts_of(on).major, facts_of(on).minor);
  }

  int card_;
  cuda::kernel_store* store_;
  thread_pool* threads_;
};

inline void launch(kernel_context& c, CUkern_st* kernel, const cuda_launch& how) {
  cuda::launch(c.device->stream()->native(), kernel, how.argument, how.blocks, cuda_launch::threads);
}

// The addresses of operands, in the order of a walk.
class cuda_addresses {
 public:
  void add(const any_tensor& t) { add(t.raw()); }
  void add(const void* address) { all_[count_++] = address; }
  std::span<const void* const> all() const { return {all_.data(), count_}; }

 private:
  std::array<const void*, broadcast_walk::most_operands> all_;
  std::size_t count_ = 0;
};

// A program whose results all have an element for each element of the space. Thread-safe.
class cuda_map_program {
 public:
  // `is_guarded`: a run writes nothing where an earlier kernel of its step met a wrong value.
  cuda_map_program(const kernel_setup& setup, const scalar::program& p, bool is_guarded = false)
      : program_(scalar::executable(p)), is_guarded_(is_guarded), compiler_(setup), interpreted_(program_) {}

  const scalar::program& program() const { return program_; }

  // Announces the kernel of runs over a walk, whose operands begin at whole vectors.
  void announce(const broadcast_walk& walk) {
    const std::vector<const void*> aligned(walk.strides.size(), nullptr);
    compiler_.announce(text_of(form_of(walk, aligned)));
  }
  // Launches a run. Nothing is launched over an empty space.
  void run(kernel_context& c, const broadcast_walk& walk, const cuda_addresses& operands) {
    if (walk.inner() == 0 || walk.outer() == 0) return;
    const cuda_form form = form_of(walk, operands.all());
    const auto guard = is_guarded_ && c.watch ? c.watch->wrong_so_far(*c.device) : cuda::wrong_places{};
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
    CUkern_st* const kernel = compiler_.find(text_of(form));
    std::lock_guard hold(mutex_);
    kernels_.emplace_back(form, kernel);
    return kernel;
  }

  const scalar::program program_;
  const bool is_guarded_;
  const cuda_compiler compiler_;
  interpreted_map interpreted_;
  std::mutex mutex_;
  std::vector<std::pair<cuda_form, CUkern_st*>> kernels_;
};

// The gradients of a map over inputs of some shapes where nothing compiles them: each has an element for each element
// of the space first, and those over fewer axes are then added up. Thread-safe.
class interpreted_gradients {
 public:
  // `p` is the program of the wanted results alone; result k has the shape of input `of[k]`.
  interpreted_gradients(const scalar::program& p, const std::vector<shape>& inputs, const std::vector<std::size_t>& of)
      : space_(map_layout::space_of(inputs)), walk_(space_, with_space(inputs, space_, of.size())), program_(p) {
    for (const std::size_t k : of) sums_.push_back(sum_of(inputs[k]));
    type_ = p.arithmetic;
  }

  void run(kernel_context& c, const cuda_addresses& operands) {
    std::vector<const void*> at(operands.all().begin(), operands.all().end());
    std::vector<any_tensor> whole;
    const std::size_t inputs = at.size() - sums_.size();
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      whole.push_back(sums_[k].is_whole ? any_tensor() : c.scratch(type_, space_));
      if (whole[k]) at[inputs + k] = whole[k].raw();
    }
    program_.launch(c, walk_, at);
    for (std::size_t k = 0; k < sums_.size(); ++k)
      if (whole[k]) add_up(c, whole[k], const_cast<void*>(operands.all()[inputs + k]), sums_[k].over);
  }

 private:
  struct sum {
    bool is_whole;
    cuda::summed_space over;
  };
  static std::vector<shape> with_space(std::vector<shape> inputs, const shape& space, std::size_t results) {
    inputs.insert(inputs.end(), results, space);
    return inputs;
  }
  sum sum_of(const shape& result) const {
    const broadcast_walk walk(space_, {result});
    sum all{result.count() == space_.count(), {}};
    for (std::size_t d = 0; d < walk.extents.size(); ++d) {
      all.over.extent[d] = walk.extents[d];
      all.over.is_kept[d] = walk.strides[0][d] != 0;
    }
    all.over.rank = static_cast<int>(walk.extents.size());
    return all;
  }
  void add_up(kernel_context& c, const any_tensor& from, void* to, const cuda::summed_space& over) const {
    visit_plain(type_, [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        cuda::sum_over(c.device->stream()->native(), static_cast<const T*>(from.raw()), static_cast<T*>(to), over);
    });
  }

  const shape space_;
  const broadcast_walk walk_;
  interpreted_map program_;
  std::vector<sum> sums_;
  dtype type_ = dtype::invalid;
};

// The pass of a map's gradients over inputs of some shapes, for the results that are wanted and for a form. Immutable
// once made.
class cuda_gradient_pass {
 public:
  // `walk` is that of `p`, the program of the wanted results alone.
  cuda_gradient_pass(const cuda_compiler& compiler, scalar::program p, broadcast_walk walk,
                     const cuda_gradient_form& form)
      : program_(std::move(p)), walk_(std::move(walk)), form_(form), run_(program_, walk_, form_) {
    const auto pass = named_text([&](const std::string& name) { return cuda_gradient_text(program_, form_, name); });
    const auto sum = named_text([&](const std::string& name) { return cuda_sum_text(program_.arithmetic, name); });
    compiler.announce(sum);
    pass_ = compiler.find(pass);
    if (pass_) sum_ = compiler.find(sum);
  }
  cuda_gradient_pass(const cuda_gradient_pass&) = delete;

  const cuda_gradient_form& form() const { return form_; }
  // False where nothing compiles it.
  bool is_compiled() const { return sum_ != nullptr; }
  // Requires: it is compiled. `operands` are the inputs, then the wanted results.
  void run(kernel_context& c, const cuda_addresses& operands) const {
    std::vector<const void*> at(operands.all().begin(), operands.all().end());
    std::vector<any_tensor> sums;
    for (std::size_t k = 0; k < program_.results.size(); ++k) {
      sums.push_back(run_.partial_sums(k) > 0 ? c.scratch(program_.arithmetic, {run_.partial_sums(k)}) : any_tensor());
      if (sums[k]) at[program_.inputs + k] = sums[k].raw();
    }
    launch(c, pass_, run_.pass(at));
    for (std::size_t k = 0; k < sums.size(); ++k)
      if (sums[k]) launch(c, sum_, run_.sum(k, sums[k].raw(), const_cast<void*>(operands.all()[program_.inputs + k])));
  }

 private:
  const scalar::program program_;
  const broadcast_walk walk_;
  const cuda_gradient_form form_;
  const cuda_gradient_run run_;
  CUkern_st *pass_ = nullptr, *sum_ = nullptr;
};

}}}}  // namespace pinion::v0::op::detail
