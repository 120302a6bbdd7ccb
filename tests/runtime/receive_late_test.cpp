// Values from other devices that are received late: which edges a partition gets, and what memory they save.
#include <pinion/placement/late_receives.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/step/partition.hpp>
#include <pinion/runtime/step/prune.hpp>
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;
using runtime::part_item;

constexpr std::int64_t one = 64 * 64 * 4;  // the bytes of a weight

// A product of a matrix and many weights, which are on one device and are read on another, one after the other.
struct late_layers : own_graph {
  std::vector<expr<float>> weights;
  expr<float> x, end;
  explicit late_layers(int n, const std::string& there = "/cpu:1") {
    {
      const device here{"/cpu:0"};
      x = placeholder<float>({64, 64}, "x");
      for (int i = 0; i < n; ++i) weights.push_back(placeholder<float>({64, 64}, "w" + std::to_string(i)));
    }
    const device on{there};
    end = x;
    for (int i = 0; i < n; ++i)
      end = matmul(end, weights[static_cast<std::size_t>(i)], {.name = "m" + std::to_string(i)});
  }
  std::vector<output> fed() const {
    std::vector<output> all{end_of(x)};
    for (const auto& w : weights) all.push_back(end_of(w));
    return all;
  }
};

// The receives of the second CPU that wait for nodes: "w2 after m0, w3 after m1".
std::string late(graph_view g, const runtime::step_signature& s, std::int64_t ahead) {
  std::vector<device_info> devices;
  for (const char* name :
       {"/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:1"})
    devices.push_back({parse_device(name), name, 0, ""});
  const placement p = simple_placer{}({.graph = g, .nodes = runtime::prune(g, s), .devices = devices});
  std::string all;
  for (const auto& part : runtime::cut_by_device(g, p, s, 0, {.receive_ahead = ahead})) {
    if (part.device != 1) continue;
    for (const part_item& it : part.items)
      if (it.kind == part_item::receive)
        for (const int before : it.after)
          all += (all.empty() ? "" : ", ") + g[it.node].name + " after " +
                 g[part.items[static_cast<std::size_t>(before)].node].name;
  }
  return all;
}

}  // namespace

TEST_CASE("a value waits for the readers of those before it that are too many beside it") {
  const std::vector<std::int64_t> bytes{1, 1, 1, 1, 1}, mixed{1, 5, 1, 1, 9};
  const auto behind = [](const std::vector<std::int64_t>& b, std::int64_t ahead) { return late_receives(b, ahead); };
  CHECK(behind(bytes, 0) == std::vector<int>{-1, -1, -1, -1, -1});
  CHECK(behind(bytes, 5) == std::vector<int>{-1, -1, -1, -1, -1});
  CHECK(behind(bytes, 3) == std::vector<int>{-1, -1, -1, 0, 1});
  CHECK(behind(bytes, 1) == std::vector<int>{-1, 0, 1, 2, 3});
  CHECK(behind(mixed, 6) == std::vector<int>{-1, -1, 0, 1, 3});
  CHECK(behind({}, 6).empty());
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(behind({most, most, 1}, most) == std::vector<int>{-1, 0, 1});
}

TEST_CASE("receives beyond so many bytes wait for the first readers of others") {
  late_layers f(5);
  const runtime::step_signature s{f.fed(), {end_of(f.end)}, {}};
  CHECK(late(f.g, s, 2 * one) == "w1 after m0, w2 after m0, w3 after m1, w4 after m2");
  CHECK(late(f.g, s, 4 * one) == "w3 after m0, w4 after m0");
  CHECK(late(f.g, s, 6 * one) == "");
  CHECK(late(f.g, s, 0) == "");
}

TEST_CASE("nobody waits for a reader that may itself wait for another step, unless the own readers do") {
  own_graph g;
  fifo_queue<float> queue = [] {
    const device on{"/cpu:1"};
    return fifo_queue<float>{{.capacity = 1, .shapes = {{64, 64}}}};
  }();
  const auto a = placeholder<float>({64, 64}, "a"), b = placeholder<float>({64, 64}, "b"),
             c = placeholder<float>({64, 64}, "c");
  const device on{"/cpu:1"};
  const auto first = matmul(queue.dequeue(), a, {.name = "first"});  // waits for who enqueues "other"
  const auto other = matmul(b, b, {.name = "other"});
  const auto last = matmul(first, c, {.name = "last"});
  const runtime::step_signature s{{end_of(a), end_of(b), end_of(c)}, {end_of(last)}, {id_of(queue.enqueue(other))}};
  CHECK(late(g.g, s, 1) == "c after other");
  const runtime::step_signature alone{{end_of(a), end_of(c)}, {end_of(last)}, {}};
  CHECK(late(g.g, alone, 1) == "c after first");
}

TEST_CASE("a step that receives late yields the same, and has fewer values at once") {
  late_layers f(12, "/gpu:0");
  tensor<float> value({64, 64});
  for (std::int64_t i = 0; i < 64; ++i) value(i, (i + 1) % 64) = 1;
  std::vector<feed> all{{f.x, value}};
  for (const auto& w : f.weights) all.push_back({w, value});
  tensor<float> results[2];
  for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{1}}) {
    session sess{{.simulated = {sim::gpu()}, .receive_ahead = ahead}};
    step_trace t;
    results[ahead] = tensor<float>(sess.run({.feeds = all, .fetches = {f.end}, .trace = &t})[0]);
    // A weight, the next one that came as the former product ended, and two products.
    if (ahead > 0) CHECK(t.peak("/job:localhost/replica:0/task:0/device:GPU:0") <= 4 * one);
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0](0, 13) == 1);
}

TEST_CASE("a plan tells what the limit saves") {
  late_layers f(12, "/gpu:0");
  const auto notes = [&](std::int64_t ahead) {
    session sess{{.simulated = {sim::gpu()}, .receive_ahead = ahead}};
    std::string all;
    const pinion::plan made = sess.plan(f.end);
    for (const std::string& note : made.notes()) all += note;
    return all;
  };
  CHECK(notes(0) == "");
  CHECK(notes(100 * one) == "");
  CHECK(notes(2 * one) ==
        "/job:localhost/replica:0/task:0/device:GPU:0 receives values at most 32768 bytes ahead of "
        "their readers: it needs 98304 bytes at most, and else 245760");
}
