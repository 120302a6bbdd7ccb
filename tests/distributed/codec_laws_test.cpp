// Laws of decoding: whatever comes in, reading it ends well or with an error, and takes memory for what is there.
#include "wire.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <random>

#include <pinion/op/catalogue.hpp>

#include "support/counted_new.hpp"

namespace {

using namespace pinion;

// A message, and how a receiver reads it and puts it to use.
struct message {
  std::string name;
  wire::letter bytes;
  std::function<void(rpc::reader&)> use;
};

template <class T>
message plain(std::string name, const T& value) {
  return {std::move(name), wire::sent(value), [](rpc::reader& r) {
            T read{};
            r(read);
            r.finish();
          }};
}

void use_delta(rpc::reader& r) {
  distributed::graph_delta delta;
  r(delta);
  r.finish();
  graph replica;
  distributed::apply(replica, std::move(delta));
}
void use_error(rpc::reader& r) {
  error read(errc::unknown, "");
  r(read);
  r.finish();
}
void use_subgraph(rpc::reader& r) {
  distributed::subgraph s;
  r(s);
  r.finish();
  distributed::rebuild(s);
}

template <class Each>
void for_each_message(Each&& each) {
  wire::model m;
  const auto parts = wire::partitions(m);
  const node& fused = m.g[m.g.id_of("Elu")];
  const error e = error(errc::not_found, "no file").at_node("a/b", "Op", "x.cpp:3").on_device("/cpu:0").in_task("ps:0");
  each(message{"delta", wire::sent(distributed::delta_since(m.g)), use_delta});
  for (const auto& part : parts) each(message{"subgraph", wire::sent(distributed::cut(m.g, {part})), use_subgraph});
  each(plain("attributes", fused.attrs));
  each(plain("attributes with strings", m.g[m.g.id_of("words")].attrs));
  each(plain("tensors", std::vector<any_tensor>{tensor<float>({50}).untyped(), tensor<std::string>({9}).untyped()}));
  each(plain("program", op::program_of(fused.attrs)));
  each(message{"error", wire::sent(e), use_error});
  each(plain("signature", runtime::step_signature{{{1, 0}}, {{2, 1}}, {4}}));
  each(plain(
      "trace",
      step_trace{{{trace_event::send, "a/b", "Op", "/cpu:0", "a/b:0;/cpu:0;/gpu:0", 9, 8, 7, 6, 5, "add, mul"}, {}},
                 3,
                 {{"/cpu:0", 12, 1 << 20}},
                 "it broke"}));
  each(plain("devices", std::vector<device_info>{{parse_device("/job:a/task:0/cpu:0"), "c", 5, "a CPU"}}));
}

// How reading ends: with an error, or well; and the memory it took at most.
struct ending {
  bool well = false;
  std::size_t memory = 0;
};
ending read(const message& m, std::string_view control, std::uint64_t payload) {
  const std::size_t before = counted_new::bytes;
  counted_new::most_bytes = before;
  bool well = true;
  try {
    rpc::reader r(control, payload);
    m.use(r);
  } catch (const error&) {
    well = false;
  }
  return {well, counted_new::most_bytes - before};
}

TEST_CASE("no prefix of a message is a message, nor takes more memory than ten times what is there") {
  for_each_message([](const message& m) {
    const std::string_view whole = m.bytes.control;
    const std::uint64_t payload = m.bytes.payload_bytes;
    REQUIRE(read(m, whole, payload).well);
    std::size_t accepted = 0, greedy = 0;
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const ending end = read(m, whole.substr(0, n), payload);
      accepted += end.well;
      greedy += end.memory > 10 * (n + payload) + 4096;
    }
    INFO(m.name << ", " << whole.size() << " bytes");
    CHECK(accepted == 0);
    CHECK(greedy == 0);
  });
}

TEST_CASE("a payload that is too short or too long is refused") {
  for_each_message([](const message& m) {
    const std::uint64_t payload = m.bytes.payload_bytes;
    INFO(m.name);
    CHECK_FALSE(read(m, m.bytes.control, payload + 1).well);
    if (payload > 0) CHECK_FALSE(read(m, m.bytes.control, payload - 1).well);
  });
}

TEST_CASE("counts and sizes that lie take no memory") {
  const message tensors = plain("tensor", any_tensor());
  const auto large = wire::sent(true, dtype::float32, shape{1 << 28});
  const auto words = wire::sent(true, dtype::string, shape{1 << 28}, std::uint32_t{1 << 28});
  for (const auto& w : {large, words}) {
    const ending end = read(tensors, w.control, 1000);
    CHECK_FALSE(end.well);
    CHECK(end.memory < 4096);
  }
  const message deltas{"delta", {}, use_delta};
  const auto nodes = wire::sent(node_id{0}, std::uint32_t{0xffffffff});
  CHECK(read(deltas, nodes.control + std::string(3000, '\0'), 0).memory < 4'000'000);
}

TEST_CASE("whatever bytes are changed, reading ends well or with an error") {
  std::mt19937 random(7);
  for_each_message([&](const message& m) {
    for (int i = 0; i < 2000; ++i) {
      std::string control = m.bytes.control;
      for (unsigned k = 0; k <= random() % 4; ++k) control[random() % control.size()] = static_cast<char>(random());
      CHECK_NOTHROW(read(m, control, m.bytes.payload_bytes));
    }
  });
}

// ---- messages that are well formed, and lie

// Changes one thing about one node of a graph.
class liar {
 public:
  explicit liar(unsigned seed) : random_(seed) {
    for_each_type(op::catalogue{}, [&]<class Op>() { ops_.emplace_back(Op::name); });
  }
  template <class List>
  auto& pick(List& list) {
    return list[random_() % std::size(list)];
  }
  void change(std::vector<node>& all) {
    node &n = pick(all), &other = pick(all);
    switch (random_() % 8) {
      case 0: n.op = pick(ops_); return;
      case 1: n.inputs = other.inputs; return;
      case 2: n.attrs = other.attrs; return;
      case 3: n.outputs = other.outputs; return;
      case 4:
        n.inputs.push_back({static_cast<node_id>(random_() % all.size()), static_cast<int>(random_() % 2)});
        return;
      case 5:
        if (!n.inputs.empty()) n.inputs.pop_back();
        return;
      case 6: std::shuffle(n.inputs.begin(), n.inputs.end(), random_); return;
      case 7: change_attribute(n, other); return;
    }
  }
  std::mt19937& random() { return random_; }

 private:
  void change_attribute(node& n, const node& other) {
    static const shape shapes[] = {{}, shape::any(), {unknown}, {0}, {1 << 20, 1 << 20}, {2, 3, 4}, {unknown, 1 << 30}};
    n.attrs.set("shape", pick(shapes));
    n.attrs.set("axes", integers{static_cast<std::int64_t>(random_() % 5) - 2});
    n.attrs.set("perm", integers(random_() % 60, 1));
    n.attrs.set("states", static_cast<std::int64_t>(random_() % 5) - 1);
    for (const auto& [name, value] : other.attrs) n.attrs.set(name, value);
  }

  std::mt19937 random_;
  std::vector<std::string> ops_;
};

TEST_CASE("whatever is said of nodes, a replica takes it or throws an error") {
  wire::model m;
  wire::replica received(m.g);
  const auto whole = distributed::delta_since(received.g);
  liar lies(11);
  std::size_t taken = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<node> nodes;
    for (const auto& n : whole.nodes) nodes.push_back(n ? *n : node{});
    for (unsigned k = 0; k <= lies.random()() % 3; ++k) lies.change(nodes);
    graph copy;
    for (std::size_t id = 0; id < nodes.size(); ++id) try {
        distributed::graph_delta one{static_cast<node_id>(id), {}, {}};
        if (whole.nodes[id])
          one.nodes.emplace_back(nodes[id]);
        else
          one.nodes.emplace_back();
        distributed::apply(copy, std::move(one));
        ++taken;
      } catch (const error&) {
        copy.adopt(std::nullopt);
      }
  }
  CHECK(taken > 0);
}

TEST_CASE("whatever is said of items, a worker takes it or throws an error") {
  wire::model m;
  const auto parts = wire::partitions(m);
  std::mt19937 random(13);
  const auto small = [&] { return static_cast<int>(random() % 40) - 2; };
  for (int i = 0; i < 2000; ++i) {
    distributed::subgraph s = distributed::cut(m.g, {parts[random() % parts.size()]});
    auto& items = s.parts[0].items;
    runtime::part_item& it = items[random() % items.size()];
    switch (random() % 7) {
      case 0: it.kind = static_cast<runtime::part_item::kind_t>(random() % 5); break;
      case 1: it.node = small(); break;
      case 2: it.inputs.emplace_back(small(), small() % 3); break;
      case 3: it.after.push_back(small()); break;
      case 4: it.outputs = small(); break;
      case 5: it.index = small(); break;
      case 6: std::swap(it, items[random() % items.size()]); break;
    }
    try {
      distributed::rebuild(s);
    } catch (const error&) {
    }
  }
}

}  // namespace
