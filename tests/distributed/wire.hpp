// Values sent over a wire that is not there, a graph worth sending, and graphs and programs as text.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/program.hpp>
#include <pinion/distributed/wire/step.hpp>
#include <pinion/distributed/wire/subgraph.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/graph.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/optimizers/adam.hpp>
#include <pinion/train/optimizers/gradient_descent.hpp>
#include <pinion/train/optimizers/momentum.hpp>

#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace wire {

using namespace pinion;

// What a writer has written. (Archives of Cereal stay where they are.)
struct letter {
  std::string control;
  std::vector<rpc::part> parts;
  std::size_t payload_bytes = 0;
};
template <class... T>
letter sent(const T&... values) {
  rpc::writer w;
  w(values...);
  const std::size_t bytes = w.payload_bytes();
  return {std::move(w.control), std::move(w.parts), bytes};
}

// What lies behind the control part, put where the reader wants it.
inline void deliver(const letter& from, const rpc::reader& to) {
  std::string payload;
  for (const auto& p : from.parts) payload.append(reinterpret_cast<const char*>(p.data), p.bytes);
  std::size_t at = 0;
  for (const auto& room : to.rooms.all()) {
    std::memcpy(room.data(), payload.data() + at, room.size());
    at += room.size();
  }
}

template <class T>
void receive(const letter& w, T& value) {
  rpc::reader r(w.control, w.payload_bytes);
  r(value);
  r.finish();
  deliver(w, r);
}
template <class T>
T again(const T& value) {
  T result{};
  receive(sent(value), result);
  return result;
}

// ---- text

// All that a value says of itself: the control part, and the payload.
template <class T>
std::string bytes_of(const T& value) {
  const letter w = sent(value);
  std::string text = w.control;
  for (const auto& p : w.parts) text.append(reinterpret_cast<const char*>(p.data), p.bytes);
  return text;
}

inline std::string text(const attribute& value) {
  if (const auto* t = value.get_if<any_tensor>()) return t->empty() ? "<no tensor>" : to_string(*t);
  if (const auto* p = value.get_if<op::shared_program>()) return "\n" + scalar::to_string(**p);
  return bytes_of(value);
}
inline std::string text(const node& n) {
  std::string s = n.name + " = " + n.op;
  for (const auto& in : n.inputs) s += " " + std::to_string(in.node) + ":" + std::to_string(in.index);
  for (const node_id c : n.control_inputs) s += " ^" + std::to_string(c);
  for (const auto& t : n.outputs)
    s += " -> " + std::string(to_string(t.dtype)) + to_string(t.shape) + (t.reference ? "&" : "");
  s += " on '" + to_string(n.requested) + "' (" + n.request_reason + ")";
  for (const auto& c : n.colocation) s += " with " + c;
  for (const auto& [name, value] : n.attrs) s += " " + name + "=" + text(value);
  return s + " at " + to_string(n.where) + "\n";
}
inline std::string text(graph_view g) {
  std::string s;
  for (node_id id = 0; id < g.size(); ++id)
    s += std::to_string(id) + " " + (g.contains(id) ? text(g[id]) : std::string("hole\n"));
  return s;
}

// ---- a graph that has something of everything

struct model : own_graph {
  expr<float> x = placeholder<float>({unknown, 6}, "x");
  expr<std::int32_t> y = placeholder<std::int32_t>({unknown}, "y");
  expr<float> loss, accuracy;
  operation train;

  model() {
    expr<float> h = x;
    for (const int units : {8, 4}) h = elu(layer(h, h.shape()[1], units));
    const expr<float> logits = layer(h, 4, 3);
    loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
    accuracy = reduce_mean(cast<float>(in_top_k(logits, y, 1)));
    train = train::momentum{{.learning_rate = .1f}}.minimize(loss, {.global_step = train::get_or_create_global_step()});
    others();
  }

 private:
  static expr<float> layer(const expr<float>& in, std::int64_t inputs, std::int64_t units) {
    const name_scope scope("layer");
    const device on{"/job:ps/task:0/cpu:0"};
    const auto w = variable(truncated_normal<float>({inputs, units}, {.stddev = .1}), {.name = "W"});
    const auto b = variable(tensor<float>({units}), {.name = "b"});
    return matmul(in, w) + b;
  }
  void others() {
    const auto words = constant<std::string>({{"naïve", ""}, {"a", "b"}}, "words");
    const control_dependencies after{train, words};
    auto z = transpose(reshape(x, {3, -1}), {1, 0}, "z");
    sigmoid(square(z) * 2 + z);  // fused: the temporaries leave holes
    const colocate_with near(train);
    gather(z, constant<int>({0, 2}), {.name = "rows"});
    random_uniform<float>({2}, {.seed = 3});
    no_op("last");
  }
};

// A replica that got the whole of a graph over the wire.
struct replica {
  graph g;
  explicit replica(graph_view original) {
    distributed::graph_delta delta = again(distributed::delta_since(original));
    distributed::apply(g, std::move(delta));
  }
};

// A step over two tasks: the layers' variables on the one, the rest on the other.
inline std::vector<runtime::partition> partitions(model& m) {
  std::vector<device_info> devices;
  for (const char* name : {"/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"})
    devices.push_back({parse_device(name), name, 0, ""});
  const runtime::step_signature s{{end_of(m.x), end_of(m.y)}, {end_of(m.loss)}, {id_of(m.train)}};
  const auto home = parse_device("/job:worker/replica:0/task:0");
  const placement p =
      simple_placer{}({.graph = m.g, .nodes = runtime::prune(m.g, s), .devices = devices, .home = home});
  return runtime::cut_by_device(m.g, p, s, 0);
}

}  // namespace wire
