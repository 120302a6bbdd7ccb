// Variables in parts: how they are cut, what they are called, what they compute.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;
using pn::fixed_size_partitioner;

// "3+2+2" of 7 rows in 3 parts.
std::string cut(std::int64_t rows, int parts) {
  std::string text;
  std::int64_t next = 0;
  for (const pn::row_range& r : pn::cut_rows(rows, parts)) {
    text += (text.empty() ? "" : "+") + std::to_string(r.count);
    if (r.first != next) text += " begins at " + std::to_string(r.first);
    next += r.count;
  }
  return text;
}

pn::tensor<float> counted(const pn::shape& extent) {
  pn::tensor<float> t(extent);
  float next = 0;
  for (float& x : t.span()) x = next++;
  return t;
}

struct fresh_graph : own_graph {
  std::string names(const std::string& collection) {
    std::string all;
    for (const pn::node_id id : g.collection(collection)) all += (all.empty() ? "" : " ") + g[id].name;
    return all;
  }
};

}  // namespace

TEST_CASE("rows are cut into equal parts, of which the first ones have one more") {
  struct row {
    std::int64_t rows;
    int parts;
    std::string expected;
  };
  for (const row& r : {row{7, 3, "3+2+2"}, row{8, 3, "3+3+2"}, row{9, 3, "3+3+3"}, row{3, 3, "1+1+1"}, row{5, 1, "5"},
                       row{1, 1, "1"}, row{10, 4, "3+3+2+2"}}) {
    INFO(r.rows << " rows in " << r.parts);
    CHECK(cut(r.rows, r.parts) == r.expected);
  }
  CHECK(failure([] { pn::cut_rows(2, 3); }) ==
        "invalid_argument: 2 rows in 3 parts; there is one part at least, and a row for each");
  CHECK(failure([] { pn::cut_rows(2, 0); }) ==
        "invalid_argument: 2 rows in 0 parts; there is one part at least, and a row for each");
}

TEST_CASE("a partitioner says how many parts a shape and a dtype are cut into") {
  struct row {
    std::string what;
    pn::partitioner of;
    int expected;
  };
  using pn::min_max_variable_partitioner, pn::min_rows_partitioner, pn::variable_axis_size_partitioner;
  // Ten rows of 16 bytes.
  for (const row& r :
       {row{"three", fixed_size_partitioner{3}, 3},
        row{"6 rows fit 100 bytes", variable_axis_size_partitioner{.max_shard_bytes = 100}, 2},
        row{"5 rows fit 80 bytes", variable_axis_size_partitioner{.max_shard_bytes = 80}, 2},
        row{"4 rows fit 79 bytes", variable_axis_size_partitioner{.max_shard_bytes = 79}, 3},
        row{"no row fits 7 bytes", variable_axis_size_partitioner{.max_shard_bytes = 7}, 10},
        row{"all fit", variable_axis_size_partitioner{.max_shard_bytes = 1 << 20}, 1},
        row{"not more than four", variable_axis_size_partitioner{.max_shard_bytes = 16, .max_shards = 4}, 4},
        row{"64 bytes each", min_max_variable_partitioner{.max_partitions = 4, .min_slice_size = 64}, 3},
        row{"not more than rows", min_max_variable_partitioner{.max_partitions = 20, .min_slice_size = 1}, 10},
        row{"too small to be cut", min_max_variable_partitioner{.max_partitions = 4}, 1},
        row{"3 rows each", min_rows_partitioner{.min_rows = 3, .max_partitions = 9}, 3},
        row{"3 rows each, at most two", min_rows_partitioner{.min_rows = 3, .max_partitions = 2}, 2},
        row{"11 rows each", min_rows_partitioner{.min_rows = 11, .max_partitions = 9}, 1},
        row{"one's own", [](const pn::shape&s, pn::dtype) { return static_cast<int>(s[1]); }, 4}}) {
    INFO(r.what);
    CHECK(r.of({10, 4}, pn::dtype::float32) == r.expected);
  }
  CHECK(variable_axis_size_partitioner{.max_shard_bytes = 100}({10, 4}, pn::dtype::float64) == 4);
}

TEST_CASE("a variable in parts is ordinary variables, and reads as one") {
  fresh_graph f;
  auto table = pn::partitioned_variable(counted({7, 2}), {.name = "table", .partition = fixed_size_partitioner{3}});
  CHECK(f.names("variables") == "table/part_0 table/part_1 table/part_2");
  CHECK(f.names("trainable_variables") == f.names("variables"));
  CHECK(table.shape() == pn::shape{7, 2});
  CHECK(table.parts()[2].shape() == pn::shape{2, 2});
  CHECK(table.read().name() == "table/read");
  auto again = pn::partitioned_variable(counted({2}), {.name = "table", .trainable = false});
  CHECK(again.parts()[0].name() == "table_1/part_0");
  pn::session sess;
  sess.run(table.initializer(), again.initializer());
  CHECK(sess.run(table) == counted({7, 2}));
  CHECK(sess.run(table.parts()[1]) == pn::tensor<float>::of({{6, 7}, {8, 9}}));
  CHECK(sess.run(again) == counted({2}));
  CHECK(sess.run(pn::reduce_sum(table * 2.0f)) == pn::tensor<float>(182.0f));
  CHECK(sess.run(pn::matmul(pn::ones<float>({1, 7}), table)) == pn::tensor<float>::of({{42, 49}}));
}

TEST_CASE("options hold for each part") {
  fresh_graph f;
  pn::container box{"experiment"};
  auto v = pn::partitioned_variable(counted({4}), {.name = "v",
                                                   .partition = fixed_size_partitioner{2},
                                                   .trainable = false,
                                                   .shared_name = "common",
                                                   .local = true});
  CHECK(f.names("local_variables") == "v/part_0 v/part_1");
  CHECK(f.names("variables") + f.names("trainable_variables") == "");
  const pn::node& second = f.g[id_of(v.parts()[1])];
  CHECK(second.attrs.get<std::string>("shared_name") == "common/part_1");
  CHECK(second.attrs.get<std::string>("container") == "experiment");
}

TEST_CASE("an expression initialises each part with its rows") {
  fresh_graph f;
  auto first = pn::constant<int>({{1, 2}, {3, 4}, {5, 6}}, "first");
  auto v = pn::partitioned_variable(first * 10, {.name = "v", .partition = fixed_size_partitioner{2}});
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  CHECK(sess.run(v.parts()[0]) == pn::tensor<int>::of({{10, 20}, {30, 40}}));
  CHECK(sess.run(v.parts()[1]) == pn::tensor<int>::of({{50, 60}}));
}

TEST_CASE("an initialiser gives the parts what it gives the whole, whatever their number") {
  for (const auto& first :
       {pn::nn::glorot_uniform_initializer(5), pn::nn::he_normal_initializer(6), pn::nn::constant_initializer(2),
        pn::nn::random_uniform_initializer(-1, 1, 7),
        pn::nn::variance_scaling_initializer({.distribution = pn::nn::distribution::normal, .seed = 8})}) {
    fresh_graph f;
    auto whole = pn::variable(first.of<float>({7, 3}), {.name = "whole"});
    auto wide = pn::variable(first.of<double>({7, 3}), {.name = "wide"});
    std::vector<pn::partitioned_variable<float>> cut;
    for (const int parts : {1, 2, 3, 7})
      cut.emplace_back(pn::shape{7, 3}, first,
                       pn::partitioned_variable_options{.partition = fixed_size_partitioner{parts}});
    pn::partitioned_variable<double> wide_cut({7, 3}, first, {.partition = fixed_size_partitioner{4}});
    pn::session sess;
    sess.run(pn::global_variables_initializer());
    for (const auto& v : cut) CHECK(sess.run(v) == sess.run(whole));
    CHECK(sess.run(wide_cut) == sess.run(wide));
  }
}

TEST_CASE("a read behind control dependencies sees their effects") {
  fresh_graph f;
  auto v = pn::partitioned_variable(counted({4}), {.partition = fixed_size_partitioner{2}});
  auto up = pn::assign(v.parts()[1], pn::constant<float>({8, 9}));
  const auto seen = [&] {
    const pn::control_dependencies after{up};
    return v.read();
  }();
  pn::session sess;
  sess.run(v.initializer());
  CHECK(sess.run(seen) == pn::tensor<float>::of({0, 1, 8, 9}));
}

TEST_CASE("rows of a variable in parts are those of the whole") {
  fresh_graph f;
  const auto values = counted({7, 2});
  auto table = pn::partitioned_variable(values, {.name = "table", .partition = fixed_size_partitioner{3}});
  auto whole = pn::constant(values);
  auto i = pn::placeholder<int>(pn::shape::any(), "i");
  auto j = pn::placeholder<std::int64_t>({pn::unknown, 3}, "j");
  pn::expr<float> of_i = pn::gather(table, i, {.name = "rows"}), same_i = pn::gather(whole, i);
  pn::expr<float> of_j = pn::gather(table, j), same_j = pn::gather(whole, j);
  CHECK(of_i.name() == "rows");
  CHECK(of_j.shape() == pn::shape{pn::unknown, 3, 2});
  pn::session sess;
  sess.run(table.initializer());
  for (const pn::tensor<int>& at :
       {pn::tensor<int>::of({6, 0, 3, 3, 6, 2}), pn::tensor<int>(4), pn::tensor<int>::of({5, 6}),
        pn::tensor<int>(pn::shape{0}), pn::tensor<int>::of({{1}, {5}})}) {
    INFO(pn::to_string(at));
    CHECK(sess.run({{i, at}}, of_i) == sess.run({{i, at}}, same_i));
  }
  const auto matrix = pn::tensor<std::int64_t>::of({{0, 6, 2}, {4, 4, 0}});
  CHECK(sess.run({{j, matrix}}, of_j) == sess.run({{j, matrix}}, same_j));
  CHECK(sess.run(pn::gather(table, pn::constant<int>({1, 0}), {.axis = 1})) ==
        sess.run(pn::gather(whole, pn::constant<int>({1, 0}), {.axis = 1})));
  CHECK(refusal(
            [&] {
              sess.run({{i, {6, 7}}}, of_i);
            },
            pn::errc::invalid_argument, "index 7 at position 1 is not in [0, 7)", "PartitionIndices") == "");
  CHECK(refusal([&] { sess.run({{i, {-1}}}, of_i); }, pn::errc::invalid_argument, "index -1 at position 0") == "");
}

TEST_CASE("the rows of a part are gathered where it stands, and nothing of the others is read there") {
  fresh_graph f;
  auto table = [] {
    const pn::device on{[next = 0](const pn::node_view& op) mutable {
      return op.is<pn::op::variable>() ? pn::device_spec().with_type("CPU").with_index(next++) : op.device();
    }};
    return pn::partitioned_variable(counted({4, 2}), {.name = "table", .partition = fixed_size_partitioner{2}});
  }();
  auto i = pn::placeholder<int>({pn::unknown}, "i");
  auto rows = pn::gather(table, i);
  pn::session sess{{.cpu_devices = 2}};
  const auto p = sess.plan(rows);
  CHECK(p.device_of("table/part_0") != p.device_of("table/part_1"));
  CHECK(p.device_of("Gather") == p.device_of("table/part_0"));
  CHECK(p.device_of("Gather_1") == p.device_of("table/part_1"));
  CHECK(p.find("table/read") == nullptr);
  sess.run(table.initializer());
  CHECK(sess.run({{i, {3, 0}}}, rows) == pn::tensor<float>::of({{6, 7}, {0, 1}}));
}

TEST_CASE("rows are gathered in the body of a loop") {
  fresh_graph f;
  auto table = pn::partitioned_variable(counted({4, 1}), {.name = "table", .partition = fixed_size_partitioner{2}});
  auto [k, sum] = pn::while_loop([](auto i, auto) { return i < 4; },
                                 [&](auto i, auto s) {
                                   return std::tuple{i + 1, s + pn::gather(table, i)};
                                 },
                                 0, pn::zeros<float>({1}));
  pn::session sess;
  sess.run(table.initializer());
  CHECK(sess.run(sum) == pn::tensor<float>::of({6}));
}

TEST_CASE("a variable in parts tells how many bytes of it were asked to stand on which device") {
  fresh_graph f;
  const auto made = [](auto policy) {
    const pn::device on{policy};
    return pn::partitioned_variable(counted({7, 2}), {.name = "table", .partition = fixed_size_partitioner{4}});
  };
  CHECK(to_string(made(pn::replica_device_setter{{.ps_tasks = 3}})) ==
        "table [7, 2] in 4 parts: 24 B on /job:ps/task:0, 16 B on /job:ps/task:1, 16 B on /job:ps/task:2");
  CHECK(made(pn::variables_on{"/cpu:1"}).bytes_by_device() ==
        std::vector<std::pair<std::string, std::int64_t>>{{"/device:CPU:1", 56}});
  CHECK(to_string(pn::partitioned_variable(counted({3}))) ==
        "PartitionedVariable [3] in 1 part: 12 B wherever the placer puts them");
}

TEST_CASE("an embedding may be cut") {
  fresh_graph f;
  auto i = pn::constant<int>({{0, 4}, {2, 4}});
  auto plain = pn::nn::embedding(i, 5, 3, {.seed = 9, .name = "plain"});
  auto cut = pn::nn::embedding(i, 5, 3, {.seed = 9, .partition = fixed_size_partitioner{2}, .name = "cut"});
  CHECK(f.names("variables") == "plain/table cut/table/part_0 cut/table/part_1");
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  auto [a, b] = sess.run(plain, cut);
  CHECK(a == b);
  CHECK(a.shape() == pn::shape{2, 2, 3});
}

TEST_CASE("what cannot be cut is refused, and named") {
  fresh_graph f;
  const auto in = [](int parts) {
    return pn::partitioned_variable_options{.name = "v", .partition = fixed_size_partitioner{parts}};
  };
  CHECK(failure([&] {
          pn::partitioned_variable(counted({2, 3}), in(3));
        }) ==
        "invalid_argument: partitioned variable 'v' of shape [2, 3]: 2 rows in 3 parts; there is one part at least, "
        "and a row for each");
  CHECK(failure([&] { pn::partitioned_variable(pn::tensor<float>(1.0f), in(1)); }) ==
        "invalid_argument: partitioned variable 'v' of shape []: its shape must be known, and have rows");
  CHECK(failure([&] {
          pn::partitioned_variable(pn::placeholder<float>({pn::unknown, 2}), in(1));
        }) == "invalid_argument: partitioned variable 'v' of shape [?, 2]: its shape must be known, and have rows");
  CHECK(failure([&] {
          pn::partitioned_variable(counted({2}), {.name = "v", .partition = pn::variable_axis_size_partitioner{}});
        }).find("positive") != std::string::npos);
  CHECK(failure([&] {
          pn::partitioned_variable(counted({2}), {.name = "v", .partition = {}});
        }).find("'v' of shape [2]: it has no partitioner") != std::string::npos);
  CHECK(f.names("variables") == "");
  pn::partitioned_variable<float> none;
  CHECK(failure([&] { none * 2.0f; }).find("never assigned") != std::string::npos);
}
