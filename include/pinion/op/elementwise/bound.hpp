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
// written in whole vectors. A step of many nodes is as fast as their calls are small and have all they need within: so
// there is room for just these numbers of inputs and results, and for a literal.
template <std::size_t Inputs, std::size_t Results>
class bound_strip final : public bound_call {
 public:
  bound_strip(const program_runner& program, const map_layout& layout, std::span<const cell> inputs,
              std::span<const cell> outputs)
      : entry_(program.entry()) {
    const bool single = layout.space.count() == 1;
    // A value of one element is computed for all its copies.
    n_ = static_cast<std::int32_t>(single ? cell::copies : program.padded(layout.space.count()));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      in_[k] = inputs[k].at;
      advances_[k] = single || layout.walk.advances(k);
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      out_[k] = outputs[k].at;
      how_[k] = outputs[k].at ? scalar::sink::store : scalar::sink::drop;
    }
    take_literals(program);
  }

  // Copies arrays of fixed length, since counting the operands would take longer.
  void run() override {
    scalar::strip s;
    s.n = n_;
    std::memcpy(s.in, in_.data(), sizeof in_);
    for (std::size_t k = 0; k < Inputs; ++k) s.advance[k] = -std::int64_t{advances_[k]};
    std::memcpy(s.out, out_.data(), sizeof out_);
    std::memcpy(s.how, how_.data(), sizeof how_);
    if (!entry_) return static_cast<const program_runner*>(with_)->run_padded(s);
    s.literals = with_;
    entry_(&s);
  }

 private:
  void take_literals(const program_runner& program) {
    const auto all = program.literals();
    with_ = entry_ ? static_cast<const void*>(all.data()) : &program;
    if (!entry_ || all.size() > sizeof literal_) return;
    std::copy(all.begin(), all.end(), literal_);
    with_ = literal_;
  }

  program_runner::entry_function entry_;  // null: the program is interpreted
  const void* with_;                      // the literals; for an interpreted program, its runner
  alignas(8) std::byte literal_[8]{};
  std::array<const void*, Inputs> in_{};
  std::array<void*, Results> out_{};
  std::int32_t n_;  // of whole vectors
  std::array<std::uint8_t, Inputs> advances_{};
  std::array<scalar::sink, Results> how_{};
};

// Returns null for a layout that one strip does not serve.
inline std::unique_ptr<bound_call> strip_call(const program_runner& program, const map_layout& layout,
                                              std::span<const cell> inputs, std::span<const cell> outputs) {
  const auto fit = [&](std::size_t most_inputs, std::size_t most_results) {
    return inputs.size() <= most_inputs && outputs.size() <= most_results;
  };
  if (layout.walk.outer() != 1 ||
      !std::all_of(layout.how.begin(), layout.how.end(), [](scalar::sink s) { return s == scalar::sink::store; }))
    return nullptr;
  if (fit(1, 1)) return std::make_unique<bound_strip<1, 1>>(program, layout, inputs, outputs);
  if (fit(2, 1)) return std::make_unique<bound_strip<2, 1>>(program, layout, inputs, outputs);
  if (fit(4, 2)) return std::make_unique<bound_strip<4, 2>>(program, layout, inputs, outputs);
  return nullptr;
}

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
  if (auto strip = strip_call(program, *layout, b.inputs(), outputs)) return b.call(std::move(strip));
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
