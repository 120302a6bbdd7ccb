// Kernels that are made of text while a program runs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/cuda/code_cache.hpp>
#include <pinion/device/device.hpp>

struct CUkern_st;

namespace pinion { inline namespace v0 {

class thread_pool;

namespace cuda {

// The text of one kernel behind the prelude that all share (scalar::cuda_prelude), and the kernel's name in it. The
// name is unique: kernels of one name have one text.
struct kernel_text {
  std::string name, text;
};

// The kernels of one compute capability, in memory and on the disk. Kernels that are announced are compiled together,
// as soon as they are asked for or one of them is wanted, in as many units as there are threads. The disk's are those
// of the compiler that is there, and of any where it is missing. It lives as long as the process. Thread-safe.
class kernel_store {
 public:
  static kernel_store& of(int major, int minor);
  // `cache`: the disk's.
  kernel_store(int major, int minor, code_cache cache) : major_(major), minor_(minor), cache_(std::move(cache)) {}

  // Tells that a kernel will be wanted.
  void announce(kernel_text text);
  // Makes all kernels that were announced, as find() does; it returns when they are made, refused or failed.
  void make_announced(thread_pool* threads);
  // Compiles all kernels that were announced and keeps them on the disk, for a machine that has the GPU; no GPU is
  // needed, and nothing is loaded. `threads` helps. Throws as compiler::compile does, for the first unit that fails.
  void keep_announced(thread_pool* threads);
  // The key of a kernel's text in the cache of the disk.
  std::string key_of(const std::string& text) const;
  // The kernel, which it makes where it has to, and those announced with it. Waits for another thread that makes it.
  // `threads` helps; null: the caller alone. Null where there will be none: the compiler is missing, or it refuses the
  // text, or the driver refuses the code. `tell`, if there is one, is called with the reason of a refusal, for the
  // first who meets it. Throws internal where CUDA fails for other reasons; the next call tries anew.
  using tell_refusal = std::function<void(const error& why)>;
  CUkern_st* find(const kernel_text& text, thread_pool* threads, const tell_refusal& tell = {});

  // The numbers of kernels that were compiled, of the units that they were compiled in, and of kernels from the disk.
  struct counts {
    int compiled = 0, units = 0, from_disk = 0;
  };
  counts made() const;

 private:
  enum class state { announced, in_work, made, refused, failed };
  struct entry {
    std::string text = {};
    state is = state::announced;
    CUkern_st* kernel = nullptr;
    shared_error why_none = nullptr;
    bool is_told = false;

    bool is_settled() const { return is != state::announced && is != state::in_work; }
  };
  using entries = std::map<std::string, entry>;
  using batch = std::vector<entries::value_type*>;

  batch take_announced();
  void make(const batch& wanted, thread_pool* threads);
  // Parts of about as much text, which tells how long each takes. Requires: there is a part, unless there is no entry.
  static std::vector<batch> in_even_parts(batch all, std::size_t parts);
  // Calls a function for each of the units that kernels are compiled in, beside each other.
  static void in_units(batch all, thread_pool* threads, const std::function<void(const batch& unit)>& call);
  bool load_from_disk(entries::value_type& one);
  void compile(const batch& unit);
  std::string code_of(const batch& unit) const;
  void keep(const batch& unit, const std::string& code) const;
  void load(const std::string& code, const batch& unit, bool from_disk);
  void settle(entries::value_type& one, state is, CUkern_st* kernel, shared_error why_none);

  const int major_, minor_;
  const code_cache cache_;
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  entries entries_;
  counts counts_;
};

// Launches a kernel whose only parameter is a structure with these bytes. Throws internal where CUDA refuses.
void launch(devices::cuda_stream stream, CUkern_st* kernel, std::span<const std::byte> argument, unsigned blocks,
            unsigned threads);

}  // namespace cuda
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/kernel_store.ipp>
#endif
