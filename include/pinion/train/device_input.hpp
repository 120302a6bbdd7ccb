// The elements of a dataset in the memory of a device, copied there ahead of the steps that are fed with them.
//
//   auto input = tr::to_device(digits.batch(50).prefetch(2), sess, "/gpu:0");
//   while (auto batch = input.next()) {
//     auto& [x, y] = *batch;
//     sess.run({{X, x}, {labels, y}}, train);
//   }
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

struct to_device_options {
  int ahead = 1;  // elements that are on their way, or there, beside the one that next() has given
};

// One pass over a dataset as values on a device. Owns the pass; once the session is gone, next() throws
// failed_precondition. For one thread at a time. Errors: of the pass, when its element would be given; of
// session::to_device.
template <element... Ts>
class device_pass {
 public:
  using value_type = std::tuple<device_tensor<Ts>...>;

  device_pass(data::pass<Ts...> from, session& on, const device_spec& where, to_device_options o)
      : from_(std::move(from)), session_(on), where_(where), ahead_(static_cast<std::size_t>(o.ahead)) {
    if (o.ahead < 0)
      throw error(errc::invalid_argument,
                  "to_device copies no less than 0 elements ahead, not " + std::to_string(o.ahead));
  }

  // The next element; nothing at the end, and ever after.
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

// The next pass of a dataset, on the device of a session that a spec fits. For a CPU nothing is copied.
template <element... Ts>
device_pass<Ts...> to_device(const data::dataset<Ts...>& from, session& on, std::string_view where,
                             to_device_options o = {}) {
  return {from.iterate(), on, parse_device(where), o};
}

}}}  // namespace pinion::v0::train
