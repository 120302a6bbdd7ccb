// Bodies of <pinion/runtime/step/receive_late.hpp>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <pinion/placement/late_receives.hpp>
#include <pinion/runtime/step/receive_late.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// A value that a partition receives, by the numbers of items.
struct received_value {
  int receive = -1;
  std::vector<int> readers = {};  // in order
  std::int64_t bytes = 0;
};

// The values of known size that are read, in the order of their first readers.
inline std::vector<received_value> received_values(const std::vector<part_item>& items, graph_view g) {
  std::vector<received_value> by_item(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const part_item& it = items[i];
    for (const auto& [producer, output] : it.inputs)
      if (auto& from = by_item[static_cast<std::size_t>(producer)]; from.bytes > 0)
        from.readers.push_back(static_cast<int>(i));
    if (it.kind == part_item::receive && it.index >= 0)
      by_item[i] = {static_cast<int>(i), {}, g.type_of({it.node, it.index}).bytes()};
  }
  std::erase_if(by_item, [](const received_value& v) { return v.readers.empty(); });
  std::stable_sort(by_item.begin(), by_item.end(),
                   [](const auto& a, const auto& b) { return a.readers.front() < b.readers.front(); });
  return by_item;
}

// The nodes that may wait for other steps behind which each item comes.
class waits_before {
 public:
  explicit waits_before(const std::vector<part_item>& items) : behind_(items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      add(behind_[i], items[i].waits);
      for (const auto& [producer, output] : items[i].inputs) add(behind_[i], of(producer));
      for (const int before : items[i].after) add(behind_[i], of(before));
    }
  }
  // Does the value's every reader come behind all that the item comes behind? Of too many nodes nobody can tell.
  bool hold_for_all(const received_value& v, int item) const {
    const auto& some = of(item);
    return some.size() <= part_item::most_waits && std::all_of(v.readers.begin(), v.readers.end(), [&](int reader) {
             const auto& all = of(reader);
             return std::includes(all.begin(), all.end(), some.begin(), some.end());
           });
  }

 private:
  const std::vector<node_id>& of(int item) const { return behind_[static_cast<std::size_t>(item)]; }
  static void add(std::vector<node_id>& to, const std::vector<node_id>& more) {
    if (more.empty() || to.size() > part_item::most_waits) return;
    std::vector<node_id> both;
    std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(both));
    to = std::move(both);
  }

  std::vector<std::vector<node_id>> behind_;
};

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void receive_late(std::vector<part_item>& items, graph_view g, std::int64_t ahead) {
  const auto values = detail::received_values(items, g);
  std::vector<std::int64_t> bytes;
  for (const auto& v : values) bytes.push_back(v.bytes);
  const std::vector<int> behind = late_receives(bytes, ahead);
  if (std::all_of(behind.begin(), behind.end(), [](int b) { return b < 0; })) return;
  const detail::waits_before waits(items);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (int b = behind[i]; b >= 0; --b) {
      const int reader = values[static_cast<std::size_t>(b)].readers.front();
      // One that reads both values comes behind the receive; one behind a wait of its own may wait for ever.
      if (reader >= values[i].receive || !waits.hold_for_all(values[i], reader)) continue;
      items[static_cast<std::size_t>(values[i].receive)].after.push_back(reader);
      break;
    }
}

}}}  // namespace pinion::v0::runtime
