// The plan as a value: figures, JSON, DOT, a page, and what differs between two.
#include <pinion/graph.hpp>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>

#include "world.hpp"

namespace {

using namespace pinion;
using Catch::Contains;
using nlohmann::json;

const std::string this_task = "/job:localhost/replica:0/task:0/device:";

// x on CPU:0, a variable and its product on CPU:1.
struct two_cpus : world {
  operation product;
  two_cpus() : world{"cpu:0", "cpu:1"} {
    auto x = place<"/cpu:0">(placeholder<float>({8, 4}, "x"));
    const device on{"/cpu:1"};
    auto v = variable(zeros<float>({4, 4}), {.name = "v"});
    product = matmul(x, v, {.name = "product"});
  }
};

TEST_CASE("a plan tells what each device has to do and what crosses") {
  two_cpus w;
  const auto p = w.plan({w.product});
  REQUIRE(p.totals().size() == 2);
  CHECK((p.totals()[0].nodes == 1 && p.totals()[1].nodes == 3));
  CHECK((p.totals()[0].variables == 0 && p.totals()[1].variables == 64));
  CHECK(p.totals()[1].peak == 64 + 8 * 4 * 4 + 64 + 8 * 4 * 4);  // v, the x that came, v's value, the product
  REQUIRE(p.transfers().size() == 1);
  CHECK(p.transfers()[0].value == "x");
  CHECK((p.transfers()[0].from == 0 && p.transfers()[0].to == 1 && p.transfers()[0].bytes == 8 * 4 * 4));
  CHECK(p.find("product")->bytes_in == 8 * 4 * 4 + 4 * 4 * 4);
  CHECK(p.find("v")->state == 64);
  CHECK(p.makespan() == p.find("product")->ends);
  CHECK(p.find("product")->starts >= cost_model{}.within_task.seconds(128));
  CHECK_FALSE(p.allows_fallback());
  CHECK_THAT(totals_table(p), Contains(this_task + "CPU:1  3      64 B") &&
                                  Contains("1 value, 128 bytes cross between devices; a step would take "));
}

TEST_CASE("the JSON of a plan is JSON, and holds all of it") {
  two_cpus w;
  auto p = w.plan({w.product});
  p.add_note("a \"quoted\"\n<note>");
  const json j = json::parse(p.to_json());
  CHECK(j["mode"] == "strict");
  CHECK(j["makespan"].get<double>() == Approx(p.makespan()));
  CHECK(j["notes"] == json::array({"a \"quoted\"\n<note>"}));
  REQUIRE(j["nodes"].size() == p.nodes().size());
  for (std::size_t i = 0; i < p.nodes().size(); ++i) {
    const placed_node& n = p.nodes()[i];
    CHECK(j["nodes"][i]["name"] == n.name);
    CHECK(j["nodes"][i]["device"] == n.device);
    CHECK(j["nodes"][i]["reason"] == n.reason);
    CHECK(j["nodes"][i]["location"] == n.location);
    CHECK(j["nodes"][i]["bytes_in"] == n.bytes_in);
  }
  CHECK(j["devices"][1]["variable_bytes"] == 64);
  CHECK(j["transfers"][0]["to"] == this_task + "CPU:1");
  CHECK(json::parse(plan().to_json())["nodes"].empty());
}

TEST_CASE("the DOT of a plan has a cluster for each task and device, and marks what crosses") {
  two_cpus w;
  const auto dot = w.plan({w.product}).to_dot();
  CHECK_THAT(dot, Catch::StartsWith("digraph plan {") && Catch::EndsWith("}\n"));
  CHECK_THAT(dot, Contains("label=\"/job:localhost/replica:0/task:0\"") && Contains("label=\"/device:CPU:1\""));
  CHECK_THAT(dot, Contains("\"x\" -> \"product\" [penwidth=3") && Contains("\"v\" -> \"v/read\";"));
}

TEST_CASE("the page of a plan stands alone, and no text of the graph can break out of it") {
  two_cpus w;
  auto p = w.plan({w.product});
  p.add_note("</script><script>alert(1)</script>");
  const auto page = p.to_html();
  CHECK_THAT(page, Catch::StartsWith("<!doctype html>") && Catch::EndsWith("</html>\n"));
  for (const char* outside : {"http://cdn", "https://", "src=", "@import"}) CHECK_THAT(page, !Contains(outside));
  CHECK_THAT(page, !Contains("alert(1)</script>"));
  const auto from = page.find("id=\"plan\">") + 10;
  CHECK(json::parse(page.substr(from, page.find("</script>", from) - from))["nodes"].size() == p.nodes().size());
}

TEST_CASE("the nodes of a gradient say that they go with their forward op, in every form of the plan") {
  world w{"cpu:0", "cpu:1"};
  const device on{"/cpu:1"};
  auto v = variable(zeros<float>({4, 4}), {.name = "v"});
  auto y = pinion::tanh(matmul(v, v, {.name = "product"}), "y");
  const auto p = w.plan({std::get<0>(gradients(y, v))});
  int of_gradient = 0;
  for (const auto& n : p.nodes()) {
    if (n.name.rfind("gradients/", 0) != 0) continue;
    INFO(n.name << ": " << n.reason);
    ++of_gradient;
    CHECK(n.device == this_task + "CPU:1");
    CHECK_THAT(n.reason, Catch::StartsWith("with forward op "));
    for (const auto& text : {to_string(p), p.to_json(), p.to_html()}) CHECK_THAT(text, Contains(n.reason));
  }
  CHECK(of_gradient > 2);
  CHECK_THAT(p.find("product")->reason, Catch::StartsWith("pinned by guard at "));
}

// ---- what a person should know

std::vector<std::string> notes_of(world& w, const operation& fetched) {
  auto p = w.plan({fetched});
  note_doubts(p, w.g);
  return p.notes();
}

TEST_CASE("a guard that placed nothing is noted, with its line") {
  world w{"cpu:0", "cpu:1"};
  auto v = variable(1.f, {.name = "v"});
  auto one = constant(1.f, "one");
  const int line = __LINE__ + 2;
  {
    const device around_an_assignment{"/cpu:1"};
    assign_add(v, one);
  }
  {
    const device overridden{"/cpu:0"};
    const device inside{"/cpu:1"};
    no_op("n");
  }
  const device agrees{"/cpu:1"}, still_open{"/cpu:0"};
  const auto notes = notes_of(w, v.read());
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Catch::StartsWith("guard at ") && Contains(here(line)) &&
                           Catch::EndsWith(" placed nothing: no node was made while it lived, but for such as stand "
                                           "with another"));
  CHECK_THAT(notes[1], Contains(here(line + 4)) &&
                           Catch::EndsWith(" placed nothing: for 1 node made while it lived other guards or policies "
                                           "decided"));
}

TEST_CASE("a guard of a loop is noted once, and not at all if one of its turns placed something") {
  world w{"cpu:0", "cpu:1"};
  for (int i = 0; i < 3; ++i) const device idle("/cpu:" + std::to_string(i % 2));
  for (int i = 0; i < 3; ++i) {
    const device on("/cpu:" + std::to_string(i % 2));
    if (i == 1) no_op("n");
  }
  CHECK(notes_of(w, no_op()).size() == 1);
}

TEST_CASE("a variable whose name was taken is noted, with both lines") {
  world w{"cpu:0"};
  auto first = variable(1.f, {.name = "W"});
  const int line = __LINE__ - 1;
  auto second = variable(2.f, {.name = "W"});
  auto unnamed = variable(1.f), another = variable(1.f);
  const name_scope layer("layer");
  auto third = variable(2.f, {.name = "W"});
  CHECK(notes_of(w, group(first.initializer(), third.initializer(), unnamed.initializer(), another.initializer()))
            .empty());
  const auto notes = notes_of(w, second.initializer());
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Catch::StartsWith("variable 'W_1', made at ") && Contains(here(line + 2)) &&
                           Contains(", was given the name 'W', which was taken at ") && Catch::EndsWith(here(line)));
}

TEST_CASE("of many variables whose names were taken a few are noted, and how many more") {
  world w{"cpu:0"};
  std::vector<operation> all;
  for (int i = 0; i < 10; ++i) all.push_back(variable(1.f, {.name = "W"}).initializer());
  const auto notes = notes_of(w, group(all[0], all[1], all[2], all[3], all[4], all[5]));
  REQUIRE(notes.size() == 4);
  CHECK(notes[3] == "of 2 more variables the names were taken, too");
}

TEST_CASE("a name that the plan does not hold is told beside the one that was meant") {
  world w{"cpu:0"};
  const auto p = w.plan({constant(1.f, "weights")});
  CHECK(caught([&] { p.device_of("wieghts"); }).sentence() ==
        "the plan holds no node 'wieghts'; only what its fetches need; did you mean 'weights'?");
  CHECK(caught([&] { p.device_of("b"); }).sentence() == "the plan holds no node 'b'; only what its fetches need");
}

TEST_CASE("the difference of two plans names what moved, what went and what came") {
  world w{"cpu:0", "cpu:1"};
  auto a = constant(1.f, "a");
  auto b = identity(a, "b"), c = identity(a, "c");
  const auto first = w.plan({b});
  w.kept[id_of(b)] = this_task + "CPU:1";
  const auto second = w.plan({b, c});
  const auto d = diff(first, second);
  REQUIRE(d.moved.size() == 1);
  CHECK((d.moved[0].name == "b" && d.moved[0].from == this_task + "CPU:0" && d.moved[0].to == this_task + "CPU:1"));
  CHECK(d.only_in_second == std::vector<std::string>{"c"});
  CHECK(diff(second, first).only_in_first == std::vector<std::string>{"c"});
  CHECK_THAT(fmt::format("{}", d),
             Contains("b: " + this_task + "CPU:0 -> " + this_task + "CPU:1 (kept from an earlier run)\n+ c\n"));
  CHECK(diff(first, first).empty());
  CHECK(to_string(diff(first, first)) == "the same nodes on the same devices");
}

TEST_CASE("a session's plan says whether it may fall back") {
  two_cpus w;
  w.soft = true;
  CHECK(w.plan({w.product}).allows_fallback());
  CHECK_THAT(w.plan({w.product}).to_json(), Contains("\"mode\": \"fallback\""));
}

}  // namespace
