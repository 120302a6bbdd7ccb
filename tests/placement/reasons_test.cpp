// The reasons that a placement records, before anything words them.
#include <catch2/catch.hpp>

#include <pinion/placement/placing.hpp>

#include "world.hpp"

#include <support/ends.hpp>

namespace {

using namespace pinion;

const std::string localhost = "/job:localhost/replica:0/task:0/device:";
const literal<float> unit{{1}};

// A world with a placement of what some operations need.
struct placed_world : world {
  using world::world;
  placement placed;

  void place_by(const any_placer& placer, std::initializer_list<operation> fetches) {
    std::vector<node_id> targets;
    for (const auto& f : fetches) targets.push_back(id_of(f));
    placed = placer({g, ancestors(g, {}, targets), devices, kept, home, soft});
  }
  std::size_t index(const operation& of) const {
    const auto& all = placed.nodes();
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), id_of(of)) - all.begin());
  }
  placement_reason reason(const operation& of) const { return placed.reason(index(of)); }
  std::string leader(const operation& of) { return g[reason(of).leader].name; }
  std::string culprit(const operation& of) { return g[reason(of).culprit].name; }
};

TEST_CASE("a placement keeps its groups, and who leads each") {
  placed_world w{"cpu:0", "cpu:1"};
  auto a = constant<float>(unit, "a"), alone = constant<float>(unit, "alone");
  const colocate_with near{a};
  const device on{"/cpu:1"};
  auto b = constant<float>(unit, "b");
  w.place_by(simple_placer{}, {a, b, alone});
  CHECK(w.placed.group(w.index(a)) == w.placed.group(w.index(b)));
  CHECK(w.placed.group(w.index(a)) != w.placed.group(w.index(alone)));
  CHECK((w.leader(a) == "b" && w.leader(b) == "b" && w.leader(alone) == "alone"));
  CHECK(w.reason(a).by == placement_reason::requested);
}

TEST_CASE("the node that lacks a kernel is the culprit, for all that stand with it") {
  placed_world w{"cpu:0", "gpu:0"};
  auto x = placeholder<float>({1, 1}, "x");
  const colocate_with near{x};
  auto i = placeholder<int>({1, 1}, "i");
  auto product = matmul(i, i, {.name = "product"});  // of int32, on the CPU alone
  w.place_by(simple_placer{}, {x, product});
  CHECK(w.reason(x).by == placement_reason::only_kernel);
  CHECK((w.leader(x) == "x" && w.culprit(x) == "product"));
  CHECK(w.plan({x, product}).find("x")->reason == "only kernel of product");
}

TEST_CASE("a placer's choice is recorded in its words, and without words where it left the first candidate") {
  placed_world w{"cpu:0", "cpu:1"};
  auto a = placeholder<float>({}, "a"), b = placeholder<float>({}, "b"), c = placeholder<float>({}, "c");
  w.place_by(
      [](const placement_problem& p) {
        placing work(p);
        work.put(0, 0);
        work.put(1, 1);
        work.put(2, 0, "so");
        return work.result();
      },
      {a, b, c});
  CHECK(w.reason(a).by == placement_reason::first_device);
  CHECK((w.reason(b).by == placement_reason::placer && w.reason(b).words == ""));
  CHECK((w.reason(c).by == placement_reason::placer && w.reason(c).words == "so"));
}

TEST_CASE("a decision that was taken back leaves no reason") {
  placed_world w{"cpu:0", "cpu:1"};
  auto a = placeholder<float>({}, "a");
  w.place_by(
      [](const placement_problem& p) {
        placing work(p);
        work.put(0, 1, "a bad idea");
        work.start_over();
        work.put(0, 0);
        return work.result();
      },
      {a});
  CHECK(w.reason(a).by == placement_reason::first_device);
  CHECK(w.reason(a).words == "");
}

TEST_CASE("who joins a node that an earlier run placed follows it, though it was made before") {
  placed_world w{"cpu:0", "cpu:1"};
  auto a = constant<float>(unit, "a");
  const colocate_with near{a};
  auto b = constant<float>(unit, "b");
  w.kept[id_of(b)] = localhost + "CPU:1";
  w.place_by(simple_placer{}, {a, b});
  CHECK((w.reason(a).by == placement_reason::kept && w.leader(a) == "b"));
  const auto p = w.plan({a, b});
  CHECK(p.find("a")->reason == "with b");
  CHECK(p.find("b")->reason == "kept from an earlier run");
}

TEST_CASE("an unmet request is recorded with its cause and culprit") {
  placed_world w{"cpu:0", "gpu:0"};
  w.soft = true;
  const device on{"/gpu:0"};
  auto v = variable(3, {.name = "v"});
  const device nowhere{"/gpu:9"};
  auto a = constant(1.f, "a");
  w.place_by(simple_placer{}, {v.read(), a});
  REQUIRE(w.placed.unmet().size() == 3);
  const auto& [first, of_v] = w.placed.unmet()[0];
  CHECK((first == id_of(v) && of_v.why == unmet_request::lacks_kernel && of_v.culprit == id_of(v) && of_v.device == 1));
  CHECK(w.placed.unmet()[1].second.culprit == id_of(v));  // v/read may run there, v may not
  CHECK((w.placed.unmet()[2].first == id_of(a) && w.placed.unmet()[2].second.why == unmet_request::no_device));
}

TEST_CASE("a plan can be made of a placement when the groups are long gone") {
  placed_world w{"cpu:0", "cpu:1"};
  auto v = place<"/cpu:1">(variable(1.f, {.name = "v"}));
  w.place_by(simple_placer{}, {v.read()});
  const placement copy = w.placed;
  w.placed = {};
  const placement_problem again{w.g, copy.nodes(), w.devices};
  CHECK(explain(again, copy).find("v/read")->reason == "with v");
}

}  // namespace
