// Bodies of <pinion/data/generator.hpp>.
#pragma once

#include <pinion/data/cursor.hpp>
#include <pinion/data/generator.hpp>

namespace pinion { inline namespace v0 { namespace data {

namespace detail {

class generator_cursor final : public cursor {
 public:
  generator_cursor(const any_generator& from, std::stop_token stop)
      : copy_(from.copy(from.function.get())), call_(from.call), stop_(std::move(stop)) {}
  bool next(any_element& to) override { return call_(copy_.get(), stop_, to); }

 private:
  std::shared_ptr<void> copy_;
  bool (*call_)(void*, const std::stop_token&, any_element&);
  std::stop_token stop_;
};

}  // namespace detail

PINION_DECL stage_ptr generate(any_generator from) {
  return make_stage([from = std::move(from)](const pass_options& pass) -> cursor_ptr {
    return std::make_unique<detail::generator_cursor>(from, pass.stop);
  });
}

}}}  // namespace pinion::v0::data
