// Values that wait in this task until another task asks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/run_id.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The values that were announced to other tasks, by their runs and keys, and their bytes by the task for which each
// waits. A value is gone when it was taken, or with its run, its session or that task. Owned by an exchange. Not
// thread-safe.
class offers {
 public:
  // At most so many bytes wait for one task, but one value may be larger.
  explicit offers(std::uint64_t most) : most_(most) {}

  // Keeps a value for a task. Returns false if more bytes than may would wait for it.
  [[nodiscard]] bool add(const run_id& run, const transfer_key& key, std::string_view to, any_tensor value);
  // Takes a value out; an empty one if it is not there.
  any_tensor take(const run_id& run, const transfer_key& key);
  void forget(const run_id& run);
  void forget_session(const session_id& session);
  void forget_task(const std::string& task);

  std::size_t count() const;
  std::uint64_t most() const { return most_; }

 private:
  struct offer {
    any_tensor value;
    std::string to;
    std::uint64_t bytes = 0;
  };
  using offers_of_run = std::map<transfer_key, offer>;
  void uncount(const offer& gone);

  const std::uint64_t most_;
  std::map<run_id, offers_of_run> runs_;
  std::map<std::string, std::uint64_t, std::less<>> bytes_;  // by task
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/offers.ipp>
#endif
