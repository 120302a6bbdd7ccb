// Summaries on a cluster: of values of two tasks, merged on a third place, written by the client.
#include "sim_cluster.hpp"

#include <catch2/catch.hpp>

#include <pinion/train/summary/event_file_reader.hpp>
#include <pinion/train/summary/summary.hpp>
#include <pinion/train/summary/summary_writer.hpp>

#include <support/temporary_folder.hpp>
#include <support/wire_message.hpp>

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion_tests;
namespace tr = pinion::train;

TEST_CASE("summaries of two tasks arrive merged, and the graph with their devices") {
  sim_cluster cluster(weather{3});
  graph g;
  const auto use = g.as_default();
  expr<float> w, y;
  operation init;
  {
    const device on{ps_task(0)};
    auto v = variable(tensor<float>::of({1, 2, 3}), {.name = "w"});
    init = v.initializer();
    w = v;
    tr::summary::histogram("w", w);
  }
  {
    const device on{worker_task(1)};
    y = reduce_sum(w * w);
    tr::summary::scalar("y", y);
  }
  auto merged = tr::summary::merge_all();
  session sess{cluster.toward(worker_task(0), 60s)};
  sess.run(init);
  const auto plan = sess.plan(merged);
  CHECK(plan.device_of("w_1") == ps_task(0) + "/device:CPU:0");
  CHECK(plan.device_of("y") == worker_task(1) + "/device:CPU:0");
  const tensor<std::string> got = sess.run(merged);
  const wire_message m(got());
  REQUIRE(m.count(1) == 2);
  CHECK(m.sub(1, 0).text(1) == "w");
  CHECK(m.sub(1, 0).sub(5).real(4) == 6);
  CHECK(m.sub(1, 1).text(1) == "y");
  CHECK(m.sub(1, 1).single(2) == 14);

  temporary_folder dir;
  tr::summary_writer writer{dir.folder()};
  writer.add(got, 1);
  writer.add_graph(g, plan);
  writer.close();
  tr::event_file_reader r(writer.path());
  r.next();
  CHECK(tr::scalars_of(*r.next()) == std::vector<tr::scalar_event>{{"y", 14}});
  std::string devices;
  const wire_message graph_def(r.next()->body);
  for (std::size_t i = 0; i < graph_def.count(1); ++i)
    if (const auto n = graph_def.sub(1, i); n.text(2).ends_with("Summary"))
      devices += n.text(2) + " " + n.text(4) + "\n";
  CHECK(devices == "HistogramSummary " + ps_task(0) + "/device:CPU:0\nScalarSummary " + worker_task(1) +
                       "/device:CPU:0\nMergeSummary " + plan.device_of("MergeSummary") + "\n");
}

}  // namespace
#endif
