// Programs over small values that have cells, see opkit/binding.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/launch.hpp>
#include <pinion/opkit/binding.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A program over one strip: each input goes along it or has one element, and results are stored. Places are read and
// written in whole vectors.
class bound_strip final : public bound_call {
 public:
  // Tells whether it serves a layout.
  static bool serves(const map_layout& layout) {
    return layout.walk.outer() == 1 && layout.inputs.size() <= most_inputs && layout.how.size() <= most_results &&
           std::all_of(layout.how.begin(), layout.how.end(), [](scalar::sink s) { return s == scalar::sink::store; });
  }
  bound_strip(const program_runner& program, const map_layout& layout, std::span<const cell> inputs,
              std::span<const cell> outputs)
      : program_(&program), n_(is_single(layout) ? cell::copies : program.padded(layout.space.count())) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      in_[k] = inputs[k].at;
      advance_[k] = is_single(layout) || layout.walk.advances(k) ? ~std::int64_t{0} : 0;
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      out_[k] = outputs[k].at;
      how_[k] = outputs[k].at ? scalar::sink::store : scalar::sink::drop;
    }
  }

  // Copies arrays of fixed length, since counting the operands would take longer.
  void run() override {
    scalar::strip s;
    s.n = n_;
    std::memcpy(s.in, in_.data(), sizeof in_);
    std::memcpy(s.advance, advance_.data(), sizeof advance_);
    std::memcpy(s.out, out_.data(), sizeof out_);
    std::memcpy(s.how, how_.data(), sizeof how_);
    program_->run_padded(s);
  }

 private:
  static constexpr std::size_t most_inputs = 4, most_results = 2;
  static bool is_single(const map_layout& layout) { return layout.space.count() == 1; }

  const program_runner* program_;
  std::int64_t n_;  // of whole vectors; a value of one element is computed for all its copies
  std::array<const void*, most_inputs> in_{};
  std::array<void*, most_results> out_{};
  std::array<scalar::sink, most_results> how_{};
  std::array<std::int64_t, most_inputs> advance_{};
};

// A program over any other broadcast.
class bound_map final : public bound_call {
 public:
  bound_map(map_launch launch, task_services& services, std::span<const cell> outputs)
      : launch_(std::move(launch)), services_(services) {
    for (const cell& p : outputs)
      if (p.at && p.single()) singles_.push_back(p);
  }
  void run() override {
    launch_.run(services_);
    for (const cell& p : singles_) p.repeat();
  }

 private:
  map_launch launch_;
  task_services& services_;
  std::vector<cell> singles_;
};

// Leaves a call of a program. Requires: `outputs` are made, where they are wanted.
inline void bind_program(binding& b, const program_runner& program, std::shared_ptr<const map_layout> layout,
                         std::span<const cell> outputs, task_services& services) {
  if (bound_strip::serves(*layout)) return b.call(std::make_unique<bound_strip>(program, *layout, b.inputs(), outputs));
  map_launch launch(program, std::move(layout));
  for (const cell& p : b.inputs()) launch.operand(p.at);
  for (const cell& p : outputs) launch.operand(p.at);
  b.call(std::make_unique<bound_map>(std::move(launch), services, outputs));
}

inline std::vector<shape> shapes_of(std::span<const cell> cells) {
  std::vector<shape> shapes;
  for (const cell& p : cells) shapes.push_back(p.shape);
  return shapes;
}

}}}  // namespace pinion::v0::op
