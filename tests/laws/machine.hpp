// Runs one node on a device, a CPU, a simulated GPU or one through CUDA, without a session.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cpu.hpp>
#include <pinion/device/sim.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/runtime/step/wrong_values.hpp>
#include <pinion/state/variable.hpp>

#include "laws/catalogue.hpp"

namespace laws {

inline call call_of(std::string_view op, const sample& s, dtype key, std::vector<any_tensor> values) {
  call c{std::string(op), std::move(values), {}, s.attrs(key)};
  for (const input& i : s.inputs) c.is_state.push_back(i.is == role::state);
  c.resource = s.resource;
  c.resource_attrs = s.resource_attrs(key);
  return c;
}
inline call call_of(std::string_view op, const sample& s, dtype key) {
  return call_of(op, s, key, random_values(s, key));
}

// How much of the inputs' shapes is known while the graph is built.
enum class knowledge { all, rank, nothing };

inline node_id build_call(graph& g, const call& c, knowledge k = knowledge::all) {
  const auto use = g.as_default();
  std::vector<output> inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const any_tensor& t = c.inputs[i];
    if (i == 0 && !c.resource.empty()) {
      inputs.push_back({build(g, {.op = c.resource, .base_name = "resource", .attrs = c.resource_attrs}), 0});
      continue;
    }
    const bool state = c.is_state.size() > i && c.is_state[i];
    const shape known = k == knowledge::all || state ? t.shape()
                        : k == knowledge::rank       ? shape::unknown_of_rank(t.shape().rank())
                                                     : shape::any();
    inputs.push_back({build(g, {.op = state ? "VariableV2" : "Placeholder",
                                .base_name = "in",
                                .attrs = {{"dtype", t.dtype()}, {"shape", known}}}),
                      0});
  }
  return build(g, {.op = c.op, .base_name = "node", .inputs = std::move(inputs), .attrs = c.attrs});
}

class local_resources final : public resource_manager {
 public:
  std::shared_ptr<resource> find_or_create(const std::string&, const std::string& name,
                                           const std::function<std::shared_ptr<resource>()>& make) override {
    auto& found = all_[name];
    if (!found) found = make();
    return found;
  }

 private:
  std::map<std::string, std::shared_ptr<resource>> all_;
};

enum class place { cpu, sim_gpu, cuda_gpu };

// Makes a GPU whose kernels are CUDA; a program that has one sets it.
inline std::unique_ptr<devices::device> (*make_cuda_gpu)() = nullptr;

inline std::unique_ptr<devices::device> make_device(place where) {
  if (where == place::cuda_gpu) return make_cuda_gpu();
  if (where == place::cpu)
    return std::make_unique<devices::cpu_device>(parse_device("/job:localhost/replica:0/task:0/cpu:0"));
  return std::make_unique<devices::sim_device>(parse_device("/job:localhost/replica:0/task:0/gpu:0"), sim::gpu());
}

inline any_tensor copy_of(const any_tensor& t) {
  if (t.dtype() == dtype::string) return t;
  any_tensor c(t.dtype(), t.shape());
  std::memcpy(c.raw(), t.raw(), t.bytes());
  return c;
}

// Throws what is wrong with the values that CUDA kernels met.
class value_watch final : public step_watch {
 public:
  bool failed() const override { return false; }
  void fail(const error& why) override { throw why; }
  cuda::first_wrong* expect_values(devices::device& on, describe_wrong describe) override {
    is_used_ = true;
    return values_.expect(on, std::move(describe));
  }
  cuda::wrong_places wrong_so_far(devices::device& on) override { return values_.so_far(on); }
  void look(devices::device& on) {
    if (!is_used_) return;
    std::promise<outcome<>> looked;
    values_.look(on, [&](const outcome<>& how) { looked.set_value(how); });
    looked.get_future().get().value();
  }

 private:
  runtime::wrong_values values_;
  bool is_used_ = false;
};

// A node that is ready to run on a device, as often as wanted.
class single_run {
 public:
  // A copy of an input, in which the kernel may compute.
  using laid = std::function<any_tensor(const any_tensor&)>;
  explicit single_run(const call& c, const laid& lay = copy_of, place where = place::cpu, int helpers = 0)
      : device_(make_device(where)), pool_(helpers), services_{&resources_, helpers > 0 ? &pool_ : nullptr} {
    const node& n = g_[build_call(g_, c)];
    inputs_.resize(c.inputs.size());
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      const bool is_state = c.is_state.size() > i && c.is_state[i];
      any_tensor value = device_->from_host(is_state ? copy_of(c.inputs[i]) : lay(c.inputs[i]));
      if (is_state) {
        states_.push_back(state::find_variable(services_, g_[n.inputs[i].node]));
        states_.back()->assign(std::move(value));
      } else {
        inputs_[i] = std::move(value);
      }
    }
    kernel_ = make_kernel_for({g_, n, *device_, services_});
    outputs_ = n.outputs.size();
    watches_ = where == place::cuda_gpu;
  }
  // What it yields, then what its variables hold afterwards; on the host. The last run may use up the inputs.
  std::vector<any_tensor> last() { return run(inputs_); }
  std::vector<any_tensor> again() const {
    auto inputs = inputs_;
    return run(inputs);
  }

 private:
  std::vector<any_tensor> run(std::vector<any_tensor>& inputs) const {
    std::vector<any_tensor> outputs(outputs_), host;
    kernel_context context;
    context.device = device_.get();
    context.services = &services_;
    context.inputs = inputs;
    context.outputs = outputs;
    value_watch watch;
    if (watches_) context.watch = &watch;
    kernel_->run(context);
    watch.look(*device_);
    const auto bring = [&](const any_tensor& t) {
      host.emplace_back();
      if (t.empty()) return;
      std::promise<outcome<any_tensor>> copied;
      device_->to_host(t, [&](outcome<any_tensor> copy) { copied.set_value(std::move(copy)); });
      host.back() = copied.get_future().get().value();
    };
    for (const any_tensor& t : outputs) bring(t);
    for (const auto& s : states_) bring(s->read());
    return host;
  }

  const std::unique_ptr<devices::device> device_;
  thread_pool pool_;
  local_resources resources_;
  mutable task_services services_;
  graph g_;
  std::vector<std::shared_ptr<state::variable>> states_;
  std::vector<any_tensor> inputs_;
  std::unique_ptr<kernel> kernel_;
  std::size_t outputs_ = 0;
  bool watches_ = false;
};

// What a node yields, then what its variables hold afterwards; on the host. The inputs are copies that nobody else
// holds, so that the kernel may compute in place.
inline std::vector<any_tensor> run(const call& c, place where = place::cpu, int helpers = 0) {
  return single_run(c, copy_of, where, helpers).last();
}

inline bool same_bits(const any_tensor& a, const any_tensor& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  if (a.dtype() == dtype::string || b.dtype() == dtype::string) return a == b;
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

inline std::vector<dtype> types_of(dtype_set set) {
  std::vector<dtype> all;
  for (unsigned d = 0; d < pinion::detail::dtype_count; ++d)
    if (set.has(static_cast<dtype>(d))) all.push_back(static_cast<dtype>(d));
  return all;
}

// The laws tested, with the number of cases, printed when the program ends.
class ledger {
 public:
  static ledger& get() {
    static ledger all;
    return all;
  }
  void count(const std::string& law, std::string_view op, int cases = 1) {
    laws_[law].first += cases;
    laws_[law].second[std::string(op)] += cases;
  }
  ~ledger() {
    std::set<std::string_view> ops;
    for_each_type(op::catalogue{}, [&]<class Op>() { ops.insert(Op::name); });
    std::printf("laws over the %zu ops of the catalogue:\n", ops.size());
    for (const auto& [law, counts] : laws_)
      std::printf("  %-62s %3zu ops, %6d cases\n", law.c_str(), counts.second.size(), counts.first);
    if (std::getenv("PINION_LAW_TABLE")) print_table(ops);
  }

  // Ops by laws: how many cases of each were tried.
  void print_table(const std::set<std::string_view>& ops) const {
    std::printf("\n%-38s", "op");
    for (std::size_t i = 1; i <= laws_.size(); ++i) std::printf(" %5zu", i);
    for (std::string_view op : ops) {
      std::printf("\n%-38s", std::string(op).c_str());
      for (const auto& [law, counts] : laws_) {
        const auto at = counts.second.find(std::string(op));
        at == counts.second.end() ? std::printf("     -") : std::printf(" %5d", at->second);
      }
    }
    std::printf("\n");
  }

 private:
  std::map<std::string, std::pair<int, std::map<std::string, int>>> laws_;
};

// Calls f(name, sample, key, call) for every sample and every dtype that its kernels on the CPU are declared for.
template <class F>
void for_each_case(F&& f, std::int64_t m = 5, std::int64_t n = 7) {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    for (const sample& s : samples_of(Op::name, m, n))
      for (dtype key : types_of(Op::kernels.cpu))
        if (makes_sense(Op::name, key) && (key != dtype::invalid || s.inputs.empty())) f(Op::name, s, key);
  });
}

inline std::string title(std::string_view op, const sample& s, dtype key) {
  return std::string(op) + " of " + std::string(to_string(key)) + ", " + s.note;
}

}  // namespace laws
