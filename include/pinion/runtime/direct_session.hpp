// The session of one process: its devices, its state, and the steps it has compiled.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/device/cpu.hpp>
#include <pinion/device/sim.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/backend.hpp>
#include <pinion/runtime/executor.hpp>
#include <pinion/runtime/prune.hpp>
#include <pinion/runtime/rendezvous.hpp>
#include <pinion/runtime/resource_manager.hpp>

namespace pinion::inline v0::runtime {

// Waits for the partitions of a step: a short spin, since steps are short, then a sleep.
class countdown {
 public:
  explicit countdown(int n) : left_(n) {}
  void count_down() {
    std::lock_guard hold(mutex_);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) zero_.notify_all();
  }
  // False when the deadline came first.
  bool wait(const std::optional<std::chrono::steady_clock::time_point>& deadline) {
    for (int i = 0; i < 200 && left_.load(std::memory_order_acquire) > 0; ++i) std::this_thread::yield();
    std::unique_lock hold(mutex_);
    const auto is_zero = [this] { return left_.load(std::memory_order_acquire) == 0; };
    if (!deadline) zero_.wait(hold, is_zero);
    return !deadline || zero_.wait_until(hold, *deadline, is_zero);
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  std::atomic<int> left_;
};

class direct_session final : public session_backend {
 public:
  direct_session(const session_options& options, graph& g)
      : options_(options),
        graph_(g),
        inter_op_(helpers(options.inter_op_threads)),
        intra_op_(helpers(options.intra_op_threads)) {
    services_ = {&resources_, &intra_op_};
    add_devices();
    log_devices();
  }
  ~direct_session() override { close(); }

  std::shared_ptr<prepared_step> prepare(const step_signature& signature) override {
    std::lock_guard hold(mutex_);
    expect_open();
    auto& step = steps_[signature];
    if (!step) {
      try {
        step = compile(signature);
      } catch (...) {
        steps_.erase(signature);
        throw;
      }
    }
    return step;
  }

  void run(prepared_step& prepared, std::span<const any_tensor> feeds, std::span<any_tensor> results) override {
    auto& step = static_cast<compiled_step&>(prepared);
    local_rendezvous meet;
    step_state state(meet, next_step_.fetch_add(1, std::memory_order_relaxed));
    if (options_.operation_timeout.count() > 0)
      state.deadline = std::chrono::steady_clock::now() + options_.operation_timeout;
    state.feeds.assign(feeds.begin(), feeds.end());
    state.fetches.resize(results.size());
    enter(state);
    auto memory = step.acquire();
    run_partitions(step, *memory, state);
    step.release(std::move(memory));
    leave(state);
    if (const auto failure = state.failure()) throw *failure;
    std::move(state.fetches.begin(), state.fetches.end(), results.begin());
  }

  pinion::plan plan(const step_signature& signature) override {
    std::lock_guard hold(mutex_);
    expect_open();
    return place(signature);
  }

  std::vector<device_info> list_devices() override {
    std::lock_guard hold(mutex_);
    expect_open();
    return known_devices();
  }

  void close() override {
    std::unique_lock hold(mutex_);
    closed_ = true;
    for (step_state* s : running_) s->fail(error(errc::cancelled, "the session was closed while the step ran"));
    idle_.wait(hold, [this] { return running_.empty(); });
    steps_.clear();
    kernels_.clear();
    resources_.clear();
  }

 private:
  using step_memory = std::vector<std::unique_ptr<run_memory>>;

  struct compiled_step final : prepared_step {
    std::vector<std::unique_ptr<executable>> parts;
    bool waits = false;  // for another partition or a stream: then it cannot run in one go

    std::unique_ptr<step_memory> acquire() {
      {
        std::lock_guard hold(mutex_);
        if (!idle_.empty()) {
          auto m = std::move(idle_.back());
          idle_.pop_back();
          return m;
        }
      }
      auto m = std::make_unique<step_memory>();
      for (const auto& p : parts) m->push_back(std::make_unique<run_memory>(*p));
      return m;
    }
    void release(std::unique_ptr<step_memory> m) {
      std::lock_guard hold(mutex_);
      idle_.push_back(std::move(m));
    }

   private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<step_memory>> idle_;
  };

  // The caller works too, so one helper less than threads.
  static int helpers(int threads) {
    const int all = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
    return std::max(0, all - 1);
  }

  void add_devices() {
    const auto local = parse_device("/job:localhost/replica:0/task:0");
    for (int i = 0; i < std::max(1, options_.cpu_devices); ++i)
      devices_.push_back(std::make_unique<devices::cpu_device>(local.with_type("CPU").with_index(i)));
    std::map<std::string, int> next;
    for (const auto& like : options_.simulated)
      devices_.push_back(
          std::make_unique<devices::sim_device>(local.with_type(like.type).with_index(next[like.type]++), like));
  }

  void log(const std::string& line) const {
    if (options_.placement_log)
      options_.placement_log(line);
    else
      std::fprintf(stdout, "%s\n", line.c_str());
  }
  void log_devices() const {
    if (!options_.log_device_placement) return;
    bool first = true;
    for (const auto& d : devices_) {
      if (d->description().empty()) continue;
      if (std::exchange(first, false)) log("Device mapping:");
      log(d->name() + " -> " + d->description());
    }
  }

  void expect_open() const {
    if (closed_) throw error(errc::failed_precondition, "the session is closed");
  }
  void enter(step_state& s) {
    std::lock_guard hold(mutex_);
    expect_open();
    running_.insert(&s);
  }
  void leave(step_state& s) {
    std::lock_guard hold(mutex_);
    running_.erase(&s);
    idle_.notify_all();
  }

  std::vector<device_info> known_devices() const {
    std::vector<device_info> list;
    for (const auto& d : devices_) list.push_back({d->spec(), d->name(), d->memory_limit(), d->description()});
    return list;
  }

  pinion::plan place(const step_signature& signature) {
    placement_problem problem{graph_,
                              prune(graph_, signature),
                              known_devices(),
                              kept_,
                              parse_device("/job:localhost/replica:0/task:0"),
                              options_.allow_soft_placement};
    return simple_placer{}(problem);
  }

  std::shared_ptr<compiled_step> compile(const step_signature& signature) {
    const pinion::plan placed = place(signature);
    for (const auto& n : placed.nodes()) {
      if (!kept_.emplace(n.id, n.device).second) continue;
      if (options_.log_device_placement) log(n.name + ": (" + n.op + "): " + n.device);
    }
    auto step = std::make_shared<compiled_step>();
    for (auto& part : partitioner(graph_, placed, signature, 0).run()) {
      auto& device = *devices_[static_cast<std::size_t>(part.device)];
      step->parts.push_back(std::make_unique<executable>(std::move(part), graph_, device, services_,
                                                         [this](const kernel_setup& s) { return find_kernel(s); }));
    }
    step->waits = step->parts.size() != 1 || step->parts[0]->waits || step->parts[0]->device->stream();
    return step;
  }
  bool worth_sharing(const executable& e) const {
    return inter_op_.threads() > 0 &&
           std::count_if(e.items.begin(), e.items.end(), [](const auto& i) { return i.expensive(); }) > 1;
  }

  // Kernels of stateful ops live as long as the session: a random op goes on where it was, whatever step it runs in.
  std::shared_ptr<kernel> find_kernel(const kernel_setup& setup) {
    if (!definition_of(setup.node.op).stateful) return make_kernel_for(setup);
    auto& kept = kernels_[setup.node.name];
    if (!kept) kept = make_kernel_for(setup);
    return kept;
  }

  void run_partitions(compiled_step& step, step_memory& memory, step_state& state) {
    if (step.parts.empty()) return;
    if (!step.waits && !worth_sharing(*step.parts[0]))
      return executor(*step.parts[0], *memory[0], services_, state, nullptr).run_in_order();
    countdown left(static_cast<int>(step.parts.size()));
    for (std::size_t i = 0; i < step.parts.size(); ++i)
      std::make_shared<executor>(*step.parts[i], *memory[i], services_, state, &inter_op_)->start([&left] {
        left.count_down();
      });
    if (left.wait(state.deadline)) return;
    state.fail(step_state::too_late());
    left.wait(std::nullopt);
  }

  const session_options options_;
  graph& graph_;
  local_resource_manager resources_;
  std::vector<std::unique_ptr<devices::device>> devices_;
  thread_pool inter_op_, intra_op_;
  task_services services_;
  std::atomic<std::int64_t> next_step_{1};

  std::mutex mutex_;
  std::condition_variable idle_;
  bool closed_ = false;
  std::set<step_state*> running_;
  std::unordered_map<node_id, std::string> kept_;
  std::unordered_map<std::string, std::shared_ptr<kernel>> kernels_;
  std::unordered_map<step_signature, std::shared_ptr<compiled_step>, signature_hash> steps_;
};

#if PINION_DEFINE_RUNTIME
template <class>
std::unique_ptr<session_backend> make_direct_session(const session_options& options, graph& g) {
  return std::make_unique<direct_session>(options, g);
}
template std::unique_ptr<session_backend> make_direct_session<void>(const session_options&, graph&);
#endif

}  // namespace pinion::inline v0::runtime
