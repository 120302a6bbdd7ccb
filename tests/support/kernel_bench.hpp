// Runs single ops, and small graphs of them, on minimal devices and without a session; for tests of kernels and laws.
//
//   kernel_bench::graph g;
//   auto x = g.feed(tensor);                                   // a placeholder that has its value already
//   auto y = g.add("Sum", {x}, {{"axes", integers{1}}});
//   g.value(y);                                                // any_tensor
//   g.value(*g.gradient(y, 0, dy));                            // of its first input
//   kernel_bench::run("Sum", {tensor}, {…});                   // the outputs of one op
//   kernel_bench::run("Sum", {tensor}, {…}, on_stream);        // with elements that arrive only after run()
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <pinion/autodiff/gradients.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/kernels.hpp>
#include <pinion/opkit/build.hpp>

namespace kernel_bench {

using namespace pinion;

// Keeps what is enqueued until somebody asks for it to be run.
class held_stream final : public devices::stream {
 public:
  void enqueue(std::function<void()> body) override { bodies_.push_back(std::move(body)); }
  void when_reached(completion<> callback) override {
    synchronize();
    callback({});
  }
  // It is the only stream, and in order: there is nothing to wait for.
  std::shared_ptr<devices::event> record() override { return std::make_shared<devices::event>(); }
  void wait(std::shared_ptr<devices::event>) override {}
  std::shared_ptr<devices::mark> mark() override { throw error(errc::internal, "nobody times a held stream"); }
  void synchronize() override {
    for (auto& body : std::exchange(bodies_, {})) body();
  }

 private:
  std::vector<std::function<void()>> bodies_;
};

class device final : public devices::device {
 public:
  enum kind_t { cpu, gpu };  // a gpu has a held stream, and the kernels declared for GPUs
  explicit device(kind_t kind)
      : devices::device(parse_device(kind == gpu ? "/job:localhost/replica:0/task:0/device:GPU:0"
                                                 : "/job:localhost/replica:0/task:0/device:CPU:0"),
                        0, ""),
        stream_(kind == gpu ? std::make_unique<held_stream>() : nullptr) {}
  allocator& memory() override { return *heap_allocator::instance(); }
  devices::stream* stream() override { return stream_.get(); }
  any_tensor from_host(const any_tensor& value) override { return value; }
  void to_host(const any_tensor& value, completion<any_tensor> done) override { done(value); }

 private:
  std::unique_ptr<held_stream> stream_;
};

inline any_tensor copy_of(const any_tensor& t) {
  any_tensor c(t.dtype(), t.shape());
  std::memcpy(c.raw(), t.raw(), t.bytes());
  return c;
}

struct how {
  int threads = 0;  // of the intra-op pool
  device::kind_t on = device::cpu;
  std::vector<std::uint8_t> wanted{};  // empty: all outputs are
};
inline const how on_stream{.on = device::gpu};

// A graph of which every value can be had at once. Values are computed once.
class graph {
 public:
  explicit graph(how h = {}) : how_(std::move(h)), device_(how_.on), pool_(how_.threads) {
    services_.intra_op = how_.threads > 0 ? &pool_ : nullptr;
  }

  output feed(const any_tensor& value) { return feed(value, {{"dtype", value.dtype()}, {"shape", value.shape()}}); }
  // Of which nothing but the dtype is known while the graph is built.
  output feed_unknown(const any_tensor& value) {
    return feed(value, {{"dtype", value.dtype()}, {"shape", shape::any()}});
  }
  output add(std::string_view op, std::vector<output> inputs, attributes attrs = {}) {
    return {
        build(graph_, {.op = op, .base_name = std::string(op), .inputs = std::move(inputs), .attrs = std::move(attrs)}),
        0};
  }
  const output_type& type_of(output o) const { return graph_.type_of(o); }
  const any_tensor& value(output o) { return values(o.node)[static_cast<std::size_t>(o.index)]; }
  const std::vector<any_tensor>& values(node_id id) {
    if (!values_.contains(id)) run(id);
    return values_.at(id);
  }
  // Of a second run of the op, by the same kernel.
  const any_tensor& value_again(output o) {
    run(o.node);
    return value(o);
  }
  // The gradients of all inputs of the op that made `y`, from those of its outputs.
  std::vector<std::optional<gradient_value>> gradients(node_id y, std::vector<std::optional<output>> dy) {
    std::vector<std::optional<gradient_value>> given;
    for (const auto& of_output : dy)
      given.push_back(of_output ? std::optional(gradient_value{*of_output, {}, {}}) : std::nullopt);
    gradient_context context(graph_, y, std::move(given));
    definition_of(graph_[y].op).gradient(context);
    return std::move(context.of_input);
  }
  // The dense gradient of one input, from that of the first output.
  std::optional<output> gradient(output y, int input, output dy) {
    std::vector<std::optional<output>> all(graph_[y.node].outputs.size());
    all[0] = dy;
    const auto found = gradients(y.node, std::move(all))[static_cast<std::size_t>(input)];
    return found ? std::optional(found->dense) : std::nullopt;
  }

 private:
  output feed(const any_tensor& value, attributes attrs) {
    const output x{build(graph_, {.op = "Placeholder", .base_name = "x", .attrs = std::move(attrs)}), 0};
    values_[x.node] = {value};
    return x;
  }

  void run(node_id id) {
    const node& n = graph_[id];
    std::vector<any_tensor> in, out(n.outputs.size());
    for (const output& i : n.inputs) in.push_back(value(i));
    const kernel_setup setup{graph_, n, device_, services_};
    if (!kernels_[id]) kernels_[id] = make_kernel_for(setup);
    kernel_context context;
    context.device = &device_;
    context.services = &services_;
    context.wanted = how_.wanted;
    context.outputs = out;
    if (how_.on == device::gpu)
      run_late(*kernels_[id], context, in);
    else
      run_now(*kernels_[id], context, in);
    values_[id] = std::move(out);
  }
  static void run_now(kernel& k, kernel_context& context, std::vector<any_tensor>& in) {
    context.inputs = in;
    k.run(context);
  }
  // The elements come between run() and the bodies that it launched: whoever looks at them before sees rubbish.
  void run_late(kernel& k, kernel_context& context, const std::vector<any_tensor>& in) {
    std::vector<any_tensor> late, keep;
    for (const any_tensor& t : in) {
      late.push_back(copy_of(t));
      std::memset(late.back().raw(), 0x7e, t.bytes());
    }
    keep = late;
    context.inputs = late;
    k.run(context);
    for (std::size_t i = 0; i < in.size(); ++i) std::memcpy(keep[i].raw(), in[i].raw(), in[i].bytes());
    device_.stream()->synchronize();
  }

  how how_;
  pinion::graph graph_;
  default_scope use_ = graph_.as_default();
  device device_;
  thread_pool pool_;
  task_services services_;
  std::map<node_id, std::unique_ptr<kernel>> kernels_;
  std::map<node_id, std::vector<any_tensor>> values_;
};

// The outputs of one op.
inline std::vector<any_tensor> run(std::string_view op, const std::vector<any_tensor>& inputs, attributes attrs = {},
                                   const how& h = {}) {
  graph g(h);
  std::vector<output> in;
  for (const any_tensor& t : inputs) in.push_back(g.feed(t));
  return g.values(g.add(op, in, std::move(attrs)).node);
}

// ---- tensors

template <class T>
any_tensor of(const shape& extent, const std::vector<T>& elements) {
  any_tensor t(dtype_of<T>, extent);
  std::copy(elements.begin(), elements.end(), t.data<T>());
  return t;
}

// Whole numbers for integers, else standard normal; the same for the same seed.
template <class T>
any_tensor random(const shape& extent, unsigned seed = 1) {
  any_tensor t(dtype_of<T>, extent);
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      t.data<T>()[i] = static_cast<T>(normal(bits));
    else
      t.data<T>()[i] = static_cast<T>(bits() % 7);
  }
  return t;
}

// Elements as double.
inline std::vector<double> numbers(const any_tensor& t) {
  std::vector<double> all;
  visit_plain<dtypes::moved>(t.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < t.count(); ++i) all.push_back(static_cast<double>(t.data<T>()[i]));
  });
  return all;
}

inline bool same_bits(const any_tensor& a, const any_tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// ---- gradients

// The greatest difference between the gradient of sum(w y) by one input, w random and y the op's first output, and
// central differences of it; relative to 1 or to the gradient, if that is greater. Requires: double inputs.
inline double gradient_error(std::string_view op, const std::vector<any_tensor>& inputs, const attributes& attrs,
                             int by) {
  graph g;
  std::vector<output> in;
  for (const any_tensor& t : inputs) in.push_back(g.feed(t));
  const output y = g.add(op, in, attrs);
  const any_tensor w = random<double>(g.value(y).shape(), 99);
  const std::vector<double> analytic = numbers(g.value(*g.gradient(y, by, g.feed(w))));
  const auto objective = [&](std::size_t element, double step) {
    std::vector<any_tensor> moved = inputs;
    any_tensor& x = moved[static_cast<std::size_t>(by)] = copy_of(moved[static_cast<std::size_t>(by)]);
    x.data<double>()[element] += step;
    const std::vector<double> result = numbers(run(op, moved, attrs)[0]);
    double sum = 0;
    for (std::size_t i = 0; i < result.size(); ++i) sum += w.data<double>()[i] * result[i];
    return sum;
  };
  double worst = 0;
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < analytic.size(); ++i) {
    const double numeric = (objective(i, step) - objective(i, -step)) / (2 * step);
    worst = std::max(worst, std::abs(numeric - analytic[i]) / std::max(1.0, std::abs(numeric)));
  }
  return worst;
}

}  // namespace kernel_bench
