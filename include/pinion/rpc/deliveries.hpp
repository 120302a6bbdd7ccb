// Messages that are on their way, and whether they have been taken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/rpc/connection.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The messages that some connections had been given at a moment. What they are given later does not count, so that no
// peer keeps others waiting by what it asks. Used in the network's thread.
class deliveries {
 public:
  // Adds those of a connection that are on their way. Null adds none.
  void expect(const std::shared_ptr<connection>& from);
  // Have the systems of the peers taken all of them, or their connections ended?
  bool are_made();

 private:
  struct delivery {
    std::weak_ptr<connection> from;
    std::uint64_t messages;
    std::optional<std::uint64_t> bytes = {};  // written when the last of the messages was
  };
  static bool is_made(delivery& d);
  std::vector<delivery> open_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/deliveries.ipp>
#endif
