// Calls of oneDNN, versions 2 and 3.
#pragma once

#include <pinion/op/matmul/library_thread.hpp>

#if PINION_HAS_ONEDNN
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

using onednn_desc = dnnl::memory::desc;

inline const dnnl::engine& onednn_engine() {
  return table_of_this_process([] { return dnnl::engine(dnnl::engine::kind::cpu, 0); });
}

// Calls oneDNN, and turns its exceptions into pinion::error.
template <class F>
void calling_onednn(F&& call) {
  try {
    const onednn_thread ready;
    call();
  } catch (const dnnl::error& e) {
    throw error(errc::internal, std::string("oneDNN failed: ") + e.what());
  }
}

inline dnnl::primitive_attr scratch_of_caller() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // otherwise concurrent steps would share it
  return attr;
}

// Memory that a primitive works in, and some bytes behind it, which tell whether it has kept to it: a sanitizer does
// not see inside a library.
class onednn_scratch {
 public:
  explicit onednn_scratch(const onednn_desc& d)
      : bytes_(d.get_size()), data_(static_cast<std::byte*>(::operator new(bytes_ + behind, alignment))) {
    std::memset(data_.get() + bytes_, mark, behind);
    memory_ = dnnl::memory(d, onednn_engine(), data_.get());
  }
  const dnnl::memory& memory() const { return memory_; }
  void expect_kept() const {
    const auto* const end = reinterpret_cast<const unsigned char*>(data_.get() + bytes_);
    if (std::any_of(end, end + behind, [](unsigned char byte) { return byte != mark; }))
      throw error(errc::internal, "oneDNN wrote beyond the " + std::to_string(bytes_) +
                                      " bytes of scratch memory that it had asked for");
  }

 private:
  static constexpr std::align_val_t alignment{64};
  static constexpr std::size_t behind = 1024;
  static constexpr unsigned char mark = 0xa5;
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  const std::size_t bytes_;
  const std::unique_ptr<std::byte, release> data_;
  dnnl::memory memory_;
};

// A oneDNN primitive with the layouts that it prefers, and the reorders between these and ours. Immutable once made.
class onednn_call {
 public:
  struct operand {
    int role;
    onednn_desc ours, theirs;
    bool is_result = false;
  };

  onednn_call(dnnl::primitive p, std::vector<operand> operands, const onednn_desc& scratch)
      : primitive_(std::move(p)), operands_(std::move(operands)), scratch_(scratch) {}

  // Runs it. `data` has one pointer for each operand, in their order.
  void operator()(const std::vector<float*>& data) const {
    dnnl::stream stream(onednn_engine());
    std::unordered_map<int, dnnl::memory> arguments;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const operand& o = operands_[i];
      dnnl::memory ours(o.ours, onednn_engine(), data[i]);
      if (o.ours == o.theirs) {
        arguments.emplace(o.role, ours);
        continue;
      }
      dnnl::memory theirs(o.theirs, onednn_engine());
      if (!o.is_result) dnnl::reorder(ours, theirs).execute(stream, ours, theirs);
      arguments.emplace(o.role, theirs);
    }
    const onednn_scratch scratch(scratch_);
    arguments.emplace(DNNL_ARG_SCRATCHPAD, scratch.memory());
    primitive_.execute(stream, arguments);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const operand& o = operands_[i];
      if (!o.is_result || o.ours == o.theirs) continue;
      dnnl::memory ours(o.ours, onednn_engine(), data[i]);
      dnnl::reorder(arguments.at(o.role), ours).execute(stream, arguments.at(o.role), ours);
    }
    stream.wait();
    scratch.expect_kept();
  }

 private:
  dnnl::primitive primitive_;
  std::vector<operand> operands_;
  onednn_desc scratch_;
};

// Makes the description of a primitive; oneDNN 2 does so in two steps.
template <class Primitive, class... Argument>
typename Primitive::primitive_desc onednn_description(const dnnl::primitive_attr& attr, const Argument&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), arguments..., attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attr, onednn_engine());
#endif
}
}}}}  // namespace pinion::v0::op::detail
#endif
