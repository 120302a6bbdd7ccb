// Checkpoints: what is written, what comes back, what is kept, and what is refused.
#include <catch2/catch.hpp>

#include <chrono>
#include <fstream>
#include <locale>

#include <pinion/base/log.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/own_ops.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using pn::errc;

struct saved_model : own_graph {
  pn::variable_handle<float> w = pn::variable(pn::tensor<float>::of({{1, 2}, {3, 4}}), {.name = "w"});
  pn::variable_handle<std::int32_t> n = pn::variable(7, {.name = "layer/n", .trainable = false});
  pn::variable_handle<bool> flag = pn::variable(true, {.name = "flag", .trainable = false});
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::expr<float> up = pn::assign(w, w + 1.0f);
  pn::expr<std::int64_t> count = pn::assign_add(step, 1);
  pn::operation init = pn::global_variables_initializer();
};

}  // namespace

TEST_CASE("variables of all dtypes come back as they were saved, into a session where none is initialised") {
  temporary_folder dir;
  saved_model m;
  tr::saver saver;
  std::string prefix;
  {
    pn::session sess;
    sess.run(m.init);
    sess.run(m.up);
    sess.run(m.count);
    prefix = saver.save(sess, dir.path("model"), m.step);
    CHECK(prefix == dir.path("model-1"));
    CHECK(dir.files() == std::vector<std::string>{"checkpoint", "model-1.safetensors"});
    CHECK(tr::latest_checkpoint(dir.path()) == prefix);
  }
  pn::session other;
  saver.restore(other, tr::latest_checkpoint(dir.path()));
  CHECK(other.run(m.w) == pn::tensor<float>::of({{2, 3}, {4, 5}}));
  CHECK(int(other.run(m.n)) == 7);
  CHECK(bool(other.run(m.flag)));
  CHECK(std::int64_t(other.run(m.step)) == 1);
}

TEST_CASE("a checkpoint of half restores into float, and back, where one asks for it, and half as it is") {
  temporary_folder dir;
  const auto model = [](auto w) {
    using T = decltype(w);
    pn::variable(pn::tensor<T>::of({T(1), T(0.1f)}), {.name = "w"});
    pn::variable(pn::tensor<T>::of({T(7)}), {.name = "b"});
  };
  const auto values_of = [](pn::session& sess) {
    std::vector<double> all;
    for (const auto& [name, value] : tr::saver().take(sess)) {
      const auto wide = pn::converted(value, pn::dtype::float64);
      all.insert(all.end(), wide.data<double>(), wide.data<double>() + wide.count());
    }
    return all;
  };
  const double rounded = static_cast<double>(pn::half(0.1f));
  {
    own_graph g;
    model(pn::half());
    pn::session sess;
    sess.run(pn::global_variables_initializer());
    tr::saver().save(sess, dir.path("half"));
    pn::session again;
    tr::saver().restore(again, dir.path("half"));
    CHECK(values_of(again) == std::vector<double>{7, 1, rounded});
  }
  own_graph g;
  model(0.f);
  pn::session sess;
  CHECK(refusal([&] { tr::saver().restore(sess, dir.path("half")); }, errc::invalid_argument, "as half [",
                "{.convert = true} converts") == "");
  tr::saver().restore(sess, dir.path("half"), {.convert = true});
  CHECK(values_of(sess) == std::vector<double>{7, 1, rounded});
}

TEST_CASE("a saver keeps the newest checkpoints, and says which is the latest") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  tr::saver saver{{.max_to_keep = 2}};
  for (int i = 0; i < 4; ++i) {
    sess.run(m.count);
    saver.save(sess, dir.path("model"), m.step);
  }
  CHECK(dir.files() == std::vector<std::string>{"checkpoint", "model-3.safetensors", "model-4.safetensors"});
  CHECK(saver.last_checkpoints() == std::vector<std::string>{dir.path("model-3"), dir.path("model-4")});
  tr::saver heir{{.max_to_keep = 2}};
  heir.recover_last_checkpoints(dir.path());
  heir.save(sess, dir.path("model"), 9);
  CHECK(dir.files() == std::vector<std::string>{"checkpoint", "model-4.safetensors", "model-9.safetensors"});
  std::filesystem::remove(dir.path("model-9.safetensors"));
  CHECK(tr::latest_checkpoint(dir.path()) == dir.path("model-4"));
  CHECK(tr::latest_checkpoint(dir.path("nowhere")) == "");
}

// Writes numbers as 1.234,5.
struct other_punctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("the list of checkpoints is the same in any locale of the program") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  const std::locale before = std::locale::global(std::locale(std::locale(), new other_punctuation));
  tr::saver().save(sess, dir.path("model"), m.step);
  const auto saved = tr::read_checkpoint_state(dir.path()).all;
  std::locale::global(before);
  REQUIRE(saved.size() == 1);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK((saved[0].written_at > now - 3600 && saved[0].written_at <= now));
}

TEST_CASE("every so often a checkpoint is kept for good") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  tr::saver saver{{.max_to_keep = 1, .keep_checkpoint_every_n_hours = 0}};
  for (int i = 0; i < 3; ++i) saver.save(sess, dir.path("model"), i);
  CHECK(dir.files() ==
        std::vector<std::string>{"checkpoint", "model-0.safetensors", "model-1.safetensors", "model-2.safetensors"});
}

TEST_CASE("what is saved in the background is the state at that moment, whatever training does meanwhile") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  tr::saver saver;
  const std::string prefix = saver.save_in_background(sess, dir.path("model"), m.step);
  for (int i = 0; i < 20; ++i) sess.run(m.up);
  saver.wait();
  saver.restore(sess, prefix);
  CHECK(sess.run(m.w) == pn::tensor<float>::of({{1, 2}, {3, 4}}));
}

TEST_CASE("a wait for a save that takes long names the checkpoint") {
  temporary_folder dir;
  own_graph here;
  auto large = pn::variable(pn::tensor<float>({32 << 20}), {.name = "large"});
  const auto step = tr::get_or_create_global_step();
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  auto& interval = pn::of_this_process<pn::detail::said_waits>().interval;
  interval = std::chrono::milliseconds(1);  // no disk writes 128 MiB in that time
  std::string said;
  pn::set_log([&](const pn::log_line& line) { said = line.text; });
  tr::saver saver;
  const std::string prefix = saver.save_in_background(sess, dir.path("model"), step);
  saver.wait();
  pn::set_log(nullptr);
  interval = std::chrono::seconds(10);
  CHECK(said == "the checkpoint " + prefix + " is still being written, and is waited for");
}

TEST_CASE("a background save that fails is thrown by the next wait") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  std::ofstream(dir.path("a_file")) << "x";
  tr::saver saver;
  saver.save_in_background(sess, dir.path("a_file/model"), m.step);
  CHECK(refusal([&] { saver.wait(); }, errc::not_found, "a_file") == "");
  saver.wait();
  CHECK(refusal([&] { saver.save(sess, dir.path("a_file/model"), 1); }, errc::not_found, "cannot make the folder",
                "a_file") == "");
}

TEST_CASE("a checkpoint that is damaged, torn, foreign or gone changes nothing, and is named") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  tr::saver saver;
  const std::string prefix = saver.save(sess, dir.path("model"), 1), file = prefix + ".safetensors";
  sess.run(m.up);
  std::string bytes;
  {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto rewrite = [&](const std::string& now) { std::ofstream(file, std::ios::binary | std::ios::trunc) << now; };
  std::string flipped = bytes;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  for (const std::string& bad :
       {flipped, bytes.substr(0, bytes.size() - 3), std::string("not a checkpoint"), std::string()}) {
    rewrite(bad);
    CHECK(refusal([&] { saver.restore(sess, prefix); }, errc::data_loss, file) == "");
  }
  CHECK(sess.run(m.w) == pn::tensor<float>::of({{2, 3}, {4, 5}}));
  CHECK(refusal([&] { saver.restore(sess, dir.path("other")); }, errc::not_found, "is no checkpoint") == "");
  CHECK(refusal([&] { saver.restore(sess, ""); }, errc::not_found, "empty") == "");
}

TEST_CASE("a checkpoint of another program is refused by the variable that does not fit") {
  temporary_folder dir;
  std::string prefix;
  {
    pn::graph g;
    auto use = g.as_default();
    auto w = pn::variable(pn::tensor<float>::of({1, 2, 3}), {.name = "w"});
    pn::session sess;
    sess.run(w.initializer());
    prefix = tr::saver().save(sess, dir.path("other"));
  }
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  tr::saver whole, some{{.variables = {m.n}}}, renamed{{.names = {{"w", m.n}}}};
  CHECK(refusal([&] { whole.restore(sess, prefix); }, errc::invalid_argument, "'w' as float [3]", "float [2, 2]") ==
        "");
  CHECK(refusal([&] { some.restore(sess, prefix); }, errc::not_found, "'layer/n'", ".partial = true") == "");
  some.restore(sess, prefix, {.partial = true});
  CHECK(refusal([&] { renamed.restore(sess, prefix); }, errc::invalid_argument, "int32 []") == "");
}

TEST_CASE("a variable that a checkpoint has under nearly its name is answered with that") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  const std::string prefix = tr::saver().save(sess, dir.path("model"));
  const tr::saver renamed{{.names = {{"layers/n", m.n}, {"other", m.w}}}};
  const std::string sentence =
      "not_found: checkpoint '" + prefix +
      "' does not have 'layers/n' (it has 'layer/n'), 'other'; {.partial = true} restores the others alone";
  CHECK(failure([&] { renamed.restore(sess, prefix); }) == sentence);
}

TEST_CASE("variables are restored under other names, and in part") {
  temporary_folder dir;
  saved_model m;
  pn::session sess;
  sess.run(m.init);
  const std::string prefix = tr::saver{{.names = {{"old/weights", m.w}}}}.save(sess, dir.path("part"));
  sess.run(m.up);
  tr::saver back{{.variables = {m.n}, .names = {{"old/weights", m.w}}}};
  back.restore(sess, prefix, {.partial = true});
  CHECK(sess.run(m.w) == pn::tensor<float>::of({{1, 2}, {3, 4}}));
}

TEST_CASE("slots of an optimizer, and variables that share one initial value, come back") {
  temporary_folder dir;
  pn::graph g;
  auto use = g.as_default();
  auto zero = pn::zeros<float>({3}, "zero");
  auto a = pn::variable(zero, {.name = "a"});
  auto b = pn::variable(zero, {.name = "b"});
  auto train = tr::momentum{{.learning_rate = .5f, .momentum = .5f}}.minimize(pn::reduce_sum(a * 2.0f + b));
  auto init = pn::global_variables_initializer();
  pn::session one, two, straight;
  tr::saver saver;
  one.run(init);
  one.run(train);
  saver.restore(two, saver.save(one, dir.path("m"), 1));
  straight.run(init);
  straight.run(train);
  straight.run(train);
  two.run(train);
  CHECK(two.run(a) == straight.run(a));
  CHECK(two.run(b) == straight.run(b));
  CHECK(!(two.run(a) == two.run(b)));
}

TEST_CASE("a saver refuses what it cannot save") {
  temporary_folder dir;
  pn::graph g;
  auto use = g.as_default();
  tr::saver none;
  auto x = pn::constant(1.0f, "x");
  pn::session sess;
  CHECK(refusal([&] { none.save(sess, dir.path("m")); }, errc::failed_precondition, "no variables") == "");
  tr::saver wrong{{.variables = {x}}};
  CHECK(refusal([&] { wrong.save(sess, dir.path("m")); }, errc::invalid_argument, "'x' (Const)") == "");
  auto v = pn::variable(1.0f, {.name = "v"});
  CHECK(refusal([&] { tr::saver().save(sess, dir.path("m")); }, errc::failed_precondition, "'v'", "initialised") == "");
}

TEST_CASE_METHOD(own_graph, "a variable of text is refused by the first save, by name and line, with two ways out") {
  const auto note = pn::variable(std::string("never"), {.name = "note"});
  const auto w = pn::variable(1.f, {.name = "w"});
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const temporary_folder dir;
  CHECK(refusal([&] { tr::saver().save(sess, dir.path("model")); }, pn::errc::invalid_argument,
                "variable 'note' is of text, and checkpoints hold numbers and booleans only: make it local",
                "saver_options.variables", "saver_test.cpp:") == "");
  CHECK_NOTHROW(tr::saver{{.variables = {w}}}.save(sess, dir.path("model")));
}

TEST_CASE("a model with a user's own op is saved, restored and trained on") {
  temporary_folder dir;
  pn::register_op<own::scaled>();
  pn::graph g;
  auto use = g.as_default();
  auto w = pn::variable(pn::tensor<float>::of({1, 2}), {.name = "w"});
  auto train =
      tr::gradient_descent{{.learning_rate = .5f}}.minimize(pn::reduce_sum(pn::call<own::scaled>({{"by", 3.0}}, w)));
  pn::session one, two;
  one.run(w.initializer());
  one.run(train);
  tr::saver saver;
  saver.restore(two, saver.save(one, dir.path("own"), 1));
  two.run(train);
  CHECK(two.run(w) == pn::tensor<float>::of({-2, -1}));
}
