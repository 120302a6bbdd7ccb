// The values that came for runs that have not begun, counted by their senders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/acceptor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Counts of values, of their bytes and of the runs that failed since too much would wait for them. A sender is a
// task with its life and host, so one that takes the name of another counts for itself. Owned by an exchange. Not
// thread-safe.
class early_values {
 public:
  struct share {
    std::size_t values = 0, failed = 0;
    std::uint64_t bytes = 0;
    share& operator+=(const share& o);
    share& operator-=(const share& o);
    bool operator==(const share&) const = default;
  };
  using shares = std::map<std::string, share>;  // by sender

  // The least that a value or a failed run counts, in bytes.
  static constexpr std::uint64_t least = 1024;

  // One sender may have so many values waiting, and a quarter of the bytes.
  early_values(std::string task, std::size_t values, std::uint64_t bytes)
      : task_(std::move(task)), most_(values), most_bytes_(bytes) {}

  static std::string sender_of(const rpc::peer& from);
  static std::string name_in(const std::string& sender) { return sender.substr(0, sender.find(' ')); }

  share of(const std::string& sender) const;
  // The values that wait, of all senders.
  std::size_t count() const;
  // Why another value of so many bytes may not wait; nothing: it may. Throws that if the sender has failed as many runs
  // as it may.
  std::optional<error> refusal(const std::string& sender, std::uint64_t bytes) const;
  // The sender whose values are to be dropped where too many bytes of all would wait: the one of whom most waits, but
  // "" if that is the one which sends more.
  std::string makes_room(const std::string& for_sender, std::uint64_t bytes) const;
  error too_much(const std::string& sender) const;
  bool may_fail(const std::string& sender) const { return of(sender).failed < most_; }

  // Count what came for a run, and forget it.
  void add(shares& of_run, const std::string& sender, const share& more);
  void remove(shares& of_run);

 private:
  bool fits_all(std::uint64_t bytes) const { return bytes_ + bytes <= most_bytes_; }

  const std::string task_;
  const std::size_t most_;
  const std::uint64_t most_bytes_;
  shares all_;
  std::uint64_t bytes_ = 0;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/early_values.ipp>
#endif
