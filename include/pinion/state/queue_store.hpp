// The elements of a queue. Kinds of queues differ in the element that comes out next.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/graph/node.hpp>
#include <pinion/graph/op_names.hpp>

namespace pinion { inline namespace v0 { namespace state {

// An element: one tensor for each component.
using queue_element = std::vector<any_tensor>;

// The elements of one queue, in the order of its kind. For one thread at a time: its queue locks.
class queue_store {
 public:
  virtual ~queue_store() = default;
  virtual std::size_t size() const = 0;
  // Throws where there is no memory; then the element stays where it was.
  virtual void put(queue_element&& e) = 0;
  // Tells whether an element may be taken now.
  virtual bool ready(bool closed) const = 0;
  // Takes the next element. Requires: ready.
  virtual queue_element take() = 0;
  // Puts back elements that an attempt took, one after the other, before it gave up. Throws where there is no memory;
  // then those stay in the list that are not back.
  virtual void give_back(std::vector<queue_element>& taken) = 0;
};

namespace detail {

class fifo_store final : public queue_store {
 public:
  std::size_t size() const override { return elements_.size(); }
  void put(queue_element&& e) override { elements_.push_back(std::move(e)); }
  bool ready(bool) const override { return !elements_.empty(); }
  queue_element take() override {
    queue_element e = std::move(elements_.front());
    elements_.pop_front();
    return e;
  }
  void give_back(std::vector<queue_element>& taken) override {
    for (; !taken.empty(); taken.pop_back()) elements_.push_front(std::move(taken.back()));
  }

 private:
  std::deque<queue_element> elements_;
};

class shuffle_store final : public queue_store {
 public:
  shuffle_store(std::int64_t least, std::int64_t seed)
      : least_(static_cast<std::size_t>(least)),
        random_(seed != 0 ? static_cast<std::uint64_t>(seed) : std::uint64_t{std::random_device{}()}) {}
  std::size_t size() const override { return elements_.size(); }
  void put(queue_element&& e) override { elements_.push_back(std::move(e)); }
  bool ready(bool closed) const override { return elements_.size() > (closed ? 0 : least_); }
  queue_element take() override {
    std::swap(elements_[below(elements_.size())], elements_.back());
    queue_element e = std::move(elements_.back());
    elements_.pop_back();
    return e;
  }
  void give_back(std::vector<queue_element>& taken) override {
    elements_.reserve(elements_.size() + taken.size());
    for (auto& e : taken) elements_.push_back(std::move(e));
    taken.clear();
  }

 private:
  // A number below n. The result is the same with every standard library, unlike that of its distributions. The bias is
  // below n / 2^64.
  std::size_t below(std::size_t n) {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::size_t>(wide{random_()} * n >> 64);
  }

  const std::size_t least_;
  std::mt19937_64 random_;
  std::vector<queue_element> elements_;
};

class priority_store final : public queue_store {
 public:
  std::size_t size() const override { return elements_.size(); }
  void put(queue_element&& e) override {
    const std::int64_t priority = *e[0].data<std::int64_t>();
    elements_.emplace(std::pair{priority, last_++}, std::move(e));
  }
  bool ready(bool) const override { return !elements_.empty(); }
  queue_element take() override {
    queue_element e = std::move(elements_.begin()->second);
    elements_.erase(elements_.begin());
    return e;
  }
  // Puts elements back before those of equal priority, where they were.
  void give_back(std::vector<queue_element>& taken) override {
    for (; !taken.empty(); taken.pop_back()) {
      const std::int64_t priority = *taken.back()[0].data<std::int64_t>();
      elements_.emplace(std::pair{priority, first_--}, std::move(taken.back()));
    }
  }

 private:
  std::int64_t first_ = -1, last_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, queue_element> elements_;
};

}  // namespace detail

// The store for the kind of queue that a node makes.
inline std::unique_ptr<queue_store> make_queue_store(const node& n) {
  if (n.op == op_names::random_shuffle_queue)
    return std::make_unique<detail::shuffle_store>(n.attrs.get<std::int64_t>("min_after_dequeue"),
                                                   n.attrs.get_or<std::int64_t>("seed", 0));
  if (n.op == op_names::priority_queue) return std::make_unique<detail::priority_store>();
  return std::make_unique<detail::fifo_store>();
}

}}}  // namespace pinion::v0::state
