// Bodies of <pinion/runtime/step/segment.hpp>.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#if PINION_HAS_CUDA
#include <pinion/op/cuda_kernels.hpp>
#endif
#include <pinion/runtime/step/gpu_words.hpp>
#include <pinion/runtime/step/node_event.hpp>
#include <pinion/runtime/step/segment.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Gives kernels that are recorded their places for wrong values, and the words of numbers that differ from run to run.
class segment::recorder final : public step_watch {
 public:
  // The first place is that of earlier kernels of the step.
  recorder(step_watch& step, allocator& memory)
      : step_(step), memory_(memory), places(dtype::int64, {most + 1, 2}, memory) {}

  bool failed() const override { return step_.failed(); }
  void fail(const error& why) override { step_.fail(why); }
  cuda::first_wrong* expect_values(devices::device&, describe_wrong describe) override {
    expect_room(described.size(), "look for wrong values");
    described.push_back(std::move(describe));
    return first_place() + described.size();
  }
  cuda::wrong_places wrong_so_far(devices::device&) override { return {first_place(), described.size() + 1}; }
  const std::uint64_t* number_of_run(devices::device&, next_number next) override {
    expect_room(next_numbers.size(), "count their runs");
    if (!numbers) numbers = any_tensor(dtype::int64, {most}, memory_);
    next_numbers.push_back(std::move(next));
    return static_cast<const std::uint64_t*>(numbers.raw()) + (next_numbers.size() - 1);
  }
  cuda::first_wrong* first_place() const { return static_cast<cuda::first_wrong*>(places.raw()); }

 private:
  static void expect_room(std::size_t used, const char* what) {
    if (static_cast<std::int64_t>(used) == most)
      throw error(errc::unimplemented, "more than " + std::to_string(most) + " of its kernels " + what);
  }
  step_watch& step_;
  allocator& memory_;

 public:
  static constexpr std::int64_t most = 64;
  const any_tensor places;
  std::vector<describe_wrong> described;
  any_tensor numbers;
  std::vector<next_number> next_numbers;
};

struct segment::recording {
  struct output {
    dtype type;
    pinion::shape shape;
    const void* at;
  };
  std::shared_ptr<replay_memory> memory;
  std::vector<any_tensor> inputs;
  any_tensor places;  // see recorder
  std::vector<step_watch::describe_wrong> described;
  any_tensor numbers;
  std::vector<step_watch::next_number> next_numbers;
  std::vector<output> outputs;
  std::vector<const void*> variables;
  std::unique_ptr<devices::recorded_work> work;
  bool heeded_others = false;  // the last replay had earlier kernels to heed
  std::int64_t replays = 0;

  cuda::first_wrong* first_place() const { return static_cast<cuda::first_wrong*>(places.raw()); }
};

PINION_DECL segment::segment(std::vector<member> members, int inputs, std::vector<int> outputs,
                             std::vector<std::shared_ptr<state::variable>> variables)
    : members_(std::move(members)), outputs_(std::move(outputs)), variables_(std::move(variables)), values_(inputs) {
  for (const member& m : members_) values_ = std::max(values_, m.first_output + m.outputs);
#if PINION_HAS_CUDA
  launches_ = std::any_of(members_.begin(), members_.end(), [](const member& m) { return cuda_kernel_of(m.node->op); });
#endif
}

PINION_DECL segment::~segment() = default;

PINION_DECL std::string segment::name() const {
  return std::to_string(members_.size()) + " nodes from '" + members_.front().node->name + "' to '" +
         members_.back().node->name + "'";
}

PINION_DECL std::string segment::obstacle() const {
  std::lock_guard hold(telling_);
  return obstacle_;
}

PINION_DECL void segment::note_obstacle(std::string why) {
  std::lock_guard hold(telling_);
  obstacle_ = std::move(why);
}

PINION_DECL void segment::run(kernel_context& c) {
  if (c.tracer || !launches_) return launch_all(c);
  std::lock_guard hold(mutex_);
  bool is_new = false;
  seen_inputs* const seen = entry_of(c.inputs, is_new);
  if (!seen) note_obstacle("its inputs came in more than " + std::to_string(most_kinds) + " kinds of shapes");
  // The first run prepares what kernels make once; the second is recorded.
  if (!seen || is_new) return launch_all(c);
  if (!seen->made && seen->to_record.is_due()) {
    seen->made = record(c);
    if (!seen->made) seen->to_record.failed(0);
  }
  if (!seen->made || !replay_in_place(c, *seen)) launch_all(c);
}

PINION_DECL void segment::launch_all(kernel_context& c) {
  auto outputs = launch(c, c.inputs, nullptr, c.watch);
  std::move(outputs.begin(), outputs.end(), c.outputs.begin());
}

PINION_DECL std::vector<any_tensor> segment::launch(kernel_context& c, std::span<any_tensor> inputs, allocator* memory,
                                                    step_watch* watch) {
  std::vector<any_tensor> values(static_cast<std::size_t>(values_));
  std::move(inputs.begin(), inputs.end(), values.begin());
  kernel_context of_members = c;
  of_members.memory = memory;
  of_members.watch = watch;
  for (const member& m : members_) run_member(m, of_members, values);
  std::vector<any_tensor> outputs;
  for (const int o : outputs_) outputs.push_back(values[static_cast<std::size_t>(o)]);
  return outputs;
}

PINION_DECL void segment::run_member(const member& m, kernel_context& c, std::vector<any_tensor>& values) {
  std::vector<any_tensor> inputs;
  for (const int in : m.inputs) inputs.push_back(values[static_cast<std::size_t>(in)]);
  for (const int end : m.ends) values[static_cast<std::size_t>(end)] = {};
  c.node = m.node;
  c.inputs = inputs;
  c.outputs = {values.data() + m.first_output, static_cast<std::size_t>(m.outputs)};
  c.wanted = m.wanted;
  std::optional<traced_item> time;
  if (c.tracer) time.emplace(*c.tracer, *c.device, detail::event_of(*m.node, *c.device, inputs));
  try {
    m.kernel->run(c);
    if (time) time->end(detail::bytes_of(c.outputs));
  } catch (...) {
    if (time) time->end(0, detail::how_it_failed(*c.watch));
    throw current_error().at_node(m.node->name, m.node->op, to_string(m.node->where)).on_device(c.device->name());
  }
  for (int o = 0; o < m.outputs; ++o)
    if (!m.wanted[static_cast<std::size_t>(o)]) c.outputs[static_cast<std::size_t>(o)] = {};
}

PINION_DECL segment::seen_inputs* segment::entry_of(std::span<const any_tensor> inputs, bool& is_new) {
  const auto is_of = [&](const seen_inputs& one) {
    return std::equal(inputs.begin(), inputs.end(), one.types.begin(), one.types.end(),
                      [](const any_tensor& t, const auto& type) {
                        return t.dtype() == type.first && (t.empty() || t.shape() == type.second);
                      });
  };
  const auto at = std::find_if(seen_.begin(), seen_.end(), is_of);
  if (at != seen_.end()) return &*at;
  if (seen_.size() == most_kinds) return nullptr;
  is_new = true;
  seen_.emplace_back();
  for (const any_tensor& t : inputs) seen_.back().types.emplace_back(t.dtype(), t.shape());
  return &seen_.back();
}

PINION_DECL std::vector<const void*> segment::addresses_of_variables() const {
  std::vector<const void*> all;
  const state::writing variables(variables_);
  for (std::size_t i = 0; i < variables_.size(); ++i) all.push_back(variables.old_value(i).raw());
  return all;
}

PINION_DECL std::unique_ptr<segment::recording> segment::record(kernel_context& c) {
  try {
    auto made = try_to_record(c);
    if (!made) note_obstacle("CUDA did not record its kernels, or its variables moved meanwhile");
    return made;
  } catch (...) {
    note_obstacle(current_error().sentence());
    return nullptr;
  }
}

PINION_DECL std::unique_ptr<segment::recording> segment::try_to_record(kernel_context& c) {
  devices::stream& stream = *c.device->stream();
  auto r = std::make_unique<recording>();
  r->memory = std::make_shared<replay_memory>(c.device->memory());
  for (const any_tensor& in : c.inputs)
    r->inputs.push_back(in.empty() ? any_tensor() : any_tensor(in.dtype(), in.shape(), *r->memory));
  recorder watch(*c.watch, *r->memory);
  detail::clear_places(*c.device, watch.first_place(), 1);
  r->variables = addresses_of_variables();
  if (!stream.begin_recording()) return nullptr;
  try {
    detail::clear_places(*c.device, watch.first_place() + 1, recorder::most);
    auto inputs = r->inputs;
    for (const any_tensor& out : launch(c, inputs, r->memory.get(), &watch))
      r->outputs.push_back({out.dtype(), out.shape(), out ? out.raw() : nullptr});
  } catch (...) {
    stream.end_recording();
    throw;
  }
  r->work = stream.end_recording();
  r->places = watch.places;
  r->described = std::move(watch.described);
  r->numbers = watch.numbers;
  r->next_numbers = std::move(watch.next_numbers);
  return r->work && addresses_of_variables() == r->variables ? std::move(r) : nullptr;
}

PINION_DECL bool segment::replay_in_place(kernel_context& c, seen_inputs& seen) {
  std::optional<state::writing> variables;
  try {
    variables.emplace(variables_);
  } catch (const error&) {  // as the variable's kernel will say
    return false;
  }
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (variables->old_value(i).raw() != seen.made->variables[i]) {
      note_obstacle("variable '" + variables_[i].name() + "' has moved");
      seen.to_record.failed(seen.made->replays);
      seen.made.reset();
      return false;
    }
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (!variables->old_value(i).unique()) {
      note_obstacle("somebody else held variable '" + variables_[i].name() + "'");
      return false;
    }
  replay(c, *seen.made);
  ++seen.made->replays;
  note_obstacle("");
  return true;
}

PINION_DECL void segment::replay(kernel_context& c, recording& r) {
  devices::device& on = *c.device;
  std::vector<cuda::bytes_copy> in, out;
  for (std::size_t i = 0; i < r.inputs.size(); ++i)
    if (r.inputs[i]) in.push_back({r.inputs[i].raw(), c.inputs[i].raw(), c.inputs[i].bytes()});
  // All memory is there before the work is enqueued, which updates variables.
  for (std::size_t o = 0; o < r.outputs.size(); ++o)
    if (r.outputs[o].at) {
      const any_tensor& y = c.allocate(static_cast<int>(o), r.outputs[o].type, r.outputs[o].shape);
      out.push_back({y.raw(), r.outputs[o].at, y.bytes()});
    }
  any_tensor places;
  if (!r.described.empty()) {
    places = c.scratch(r.places.dtype(), {static_cast<std::int64_t>(r.described.size()), 2});
    out.push_back({places.raw(), r.first_place() + 1, places.bytes()});
  }
  detail::copy_each(on, in);
  heed_others(c, r);
  write_numbers(c, r);
  r.work->enqueue();
  detail::copy_each(on, out);
  if (places) c.watch->add_expected(on, places, r.described);
}

PINION_DECL void segment::heed_others(kernel_context& c, recording& r) {
  if (variables_.size() == 0) return;
  const cuda::wrong_places others = c.watch->wrong_so_far(*c.device);
  const bool heeds = others.count > 0;
  if (heeds || r.heeded_others) detail::clear_places(*c.device, r.first_place(), 1);
  if (heeds) detail::note_any_wrong(*c.device, r.first_place(), others);
  r.heeded_others = heeds;
}

PINION_DECL void segment::write_numbers(kernel_context& c, const recording& r) {
  std::vector<std::uint64_t> numbers;
  for (const auto& next : r.next_numbers) numbers.push_back(next());
  if (!numbers.empty()) detail::write_words(*c.device, static_cast<std::uint64_t*>(r.numbers.raw()), numbers);
}

}}}  // namespace pinion::v0::runtime
