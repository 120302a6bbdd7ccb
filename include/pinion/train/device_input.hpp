// A device pass yields the elements of a dataset as tensors in the memory of a device. It copies elements there ahead
// of the steps that are fed with them.
//
//   auto input = tr::to_device(digits.batch(50).prefetch(2), sess, "/gpu:0");
//   while (auto batch = input.next()) {
//     auto& [x, y] = *batch;
//     sess.run({{X, x}, {labels, y}}, train);
//   }
//
// Feeding a device_tensor costs no copy in a step on that device.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <pinion/data/dataset.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of to_device.
//
//   auto input = tr::to_device(digits.batch(50), sess, "/gpu:0", {.ahead = 2});
struct to_device_options {
  // The number of elements that are on the device, or on their way to it, besides the one that next() has returned.
  // More of them hide longer copies and take more memory of the device. At least 0, else invalid_argument.
  int ahead = 1;
};

// A pass over a dataset whose elements are values on a device. It owns the pass over the dataset and the copies that
// next() has not returned yet, and refers to the session: when the session is gone, next() throws failed_precondition.
// One thread at a time may use it. An error of the dataset or of session::to_device is thrown by the next() that would
// have returned the element it belongs to, after the elements before it.
template <element... Ts>
class device_pass {
 public:
  // An element: one device tensor for each component.
  using value_type = std::tuple<device_tensor<Ts>...>;

  // Copies nothing yet. Throws invalid_argument for a negative `ahead`.
  device_pass(data::pass<Ts...> from, session& on, const device_spec& where, to_device_options o)
      : from_(std::move(from)), session_(on), where_(where), ahead_(static_cast<std::size_t>(o.ahead)) {
    if (o.ahead < 0)
      throw error(errc::invalid_argument,
                  "to_device copies no less than 0 elements ahead, not " + std::to_string(o.ahead));
  }

  // The next element, or nothing at the end of the pass and ever after. It starts the copies of the elements that
  // follow.
  std::optional<value_type> next() {
    while (!ended_ && ready_.size() <= ahead_) pull();
    if (ready_.empty()) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return std::nullopt;
    }
    value_type first = std::move(ready_.front());
    ready_.pop_front();
    return first;
  }

 private:
  // Copies one more element to the device. It keeps an error until the elements before it are given out.
  void pull() {
    try {
      auto element = from_.next();
      ended_ = !element;
      if (element) ready_.push_back(std::apply([&](const auto&... t) { return value_type(there(t)...); }, *element));
    } catch (...) {
      ended_ = true;
      failure_ = std::current_exception();
    }
  }
  template <element T>
  // The copy of a tensor on the device.
  device_tensor<T> there(const tensor<T>& value) {
    return session_.to_device(value, where_);
  }

  data::pass<Ts...> from_;
  session_link session_;
  device_spec where_;
  std::size_t ahead_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::deque<value_type> ready_;
};

// Starts a pass of the dataset on the device that a spec such as "/gpu:0" selects among the session's. Nothing is
// copied for a CPU device. Throws invalid_argument for a spec that does not parse or `ahead` below 0; next() throws if
// the session has no such device.
template <element... Ts>
device_pass<Ts...> to_device(const data::dataset<Ts...>& from, session& on, std::string_view where,
                             to_device_options o = {}) {
  return {from.iterate(), on, parse_device(where), o};
}

}}}  // namespace pinion::v0::train
