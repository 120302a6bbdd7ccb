// The GPUs that CUDA finds in this machine, and one of them in use.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/device.hpp>

struct CUevent_st;

namespace pinion { inline namespace v0 { namespace cuda {

// A GPU as CUDA lists it. A value.
struct card_facts {
  int number = 0;  // CUDA's, which CUDA_VISIBLE_DEVICES decides
  std::string name, bus;
  int major = 0, minor = 0;  // of its architecture
  std::int64_t memory = 0;   // bytes
};

// The GPUs of this machine. `why_none` is a sentence where there are none, with the versions of the driver and of the
// runtime where the driver is too old.
struct machine_cards {
  std::vector<card_facts> cards;
  std::string why_none;
  bool is_trouble = false;  // there is a driver, and it does not do what it should
};
// Asks CUDA. It makes no context, so a program that only lists GPUs takes none of their memory. Never throws for a
// machine without a GPU or a driver. A child of fork() whose parent has listed GPUs finds none.
machine_cards list_cards();

// Tells whether this process is a child of fork() whose parent has asked CUDA for its GPUs: CUDA does not go on there,
// not even for a list.
bool is_behind_fork();

// One GPU that a device uses: what its streams, memory and marks share. It keeps the first failure that loses the GPU,
// such as an illegal address or an uncorrectable memory error, after which CUDA refuses all work of this process on it.
// Thread-safe.
class card {
 public:
  // `device` is the name of the device in sentences. The first enter() makes the context.
  card(card_facts facts, std::string device) : facts_(std::move(facts)), device_(std::move(device)) {}
  card(const card&) = delete;
  ~card();

  const card_facts& facts() const { return facts_; }
  const std::string& device() const { return device_; }

  // Makes it the GPU of the calling thread. Throws the failure that lost it, and failed_precondition in a child of
  // fork(), where CUDA cannot go on.
  void enter();
  // Makes a GPU that of the calling thread for a scope, lost or not; then that which the thread entered is back. For
  // what is let go, in whichever thread: CUDA makes a context on the first GPU of the machine for one that entered
  // none.
  class visit {
   public:
    explicit visit(int number);
    visit(const visit&) = delete;
    ~visit();

   private:
    static void go(int number);

    const int before_;
  };
  // Throws where a call of CUDA failed: resource_exhausted for memory, unavailable for what loses the GPU, else
  // internal. The sentence names the GPU, the call and CUDA's code.
  void expect(int code, const char* call);
  // The failure that lost the GPU; null: it works.
  shared_error failure() const;

  // A point in time as CUDA knows it and as the host does, not far in the past.
  struct clock_base {
    std::shared_ptr<CUevent_st> event;
    devices::mark::time_point time;
  };
  std::shared_ptr<const clock_base> base();

  // An event without a time. It is kept for later when the last holder lets go.
  std::shared_ptr<CUevent_st> event();
  // An event with a time.
  std::shared_ptr<CUevent_st> timed_event();

 private:
  struct idle_events;

  const card_facts facts_;
  const std::string device_;
  std::atomic<bool> is_lost_{false};
  mutable std::mutex mutex_;
  shared_error failure_;
  std::shared_ptr<idle_events> idle_;
  std::shared_ptr<const clock_base> base_;
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/card.ipp>
#endif
