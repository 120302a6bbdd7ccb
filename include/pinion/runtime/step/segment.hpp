// Items of a GPU that run one after another without a wait between them, as one item: their kernels are recorded at the
// second run, and enqueued as a whole from then on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/device.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/runtime/step/replay_memory.hpp>
#include <pinion/state/variable.hpp>
#include <pinion/state/writing.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The kernel of a segment. Values are numbered: the inputs of the segment first, then the outputs of its members.
//
// A recording belongs to the shapes of the inputs. It has copies of the inputs in places of its own, memory for all
// values between, and the addresses of variables. It is enqueued in place of the kernels if the variables still lie
// there and nobody else holds them, so that they are updated in place; otherwise the kernels are launched one by one.
// The variables are locked while it is enqueued, and making it changes none of them. One whose variables lie elsewhere
// is dropped. Recordings that come to nothing are tried again, ever more rarely.
//
// Three things differ from run to run beside the inputs. Numbers of runs are written to words of the recording before
// it is enqueued. The first of its places for wrong values tells whether an earlier kernel of the step met one, so that
// recorded updates heed it. Outputs, and what its own kernels find wrong, are copied out. All of this and the recording
// go into the stream as one, so runs that overlap may share it.
class segment final : public kernel {
 public:
  struct member {
    const pinion::node* node;
    std::shared_ptr<pinion::kernel> kernel;
    std::vector<int> inputs;  // values
    int first_output = 0, outputs = 0;
    std::vector<unsigned char> wanted;
    std::vector<int> ends;  // values that nobody reads behind it
  };
  // `outputs` are the values that others read. Requires: members are in an order in which they can run, and each of
  // them may replay.
  segment(std::vector<member> members, int inputs, std::vector<int> outputs,
          std::vector<std::shared_ptr<state::variable>> variables);
  ~segment() override;

  // A traced run records an event of each member.
  void run(kernel_context& c) override;

  // Its members in words: "3 nodes from 'a' to 'c'".
  std::string name() const;
  // Why the last run of inputs that were seen before launched its kernels one by one; empty: it did not. Traced runs do
  // not count.
  std::string obstacle() const;

 private:
  class recorder;
  struct recording;
  // The runs at which a recording is tried: the second, and later ones as long as it comes to nothing.
  class attempts {
   public:
    // Counts a run.
    bool is_due() { return --runs_left_ <= 0; }
    // The recording could not be made, or was dropped after some replays.
    void failed(std::int64_t replays) {
      gap_ = replays >= enough_replays ? 1 : std::min(2 * gap_, longest_gap);
      runs_left_ = gap_;
    }

   private:
    static constexpr std::int64_t enough_replays = 16;  // have paid for the recording
    static constexpr int longest_gap = 1024;
    int gap_ = 1, runs_left_ = 1;
  };
  struct seen_inputs {
    std::vector<std::pair<dtype, shape>> types;
    attempts to_record;
    std::unique_ptr<recording> made;
  };
  static constexpr std::size_t most_kinds = 8;  // of inputs, each of other shapes

  // Launches the members' kernels. `inputs` are moved from.
  std::vector<any_tensor> launch(kernel_context& c, std::span<any_tensor> inputs, allocator* memory, step_watch* watch);
  void run_member(const member& m, kernel_context& c, std::vector<any_tensor>& values);
  void launch_all(kernel_context& c);
  // The entry of the inputs; null where there are too many kinds. `is_new`: no run had such inputs before.
  seen_inputs* entry_of(std::span<const any_tensor> inputs, bool& is_new);
  // Null where nothing can be recorded now. Throws nothing: what is wrong with the run, the kernels say.
  std::unique_ptr<recording> record(kernel_context& c);
  std::unique_ptr<recording> try_to_record(kernel_context& c);
  std::vector<const void*> addresses_of_variables() const;
  // Replays the recording of the inputs. Returns false where a variable has no value, lies elsewhere or is held by
  // somebody else; nothing is enqueued then.
  bool replay_in_place(kernel_context& c, seen_inputs& seen);
  void replay(kernel_context& c, recording& r);
  // Tells the recorded updates whether an earlier kernel of the step met a wrong value.
  void heed_others(kernel_context& c, recording& r);
  static void write_numbers(kernel_context& c, const recording& r);
  void note_obstacle(std::string why);

  const std::vector<member> members_;
  const std::vector<int> outputs_;
  const state::updated_variables variables_;
  int values_ = 0;
  bool launches_ = true;  // false: no member has a CUDA kernel, so there is nothing to record
  std::mutex mutex_;      // held while a recording is looked for, made or enqueued
  std::vector<seen_inputs> seen_;
  mutable std::mutex telling_;  // held for a moment, perhaps with the other one; guards the next
  std::string obstacle_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/segment.ipp>
#endif
