// Variables in parts, trained and saved: nothing comes out differently from one variable.
#include <catch2/catch.hpp>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using pn::errc, pn::fixed_size_partitioner;

constexpr int uncut = 0;

enum class table_use { dense, rows, both };

// A table in some parts, or in none, and what trains it.
struct parted_model {
  template <class Optimizer>
  parted_model(int parts, const Optimizer& o, table_use how = table_use::rows) {
    pn::tensor<float> first(pn::shape{7, 3});
    float next = -1;
    for (float& x : first.span()) x = next += .1f;
    if (parts == uncut) {
      one = pn::variable(first, {.name = "table"});
      loss = loss_of(one, how);
    } else {
      cut = pn::partitioned_variable(first, {.name = "table", .partition = fixed_size_partitioner{parts}});
      loss = loss_of(cut, how);
    }
    train = o.minimize(loss);
    init = pn::global_variables_initializer();
    saver.emplace();
  }
  template <class Table>
  pn::expr<float> loss_of(const Table& table, table_use how) {
    auto looked_up = pn::reduce_sum(pn::square(pn::gather(table, ids) * pn::constant<float>({1, 2, 3})));
    auto multiplied = pn::reduce_sum(pn::square(pn::matmul(pn::constant<float>({{1, 2, 3, 4, 5, 6, 7}}), table)));
    if (how == table_use::rows) return looked_up;
    if (how == table_use::dense) return multiplied;
    return looked_up + multiplied;
  }
  void step(pn::session& sess, int n = 1) {
    for (int i = 0; i < n; ++i) sess.run({{ids, {{i % 7, 6, 2}, {6, 0, i % 3}}}}, train);
  }
  pn::tensor<float> value(pn::session& sess) { return cut.empty() ? sess.run(one) : sess.run(cut); }

  pn::graph g;
  pn::default_scope in_use = g.as_default();
  pn::expr<int> ids = pn::placeholder<int>({2, 3}, "ids");
  pn::variable_handle<float> one;
  pn::partitioned_variable<float> cut;
  pn::expr<float> loss;
  pn::operation train, init;
  std::optional<tr::saver> saver;
};

template <class Optimizer>
void trains_alike(const Optimizer& o) {
  for (const table_use how : {table_use::dense, table_use::rows, table_use::both}) {
    const auto after = [&](int parts) {
      parted_model m(parts, o, how);
      pn::session sess;
      sess.run(m.init);
      m.step(sess, 12);
      return m.value(sess);
    };
    INFO("used " << static_cast<int>(how));
    const auto wanted = after(uncut);
    for (const int parts : {1, 2, 3, 7}) CHECK(after(parts) == wanted);
  }
}

const tr::momentum by_momentum{{.learning_rate = .001f, .momentum = .9f}};

}  // namespace

TEST_CASE("a variable in parts learns what one variable learns, bit for bit, under every optimizer") {
  trains_alike(tr::gradient_descent{{.learning_rate = .001f}});
  trains_alike(by_momentum);
  trains_alike(tr::adagrad{{.learning_rate = .1f}});
  trains_alike(tr::rmsprop{{.learning_rate = .01f}});
  trains_alike(tr::adam{{.learning_rate = .1f}});
  trains_alike(tr::adam{{.learning_rate = .1f, .lazy = true}});
}

TEST_CASE("each part has slots of its own, and its gradient is its rows") {
  parted_model m(3, by_momentum);
  for (const auto& part : m.cut.parts()) {
    CHECK(by_momentum.get_slot(part, "momentum").name() == part.name() + "/Momentum");
    CHECK(by_momentum.get_slot(part, "momentum").shape() == part.shape());
  }
  for (const tr::gradient_of_variable& g : by_momentum.compute_gradients(m.loss)) CHECK(g.gradient.is_sparse());
  pn::session sess;
  sess.run(m.init);
  m.step(sess);
  const auto untouched = sess.run(by_momentum.get_slot(m.cut.parts()[1], "momentum"));  // rows 3 and 4
  CHECK(untouched == pn::tensor<float>(pn::shape{2, 3}));
  CHECK(sess.run(by_momentum.get_slot(m.cut.parts()[2], "momentum"))(1, 0) != 0);  // row 6
}

TEST_CASE("a checkpoint does not tell into how many parts a variable was cut") {
  const tr::adam adam{{.learning_rate = .1f}};
  for (const int saved : {uncut, 1, 3}) {
    temporary_folder dir;
    std::string prefix;
    pn::tensor<float> then, later;
    {
      parted_model m(saved, adam);
      pn::session sess;
      sess.run(m.init);
      m.step(sess, 3);
      prefix = m.saver->save(sess, dir.path("model"), 3);
      then = m.value(sess);
      m.step(sess, 4);
      later = m.value(sess);
    }
    const pn::files::safetensors_reader file(prefix + ".safetensors");
    for (const char* name : {"table", "table/Adam", "table/Adam_1"}) {
      REQUIRE(file.find(name));
      CHECK(file.find(name)->extent == pn::shape{7, 3});
    }
    CHECK(file.tensors().size() == 5);  // and the powers of beta
    CHECK(pn::tensor<float>(file.read("table")) == then);
    for (const int restored : {uncut, 1, 2, 3, 7}) {
      INFO("saved in " << saved << " parts, restored to " << restored);
      parted_model m(restored, adam);
      pn::session sess;
      m.saver->restore(sess, prefix);
      CHECK(m.value(sess) == then);
      m.step(sess, 4);
      CHECK(m.value(sess) == later);
    }
  }
}

TEST_CASE("what a saver takes out of a session it gives back, in parts or not") {
  parted_model m(3, by_momentum);
  pn::session sess;
  sess.run(m.init);
  m.step(sess, 2);
  const auto before = m.value(sess);
  const auto taken = m.saver->take(sess);
  CHECK(taken.count("table/part_2/Momentum") == 1);
  m.step(sess, 2);
  m.saver->give_back(sess, taken);
  CHECK(m.value(sess) == before);
}

TEST_CASE("parts are saved in any order, all or none, and a part by another name is a variable of its own") {
  temporary_folder dir;
  parted_model m(3, by_momentum);
  pn::session sess;
  sess.run(m.init);
  const auto& p = m.cut.parts();
  const auto name = tr::saver{{.variables = {p[2], p[0], p[1]}}}.save(sess, dir.path("all"));
  CHECK(pn::tensor<float>(pn::files::safetensors_reader(name + ".safetensors").read("table")) == m.value(sess));
  CHECK(refusal(
            [&] {
              tr::saver{{.variables = {p[0], p[1]}}}.save(sess, dir.path("some"));
            },
            errc::invalid_argument, "5 of the 7 rows of 'table'", "all parts or none") == "");
  CHECK(refusal(
            [&] {
              tr::saver{{.variables = {p[0], p[2]}}}.save(sess, dir.path("some"));
            },
            errc::invalid_argument, "'table/part_2'", "all parts or none") == "");
  CHECK(refusal([&] { tr::saver{{.variables = {p[1]}}}.save(sess, dir.path("some")); }, errc::invalid_argument,
                "'table/part_1'", "all parts or none") == "");
  const auto other = tr::saver{{.names = {{"tail", p[2]}}}}.save(sess, dir.path("tail"));
  CHECK(pn::files::safetensors_reader(other + ".safetensors").find("tail")->extent == pn::shape{2, 3});
}

TEST_CASE("a partitioned variable is saved and restored whole under another name, in any number of parts") {
  temporary_folder dir;
  parted_model m(3, by_momentum), cut_otherwise(2, by_momentum);
  pn::session sess({.graph = &m.g}), other({.graph = &cut_otherwise.g});
  sess.run(m.init);
  m.step(sess, 2);
  const auto prefix = [&] {
    const auto table_use = m.g.as_default();
    return tr::saver{{.names = {{"old/table", m.cut}}}}.save(sess, dir.path("renamed"));
  }();
  CHECK(pn::tensor<float>(pn::files::safetensors_reader(prefix + ".safetensors").read("old/table")) == m.value(sess));
  {
    const auto table_use = cut_otherwise.g.as_default();
    tr::saver{{.names = {{"old/table", cut_otherwise.cut}}}}.restore(other, prefix);
  }
  CHECK(cut_otherwise.value(other) == m.value(sess));
}

TEST_CASE("a partitioned variable that was never assigned is refused by the name it was to have") {
  temporary_folder dir;
  parted_model m(3, by_momentum);
  pn::session sess;
  CHECK(refusal(
            [&] {
              tr::saver{{.names = {{"z", pn::partitioned_variable<float>()}}}}.save(sess, dir.path("z"));
            },
            errc::invalid_argument, "without parts as 'z'") == "");
}

TEST_CASE("one part is restored from the whole") {
  temporary_folder dir;
  parted_model m(3, by_momentum);
  pn::session sess, other;
  sess.run(m.init);
  const auto prefix = m.saver->save(sess, dir.path("model"));
  tr::saver{{.variables = {m.cut.parts()[1]}}}.restore(other, prefix);
  CHECK(other.run(m.cut.parts()[1]) == sess.run(m.cut.parts()[1]));
  CHECK(refusal([&] { other.run(m.cut.parts()[0]); }, errc::failed_precondition, "'table/part_0'") == "");
}

TEST_CASE("a checkpoint whose tensor is not there, or of another shape, is refused by the name of the whole") {
  temporary_folder dir;
  pn::graph g;
  auto table_use = g.as_default();
  auto table = pn::variable(pn::tensor<float>(pn::shape{6, 3}), {.name = "table"});
  auto other = pn::variable(1.0f, {.name = "other"});
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const auto short_table = tr::saver{{.variables = {table}}}.save(sess, dir.path("short"));
  const auto without = tr::saver{{.variables = {other}}}.save(sess, dir.path("without"));
  parted_model m(3, tr::gradient_descent{{.learning_rate = 1}});
  pn::session to;
  CHECK(refusal([&] { m.saver->restore(to, short_table); }, errc::invalid_argument, "'table' as float [6, 3]",
                "float [7, 3]") == "");
  CHECK(failure([&] { m.saver->restore(to, without); }) ==
        "not_found: checkpoint '" + without + "' does not have 'table'; {.partial = true} restores the others alone");
}
