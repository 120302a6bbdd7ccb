// The readers of nodes, which passes look for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 {

// A node that reads another one, and the number of the input by which it does.
struct reading {
  node_id reader;
  std::size_t input;
};

// The readers of each node of a draft that run, as they were when this was made: a pass that looks through the whole
// draft for each of its nodes takes too long for large steps. A value.
class readers {
 public:
  explicit readers(const draft& d) : ends_(static_cast<std::size_t>(d.size()) + 1) {
    for_each(d, [this](std::size_t of, const reading&) { ++ends_[of + 1]; });
    for (std::size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    all_.resize(ends_.back());
    for_each(d, [this](std::size_t of, const reading& r) { all_[ends_[of]++] = r; });  // from its beginning to its end
  }

  // Returns the readings of a node, in the order of the draft.
  std::span<const reading> of(node_id i) const {
    const auto at = static_cast<std::size_t>(i);
    const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
    return std::span(all_).subspan(begin, ends_[at] - begin);
  }

 private:
  template <class Use>
  static void for_each(const draft& d, const Use& use) {
    for (node_id i = 0; i < d.size(); ++i) {
      if (!d.runs(i)) continue;
      const auto& inputs = d.node_at(i).inputs;
      for (std::size_t k = 0; k < inputs.size(); ++k) use(static_cast<std::size_t>(inputs[k].node), reading{i, k});
    }
  }

  std::vector<std::size_t> ends_;  // of the readings of each node among all
  std::vector<reading> all_;
};

}}  // namespace pinion::v0
