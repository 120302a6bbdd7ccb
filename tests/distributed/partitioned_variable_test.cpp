// A table in parts on several ps tasks: where they stand, what travels, what is saved.
#include <catch2/catch.hpp>

#include <pinion/distributed.hpp>
#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

constexpr std::int64_t table_rows = 3000, width = 64, row_bytes = width * 4;

// An embedding over some ps tasks, or at home on none.
struct spread_table : own_graph {
  explicit spread_table(int ps_tasks, int parts) {
    const pn::device on{pn::replica_device_setter{
        {.ps_tasks = ps_tasks, .worker_device = ps_tasks ? "/job:worker/task:0" : ""}, pn::greedy_load_balancing{}}};
    table = pn::partitioned_variable<float>({table_rows, width}, pn::nn::random_uniform_initializer(-1, 1, 3),
                                            {.name = "table", .partition = pn::fixed_size_partitioner{parts}});
    looked_up = pn::gather(table, ids);
    train = tr::adagrad{{.learning_rate = .1f}}.minimize(pn::reduce_sum(pn::square(looked_up)));
    init = pn::global_variables_initializer();
    saver.emplace();
  }
  pn::tensor<float> after(pn::session& sess, int steps) {
    for (int i = 0; i < steps; ++i) sess.run({{ids, {i, 2999, 1000 + i, 2999}}}, train);
    return sess.run({{ids, {0, 1, 2, 999, 1000, 1001, 1999, 2000, 2999}}}, looked_up);
  }

  pn::expr<int> ids = pn::placeholder<int>({pn::unknown}, "ids");
  pn::partitioned_variable<float> table;
  pn::expr<float> looked_up;
  pn::operation train, init;
  std::optional<tr::saver> saver;
};

}  // namespace

TEST_CASE(
    "a table in parts is spread over the ps tasks, each part with its slot, and only rows that are asked for travel") {
  spread_table m(3, 6);
  pn::local_cluster local{{{"ps", 3}, {"worker", 1}}};
  pn::session sess{{.target = local.target("worker", 0), .operation_timeout = std::chrono::seconds(60)}};

  CHECK(to_string(m.table) ==
        "table [3000, 64] in 6 parts: 256000 B on /job:ps/task:0, 256000 B on /job:ps/task:1, 256000 B on "
        "/job:ps/task:2");
  const auto p = sess.plan(m.train, m.init);
  std::vector<std::int64_t> bytes;
  for (std::size_t d = 0; d < p.devices().size(); ++d) bytes.push_back(p.totals()[d].variables);
  CHECK(bytes == std::vector<std::int64_t>{512000, 512000, 512000, 0});  // with the slots; the worker comes last
  for (const auto& part : m.table.parts()) {
    CHECK(p.device_of(part.name() + "/Adagrad") == p.device_of(part.name()));
    CHECK(p.device_of(part.name() + "/SparseApplyAdagrad") == p.device_of(part.name()));
  }
  sess.run(m.init);
  m.after(sess, 1);  // the graph is there

  const auto sent = [&] {
    std::uint64_t n = 0;
    for (int i = 0; i < 3; ++i) n += local.server("ps", i).traffic().bytes_sent;
    return n;
  };
  const auto received = [&] { return local.server("worker", 0).traffic().bytes_received; };
  const std::uint64_t sent_before = sent(), received_before = received();
  for (int i = 0; i < 10; ++i) sess.run({{m.ids, {1, 1500, 2999, 2998}}}, m.train);
  const std::uint64_t ten_steps_of_rows = 10 * 4 * row_bytes;
  CHECK(sent() - sent_before >= ten_steps_of_rows);
  CHECK(sent() - sent_before < table_rows * row_bytes / 6);  // in ten steps not one part's worth
  CHECK(received() - received_before < table_rows * row_bytes / 6);

  CHECK(refusal(
            [&] {
              sess.run({{m.ids, {3000}}}, m.looked_up);
            },
            pn::errc::invalid_argument, "index 3000 at position 0 is not in [0, 3000)") == "");
}

TEST_CASE("a table in parts learns on a cluster what it learns on one machine, and its checkpoint fits any cluster") {
  temporary_folder dir;
  spread_table here(0, 1);
  pn::session at_home{{.graph = &here.g}};
  at_home.run(here.init);
  const auto wanted = here.after(at_home, 5), later = here.after(at_home, 5);

  std::string prefix;
  {
    spread_table m(3, 5);
    pn::local_cluster local{{{"ps", 3}, {"worker", 1}}};
    pn::session sess{
        {.target = local.target("worker", 0), .graph = &m.g, .operation_timeout = std::chrono::seconds(60)}};
    sess.run(m.init);
    CHECK(m.after(sess, 5) == wanted);
    prefix = m.saver->save(sess, dir.path("model"), 5);
  }
  {
    spread_table m(2, 11);
    pn::local_cluster local{{{"ps", 2}, {"worker", 1}}};
    pn::session sess{
        {.target = local.target("worker", 0), .graph = &m.g, .operation_timeout = std::chrono::seconds(60)}};
    m.saver->restore(sess, prefix);
    CHECK(m.after(sess, 5) == later);
  }
  here.saver->restore(at_home, prefix);
  CHECK(here.after(at_home, 5) == later);
}
