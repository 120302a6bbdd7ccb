// The profiler hook: which steps it writes down, and where.
#include <catch2/catch.hpp>

#include <fstream>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"
#if PINION_HAS_JSON
#include "support/trace_rules.hpp"
#endif

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using paths_of_files = std::vector<std::string>;

struct profiled_model : own_graph {
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::variable_handle<float> w = pn::variable(pn::tensor<float>({8, 8}), {.name = "w"});
  pn::operation train = [&] {
    const pn::control_dependencies after{pn::assign(w, pn::matmul(w, w))};
    return pn::operation(pn::assign_add(step, 1));
  }();
};
void run(profiled_model& m, int steps, const std::vector<tr::any_hook>& hooks) {
  tr::monitored_training_session sess{{.hooks = hooks}};
  for (int i = 0; i < steps; ++i) sess.run(m.train);
}

}  // namespace

TEST_CASE("the profiler writes down a step now and then, but not the first") {
  temporary_folder dir;
  profiled_model m;
  run(m, 1, {tr::profiler({.save_steps = 1, .output_dir = dir.path("new")})});
  CHECK(!std::filesystem::exists(dir.path("new")));
  run(m, 7, {tr::profiler({.save_steps = 3, .output_dir = dir.path("new")})});
  // A step's own read of the global step is ordered neither before nor after its update.
  CHECK(std::filesystem::exists(dir.path("new/timeline-3.json")));
  CHECK((std::filesystem::exists(dir.path("new/timeline-6.json")) ||
         std::filesystem::exists(dir.path("new/timeline-5.json"))));
  CHECK(!std::filesystem::exists(dir.path("new/timeline-4.json")));
}

TEST_CASE("each hook that asks for a trace gets it, and so does the caller") {
  profiled_model m;
  struct curious {
    pn::step_trace* trace;
    pn::run_request before_run(tr::run_context&) { return {.trace = trace}; }
  };
  pn::step_trace a, b, own;
  tr::monitored_training_session sess{{.hooks = {curious{&a}, curious{&b}}}};
  sess.run(m.train);
  CHECK(!a.events.empty());
  CHECK(a == b);
  sess.run(pn::run_request{.targets = {m.train}, .trace = &own});
  CHECK(own == a);
}

TEST_CASE("the profiler says what it needs") {
  CHECK(refusal([] { tr::profiler({}); }, pn::errc::invalid_argument, "profiler was given neither") == "");
  CHECK(refusal([] { tr::profiler({.save_steps = 1, .save_secs = 1.0}); }, pn::errc::invalid_argument, "both") == "");
  temporary_folder dir;
  std::ofstream(dir.path("file")) << "in the way";
  profiled_model m;
  CHECK(refusal([&] { run(m, 3, {tr::profiler({.save_steps = 1, .output_dir = dir.path("file/inside")})}); },
                pn::errc::not_found, "cannot make the folder", "file/inside") == "");
}

#if PINION_HAS_JSON
TEST_CASE("a timeline tells of the nodes of training by the rules of those who show it") {
  temporary_folder dir;
  profiled_model m;
  run(m, 2, {tr::profiler({.save_steps = 1, .output_dir = dir.path()})});
  REQUIRE(dir.files() == paths_of_files{"timeline-2.json"});
  std::ifstream file(dir.path("timeline-2.json"));
  const auto json = nlohmann::json::parse(file);
  CHECK(pinion_tests::broken_rule(json) == "");
  const auto ops = pinion_tests::slices_of(json, "op");
  CHECK(std::count_if(ops.begin(), ops.end(), [](const auto& e) { return e["name"] == "MatMul"; }) == 1);
  CHECK(std::count_if(ops.begin(), ops.end(), [](const auto& e) { return e["name"] == "AssignAdd"; }) == 1);
}
#endif
