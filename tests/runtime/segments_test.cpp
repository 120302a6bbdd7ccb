// Items of GPUs that are joined to segments, in steps that are made at random.
#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include <pinion/graph.hpp>
#include <pinion/runtime/step/executable.hpp>
#include <pinion/runtime/step/segments_of.hpp>

namespace {

using namespace pinion;
using runtime::executable;
using runtime::part_item;

// The numbers of kernels in the order in which they ran.
using log = std::vector<int>;

// Computes numbers from its own and from its inputs.
class noted_kernel final : public kernel {
 public:
  noted_kernel(int number, bool replays, log& into) : number_(number), replays_(replays), log_(into) {}

  void run(kernel_context& c) override {
    log_.push_back(number_);
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      std::uint64_t value = static_cast<std::uint64_t>(number_) * 31 + o;
      for (const any_tensor& in : c.inputs) value = value * 7 + static_cast<std::uint64_t>(*in.data<std::int64_t>());
      c.outputs[o] = any_tensor(dtype::int64, {});
      *c.outputs[o].data<std::int64_t>() = static_cast<std::int64_t>(value);
    }
  }
  bool may_replay() const override { return replays_; }

 private:
  const int number_;
  const bool replays_;
  log& log_;
};

using items = std::vector<executable::item>;

// A step over several devices. Transfers are added as runtime::cut_by_device() adds them. Some nodes wait until another
// one has run, by way of a queue, as it were: such that the step ends if no items are joined.
class random_segments {
 public:
  static constexpr std::size_t devices = 3;

  explicit random_segments(unsigned seed) : random_(seed) {
    constant(0.f);
    const int nodes = below(40) + 1;
    for (int i = 0; i < nodes; ++i) add_node(i);
    for (const value& v : values_)
      if (below(3) == 0) fetch(v);
    const log order = run(false, seed).ran;
    for (const int waits : waiting_) {
      const auto end = std::find(order.begin(), order.end(), waits);
      log before;
      std::copy_if(order.begin(), end, std::back_inserter(before), [&](int n) { return by_itself_.contains(n); });
      if (!before.empty()) needs_[waits] = before[random_() % before.size()];
    }
  }

  // What a step came to: what was fetched, and the kernels that ran. Items run in some order.
  struct result {
    std::map<int, std::int64_t> fetched;
    log ran;
    bool is_stuck = false;
  };
  result run(bool joined, unsigned seed) {
    log_.clear();
    std::vector<items> parts(parts_.begin(), parts_.end());
    task_services services;
    if (joined)
      for (items& one : parts) one = runtime::segments_of(one, g_, services).items;
    result r;
    run(parts, std::mt19937(seed), r);
    r.ran = log_;
    return r;
  }
  // Pairs of kernels the first of which runs before the second.
  const std::set<std::pair<int, int>>& order() const { return order_; }

 private:
  struct value {
    std::size_t device;
    int item, slot, number;  // the number of its kernel
  };
  struct part : items {
    int slots = 0, inputs = 0;
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  static executable::item item_of(part_item::kind_t kind, std::string key = "") {
    executable::item it{};
    it.kind = kind;
    it.key = transfer_key(std::move(key));
    return it;
  }
  int add(std::size_t device, executable::item it, const std::vector<int>& slots, std::vector<int> after, int outputs) {
    part& p = parts_[device];
    const int self = static_cast<int>(p.size());
    for (const int slot : slots) {
      it.inputs.push_back({slot, false});
      after.push_back(maker_[{device, slot}]);
    }
    for (const int before : after) p[static_cast<std::size_t>(before)].successors.push_back(self);
    it.predecessors = static_cast<int>(after.size());
    it.first_input = p.inputs;
    it.first_output = p.slots;
    it.outputs = outputs;
    it.node = &g_[0];
    p.inputs += static_cast<int>(slots.size());
    for (int o = 0; o < outputs; ++o) maker_[{device, p.slots++}] = self;
    p.push_back(std::move(it));
    return self;
  }
  // Sends what an item yields, or that it is done, to another device. Returns the item that receives it.
  int transfer(const value& v, std::size_t to, const std::vector<int>& slots, const std::vector<int>& after) {
    const std::string key = std::to_string(transfers_++);
    add(v.device, item_of(part_item::send, key), slots, after, 0);
    auto receive = item_of(part_item::receive, key);
    receive.waits.assign(behind_[v.number].begin(), behind_[v.number].end());
    return add(to, std::move(receive), {}, {}, 1);
  }
  int value_on(std::size_t device, const value& v) {
    if (v.device == device) return v.slot;
    const auto [at, fresh] = guests_.try_emplace({device, v.device, v.slot});
    if (fresh) at->second = transfer(v, device, {v.slot}, {});
    return parts_[device][static_cast<std::size_t>(at->second)].first_output;
  }
  void fetch(const value& v) {
    auto it = item_of(part_item::fetch);
    it.index = fetches_++;
    add(0, std::move(it), {value_on(0, v)}, {}, 0);
  }
  void add_node(int number) {
    const auto device = static_cast<std::size_t>(below(devices));
    std::vector<int> slots, after;
    const auto follow = [&](const value& v) {
      order_.insert({v.number, number});
      behind_[number].insert(behind_[v.number].begin(), behind_[v.number].end());
    };
    for (int i = below(3); i-- > 0 && !values_.empty();) {
      const value v = values_[random_() % values_.size()];
      slots.push_back(value_on(device, v));
      follow(v);
    }
    if (below(3) == 0 && !values_.empty()) {
      const value v = values_[random_() % values_.size()];
      after.push_back(v.device == device ? v.item : transfer(v, device, {}, {v.item}));
      follow(v);
    }
    const int outputs = below(3);
    const bool replays = below(4) != 0, waits = !replays && below(2) == 0;
    auto it = item_of(part_item::compute);
    it.kernel = std::make_shared<noted_kernel>(number, replays, log_);
    if (!replays) by_itself_.insert(number);
    if (waits) {
      it.waits = {number};
      waiting_.push_back(number);
      behind_[number].insert(number);
    }
    const int item = add(device, std::move(it), slots, after, outputs);
    for (int o = 0; o < outputs; ++o) values_.push_back({device, item, parts_[device].back().first_output + o, number});
  }

  // Does an item that waits for a node by way of a queue still wait?
  bool is_held(const executable::item& it) const {
    if (it.kind != part_item::compute || it.waits.empty()) return false;
    const auto needed = needs_.find(it.waits[0]);
    return needed != needs_.end() && std::find(log_.begin(), log_.end(), needed->second) == log_.end();
  }

  void run(const std::vector<items>& parts, std::mt19937 random, result& r) const {
    std::vector<std::vector<int>> pending(parts.size());
    std::vector<std::map<int, any_tensor>> slots(parts.size());
    std::map<std::string, any_tensor> sent;
    std::set<std::pair<std::size_t, std::size_t>> left;
    for (std::size_t d = 0; d < parts.size(); ++d)
      for (std::size_t i = 0; i < parts[d].size(); ++i) {
        pending[d].push_back(parts[d][i].predecessors);
        left.insert({d, i});
      }
    while (!left.empty()) {
      std::vector<std::pair<std::size_t, std::size_t>> ready;
      for (const auto& [d, i] : left)
        if (pending[d][i] == 0 && !is_held(parts[d][i]) &&
            (parts[d][i].kind != part_item::receive || sent.count(parts[d][i].key.text()) > 0))
          ready.push_back({d, i});
      if (ready.empty()) return void(r.is_stuck = true);
      const auto [d, i] = ready[random() % ready.size()];
      left.erase({d, i});
      run_item(parts[d][i], slots[d], sent, r);
      for (const int next : parts[d][i].successors) --pending[d][static_cast<std::size_t>(next)];
    }
  }
  static void run_item(const executable::item& it, std::map<int, any_tensor>& slots,
                       std::map<std::string, any_tensor>& sent, result& r) {
    std::vector<any_tensor> inputs, outputs(static_cast<std::size_t>(it.outputs));
    for (const auto& in : it.inputs) inputs.push_back(slots.at(in.slot));
    switch (it.kind) {
      case part_item::send: sent[it.key.text()] = inputs.empty() ? any_tensor() : inputs[0]; break;
      case part_item::receive: outputs[0] = sent.at(it.key.text()); break;
      case part_item::fetch: r.fetched[it.index] = *inputs[0].data<std::int64_t>(); break;
      default:
        kernel_context c;
        c.node = it.node;
        c.inputs = inputs;
        c.outputs = outputs;
        it.kernel->run(c);
    }
    for (int o = 0; o < it.outputs; ++o) slots[it.first_output + o] = outputs[static_cast<std::size_t>(o)];
  }

  std::mt19937 random_;
  graph g_;
  decltype(g_.as_default()) use_ = g_.as_default();
  log log_;
  std::vector<part> parts_{devices};
  std::map<std::pair<std::size_t, int>, int> maker_;  // the item of a device that yields a slot
  std::map<std::tuple<std::size_t, std::size_t, int>, int> guests_;
  std::vector<value> values_;
  std::set<std::pair<int, int>> order_;
  log waiting_;                          // kernels that may wait for another one
  std::map<int, int> needs_;             // the kernel for which one waits
  std::set<int> by_itself_;              // kernels that are not replayed
  std::map<int, std::set<int>> behind_;  // by kernel: those among itself and all before it that may wait
  int fetches_ = 0, transfers_ = 0;
};

TEST_CASE("a step whose items are joined ends, keeps every edge, and yields the values of its items") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    random_segments step(seed);
    const auto apart = step.run(false, seed), joined = step.run(true, seed + 1);
    REQUIRE(!apart.is_stuck);
    REQUIRE(!joined.is_stuck);
    CHECK(joined.fetched == apart.fetched);
    CHECK(std::multiset<int>(joined.ran.begin(), joined.ran.end()) ==
          std::multiset<int>(apart.ran.begin(), apart.ran.end()));
    const auto position = [&](int number) { return std::find(joined.ran.begin(), joined.ran.end(), number); };
    for (const auto& [before, behind] : step.order()) CHECK(position(before) < position(behind));
  }
}

}  // namespace
