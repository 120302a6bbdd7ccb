// Monitored sessions: how they begin, what hooks see, how they end, and what they survive.
#include <catch2/catch.hpp>

#include <future>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using pn::errc;

// Writes down what it is told.
struct recorder {
  std::vector<std::string>* told;
  std::string name;
  pn::any_expr fetch;
  void begin() { told->push_back(name + " begin"); }
  void after_create_session(pn::session&, tr::coordinator&) { told->push_back(name + " session"); }
  pn::run_request before_run(tr::run_context&) {
    told->push_back(name + " before");
    return fetch.empty() ? pn::run_request{} : pn::run_request{.fetches = {fetch}};
  }
  void after_run(tr::run_context&, std::span<const pn::any_tensor> values) {
    told->push_back(name + " after " + (values.empty() ? "" : to_string(values[0])));
  }
  void end(pn::session&) { told->push_back(name + " end"); }
};

struct monitored_model : own_graph {
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::variable_handle<float> w = pn::variable(1.0f, {.name = "w"});
  pn::expr<float> up = pn::assign_add(w, 1.0f);
  pn::operation train = [&] {
    pn::control_dependencies after{up};
    return pn::operation(pn::assign_add(step, 1));
  }();
};

tr::monitored_session_options quiet(tr::monitored_session_options o = {}) {
  o.log = [](std::string_view) {};
  return o;
}

}  // namespace

TEST_CASE("hooks are told of the beginning, each session, each step and the end, in their order") {
  monitored_model m;
  std::vector<std::string> told;
  {
    tr::monitored_training_session sess{{.hooks = {recorder{&told, "a", m.w.read()}, recorder{&told, "b", {}}},
                                         .chief_only_hooks = {recorder{&told, "chief", {}}}}};
    sess.run(m.up);
  }
  CHECK(told == std::vector<std::string>{"chief begin", "a begin", "b begin", "chief session", "a session", "b session",
                                         "chief before", "a before", "b before", "chief after ",
                                         "a after " + told[10].substr(8), "b after ", "chief end", "a end", "b end"});
  CHECK(
      (told[10] == "a after 1" || told[10] == "a after 2"));  // its read is ordered neither before nor after the update
}

TEST_CASE("training stops at a step, and is then not run any more") {
  monitored_model m;
  tr::monitored_training_session sess{{.hooks = {tr::stop_at_step({.last_step = 5})}}};
  int runs = 0;
  for (; !sess.should_stop(); ++runs) sess.run(m.train);
  CHECK(runs == 5);
  CHECK(refusal([&] { sess.run(m.train); }, errc::failed_precondition, "should_stop()") == "");
  CHECK(std::int64_t(sess.raw_session().run(m.step)) == 5);
  CHECK(refusal([&] { tr::stop_at_step({}); }, errc::invalid_argument, "one of the two") == "");
}

TEST_CASE("training that has reached its last step makes none when it starts again") {
  temporary_folder dir;
  for (int life = 0; life < 3; ++life) {
    monitored_model m;
    tr::monitored_training_session sess{{.checkpoint_dir = dir.path(), .hooks = {tr::stop_at_step({.last_step = 5})}}};
    int runs = 0;
    for (; !sess.should_stop(); ++runs) sess.run(m.train);
    CHECK(runs == (life == 0 ? 5 : 0));
    sess.close();
    CHECK(tr::latest_checkpoint(dir.path()) == dir.path("model-5"));
  }
}

TEST_CASE("training goes on from the last checkpoint, in files that are there") {
  temporary_folder dir;
  for (int life = 1; life <= 2; ++life) {
    monitored_model m;
    tr::summary::scalar("w", m.w);
    tr::monitored_training_session sess{{.checkpoint_dir = dir.path(),
                                         .hooks = {tr::stop_at_step({.num_steps = 3})},
                                         .save_checkpoint_steps = 2,
                                         .save_summaries_steps = 1}};
    while (!sess.should_stop()) sess.run(m.train);
    CHECK(std::int64_t(sess.raw_session().run(m.step)) == 3 * life);
    CHECK(float(sess.raw_session().run(m.w)) == 1 + 3 * life);
    sess.close();
    CHECK(tr::latest_checkpoint(dir.path()) == dir.path("model-" + std::to_string(3 * life)));
  }
  int events = 0;
  for (const auto& f : std::filesystem::directory_iterator(dir.path()))
    events += f.path().filename().string().starts_with("events.out.tfevents");
  CHECK(events == 2);
}

TEST_CASE("a step of a task that died is run again in a new session; begin is not called again") {
  temporary_folder dir;
  monitored_model m;
  std::vector<std::string> told;
  int failures = 2;
  struct breaks {
    int* left;
    void before_run(tr::run_context&) {
      if ((*left)-- > 0) throw pn::error(errc::unavailable, "the ps is gone");
    }
  };
  tr::monitored_training_session sess{
      quiet({.checkpoint_dir = dir.path(), .hooks = {recorder{&told, "a", {}}, breaks{&failures}}})};
  const float w = sess.run(m.up);
  CHECK(w == 2);  // from the checkpoint that was made at the beginning
  CHECK(sess.recoveries() == 2);
  CHECK(std::count(told.begin(), told.end(), "a begin") == 1);
  CHECK(std::count(told.begin(), told.end(), "a session") == 3);
  CHECK(std::count(told.begin(), told.end(), "a after ") == 1);
}

TEST_CASE("a step that succeeded is not run again because a hook lost a task after it") {
  temporary_folder dir;
  monitored_model m;
  std::vector<std::string> told;
  int failures = 2;
  struct breaks {
    int* left;
    void after_run(tr::run_context&, std::span<const pn::any_tensor>) {
      if ((*left)-- > 0) throw pn::error(errc::unavailable, "the ps is gone");
    }
  };
  tr::monitored_training_session sess{
      quiet({.checkpoint_dir = dir.path(), .hooks = {breaks{&failures}, recorder{&told, "a", {}}}})};
  CHECK(float(sess.run(m.up)) == 2);
  CHECK(sess.recoveries() == 1);
  CHECK(std::count(told.begin(), told.end(), "a before") == 1);
  CHECK(std::count(told.begin(), told.end(), "a after ") == 1);
  CHECK(float(sess.run(m.up)) == 2);  // the new session began with the checkpoint of the beginning
  CHECK(sess.recoveries() == 2);
  CHECK(float(sess.run(m.up)) == 2);
  CHECK(sess.recoveries() == 2);
}

TEST_CASE("a hook that loses a task after each step meets the limit of recoveries, and other errors are thrown") {
  monitored_model m;
  struct breaks {
    errc code;
    void after_run(tr::run_context&, std::span<const pn::any_tensor>) { throw pn::error(code, "broken"); }
  };
  {
    tr::monitored_session_options o = quiet({.hooks = {breaks{errc::aborted}}});
    o.max_recoveries = 1;
    tr::monitored_training_session sess{o};
    sess.run(m.up);
    CHECK(refusal([&] { sess.run(m.up); }, errc::aborted, "gave up after 1 recoveries", "broken") == "");
  }
  tr::monitored_training_session sess{quiet({.hooks = {breaks{errc::internal}}})};
  CHECK(refusal([&] { sess.run(m.up); }, errc::internal, "broken") == "");
  CHECK(sess.recoveries() == 0);
}

TEST_CASE("recovery has a limit, and other errors are thrown at once") {
  monitored_model m;
  struct breaks {
    errc code;
    void before_run(tr::run_context&) { throw pn::error(code, "broken"); }
  };
  {
    tr::monitored_session_options o = quiet({.hooks = {breaks{errc::aborted}}});
    o.max_recoveries = 1;
    tr::monitored_training_session sess{o};
    CHECK(refusal([&] { sess.run(m.up); }, errc::aborted, "gave up after 1 recoveries", "broken") == "");
  }
  tr::monitored_training_session sess{quiet({.hooks = {breaks{errc::internal}}})};
  CHECK(refusal([&] { sess.run(m.up); }, errc::internal, "broken") == "");
  CHECK(sess.recoveries() == 0);
}

namespace {

// A thread of the session that fails with an error, each time that a session is made while there are some.
struct failing_thread {
  std::vector<pn::error>* errors;
  void after_create_session(pn::session&, tr::coordinator& c) {
    if (errors->empty()) return;
    c.launch("fails", [e = errors->back()] { throw e; });
    errors->pop_back();
    c.wait_for_stop();
  }
};

}  // namespace

TEST_CASE("a thread that fails ends training, which says so") {
  monitored_model m;
  std::vector<pn::error> errors{{errc::data_loss, "a damaged record"}};
  {
    tr::monitored_training_session sess{quiet({.hooks = {failing_thread{&errors}}})};
    CHECK(sess.should_stop());
    CHECK(refusal([&] { sess.close(); }, errc::data_loss, "a damaged record") == "");
    sess.close();
  }
  errors.emplace_back(errc::data_loss, "another");
  tr::monitored_training_session sess{quiet({.hooks = {failing_thread{&errors}}})};
  CHECK(refusal([&] { sess.run(m.train); }, errc::data_loss, "another") == "");
  CHECK(refusal([&] { sess.run(m.train); }, errc::failed_precondition, "should_stop()") == "");
  sess.close();
}

TEST_CASE("a thread whose queue another program has closed ends training, and nothing has failed") {
  monitored_model m;
  std::vector<pn::error> errors{{errc::cancelled, "the queue was closed"}};
  tr::monitored_training_session sess{quiet({.hooks = {failing_thread{&errors}}})};
  CHECK(sess.should_stop());
  sess.close();
}

TEST_CASE("a step whose input failed ends with why, not with the end of the input") {
  monitored_model m;
  auto q = pn::fifo_queue<float>({.name = "input"});
  auto x = pn::placeholder<float>({}, "x");
  auto add = pn::assign_add(m.w, q.dequeue());
  tr::add_queue_runner({q, {q.enqueue(x)}});
  tr::monitored_training_session sess{quiet()};
  CHECK(refusal([&] { sess.run(pn::operation(add)); }, errc::invalid_argument, "'x'") == "");
  CHECK(sess.should_stop());
}

TEST_CASE("a thread that lost a task does not end training: the next step recovers") {
  temporary_folder dir;
  monitored_model m;
  std::vector<pn::error> errors{{errc::unavailable, "the ps is gone"}, {errc::aborted, "the ps was restarted"}};
  tr::monitored_training_session sess{
      quiet({.checkpoint_dir = dir.path(), .hooks = {failing_thread{&errors}, tr::stop_at_step({.last_step = 3})}})};
  int runs = 0;
  for (; !sess.should_stop(); ++runs) sess.run(m.train);
  CHECK(runs == 3);
  CHECK(sess.recoveries() == 2);
}

TEST_CASE("a step function runs the session as often as it likes, and begins anew when a task dies in it") {
  temporary_folder dir;
  monitored_model m;
  std::vector<std::string> told;
  int failures = 1;
  tr::monitored_training_session sess{quiet({.checkpoint_dir = dir.path(), .hooks = {recorder{&told, "a", {}}}})};
  const float w = sess.run_step_fn([&](auto context) {
    context.session().run(m.up);
    if (failures-- > 0) throw pn::error(errc::unavailable, "the ps is gone");
    return context.run_with_hooks(m.up);
  });
  CHECK(w == 3);  // twice up, from the checkpoint that was made at the beginning
  CHECK(sess.recoveries() == 1);
  CHECK(std::count(told.begin(), told.end(), "a before") == 1);
  CHECK_FALSE(sess.should_stop());
  sess.run_step_fn([](auto context) { context.request_stop(); });
  CHECK(sess.should_stop());
  CHECK(refusal([&] { sess.run_step_fn([](auto) {}); }, errc::failed_precondition, "should_stop()") == "");
}

TEST_CASE("a worker's local variables are initialised once the chief's are, and are ready behind that") {
  monitored_model m;
  const auto mine = pn::variable(5.0f, {.name = "mine", .trainable = false, .local = true});
  tr::monitored_session_options o = quiet({.is_chief = false, .max_wait = std::chrono::milliseconds(200)});
  CHECK(refusal([&] { tr::monitored_training_session sess{o}; }, errc::deadline_exceeded,
                "The chief has not initialised the variables") == "");
  o.scaffold.ready_for_local_init_op = pn::operation(m.w.initializer());  // waits for nobody
  o.scaffold.ready_op = pn::operation(mine.read());
  tr::monitored_training_session sess{o};
  CHECK(float(sess.run(mine)) == 5);
}

TEST_CASE("what takes a session takes a monitored one") {
  temporary_folder dir;
  monitored_model m;
  tr::saver saver;
  tr::monitored_training_session sess{{.hooks = {tr::stop_at_step({.last_step = 2})}}};
  while (!sess.should_stop()) sess.run(m.train);
  CHECK(saver.save(sess, dir.path("model"), m.step) == dir.path("model-2"));
  saver.restore(sess, tr::latest_checkpoint(dir.path()));
}

TEST_CASE("a scaffold takes the operations of its collections") {
  monitored_model m;
  pn::default_graph().add_to_collection("init_op",
                                        id_of(pn::group(m.step.initializer(), pn::operation(pn::assign(m.w, 4.0f)))));
  {
    tr::monitored_training_session sess{{}};
    CHECK(float(sess.run(m.w)) == 4);
  }
  pn::default_graph().add_to_collection("init_op", id_of(m.w.initializer()));
  CHECK(refusal([&] { tr::monitored_training_session sess{{}}; }, errc::invalid_argument,
                "the collection 'init_op' has 2") == "");
}

TEST_CASE("a step that nobody counts is told of, once") {
  temporary_folder dir;
  monitored_model m;
  std::vector<std::string> told;
  tr::monitored_session_options o{.checkpoint_dir = dir.path()};
  o.log = [&](std::string_view line) {
    if (line.starts_with("the global step")) told.emplace_back(line);
  };
  tr::monitored_training_session sess{o};
  for (int i = 0; i < 300; ++i) sess.run(m.up);
  CHECK(told == std::vector<std::string>{"the global step has been 0 for 100 runs: does what trains count it, as "
                                         "minimize(loss, {.global_step}) does?"});
}

TEST_CASE("a session that could not be made again is not run any more") {
  monitored_model m;
  int made = 0;
  tr::monitored_session_options o = quiet();
  o.scaffold.init_fn = [&](pn::session&) {
    if (++made == 2) throw pn::error(errc::not_found, "no file to begin with");
  };
  struct breaks {
    void before_run(tr::run_context&) { throw pn::error(errc::aborted, "broken"); }
  };
  o.hooks = {breaks{}};
  tr::monitored_training_session sess{o};
  CHECK(refusal([&] { sess.run(m.up); }, errc::not_found, "no file") == "");
  CHECK(sess.should_stop());
  CHECK(refusal([&] { sess.run(m.up); }, errc::failed_precondition, "should_stop()") == "");
}

TEST_CASE("a session that was closed names the line of the program that closed it") {
  monitored_model m;
  pn::error seen(errc::internal, "");
  struct goes_on {
    monitored_model* of;
    pn::error* seen;
    void after_create_session(pn::session& s, tr::coordinator& c) {
      c.launch("goes on", [this, &s] {
        while (seen->code() != errc::failed_precondition) *seen = caught([&] { s.run(of->up); });
      });
    }
  };
  auto o = quiet({.hooks = {goes_on{&m, &seen}}});
  o.stop_grace_period = std::chrono::seconds(0);
  tr::monitored_training_session sess{o};
  const int line = __LINE__ + 1;
  sess.close();
  CHECK(seen.sentence() == "the session is closed");
  CHECK(line_of(seen) == here(line));
  const auto refused = caught([&] { sess.raw_session(); });
  CHECK(refused.sentence() == "the monitored session is closed");
  CHECK(line_of(refused) == here(line));
}

TEST_CASE("listeners are told of a checkpoint once it is there") {
  temporary_folder dir;
  monitored_model m;
  std::vector<std::string> seen;
  const tr::checkpoint_listener listener{.after_save = [&](pn::session&, std::int64_t) {
    seen.push_back(std::filesystem::path(tr::latest_checkpoint(dir.path())).filename().string());
    return false;
  }};
  {
    tr::monitored_training_session sess{
        {.hooks = {tr::checkpoint_saver({.dir = dir.path(), .save_steps = 2, .listeners = {listener}}),
                   tr::stop_at_step({.last_step = 3})}}};
    while (!sess.should_stop()) sess.run(m.train);
  }
  CHECK(seen == std::vector<std::string>{"model-0", "model-2", "model-3"});
}

TEST_CASE("the end of the input ends training; an exception under way keeps hooks from ending it") {
  monitored_model m;
  std::vector<std::string> told;
  auto q = pn::fifo_queue<float>({.name = "input"});
  auto add = pn::assign_add(m.w, q.dequeue());
  auto put = q.enqueue(2.0f), shut = q.close();
  {
    tr::monitored_training_session sess{{.hooks = {recorder{&told, "a", {}}}}};
    sess.raw_session().run(put);
    sess.raw_session().run(shut);
    int runs = 0;
    for (; !sess.should_stop(); ++runs) sess.run(pn::operation(add));
    CHECK(runs == 2);
  }
  CHECK(told.back() == "a end");
  told.clear();
  pn::graph other;
  auto use = other.as_default();
  auto v = pn::variable(1.0f, {.name = "v"});
  try {
    tr::monitored_training_session sess{{.hooks = {recorder{&told, "b", {}}}}};
    sess.run(v);
    throw std::runtime_error("the program failed");
  } catch (const std::runtime_error&) {
  }
  CHECK(told.back() == "b after ");
}

TEST_CASE("the graph is finalized while the session is there") {
  monitored_model m;
  {
    tr::monitored_training_session sess{{}};
    CHECK(refusal([&] { pn::constant(1.0f, "late"); }, errc::failed_precondition, "finalized", "'late'") == "");
  }
  pn::constant(1.0f, "later");
}

TEST_CASE("values are logged, watched for NaN, and computed at the end") {
  monitored_model m;
  auto x = pn::placeholder<float>({}, "x");
  auto y = pn::identity(x, "y");
  std::vector<std::string> lines;
  tr::final_ops last({.fetches = {m.w.read()}});
  {
    tr::monitored_training_session sess{
        {.hooks = {tr::logging_tensor({{"y", y}},
                                      {.every_n_iter = 2,
                                       .log = [&](std::string_view line) { lines.emplace_back(line.substr(0, 5)); }}),
                   tr::nan_tensor(y), last}}};
    for (float value : {1.0f, 2.0f, 3.0f}) sess.run({{x, value}}, y);
    CHECK(refusal([&] { sess.run({{x, NAN}}, y); }, errc::invalid_argument, "NaN loss", "'y'") == "");
  }
  CHECK(lines == std::vector<std::string>{"y = 1", "y = 3"});
  REQUIRE(last.values().size() == 1);
  CHECK(float(pn::tensor<float>(last.values()[0])) == 1);
  pn::graph other;
  auto use = other.as_default();
  auto z = pn::placeholder<float>({}, "z");
  auto n = pn::identity(z, "n");
  tr::monitored_training_session sess{{.hooks = {tr::nan_tensor(n, {.fail_on_nan_loss = false})}}};
  sess.run({{z, NAN}}, n);
  CHECK(sess.should_stop());
}

TEST_CASE("a function feeds the steps, and its end is theirs") {
  monitored_model m;
  auto x = pn::placeholder<float>({}, "x");
  auto add = pn::assign_add(m.w, x);
  int left = 3;
  const tr::feed_fn feeds([&]() -> std::vector<pn::feed> {
    if (left-- == 0) throw pn::error(errc::out_of_range, "no more");
    return {{x, 10.0f}};
  });
  tr::monitored_training_session sess{{.hooks = {feeds}}};
  while (!sess.should_stop()) sess.run(pn::operation(add));
  CHECK(float(sess.raw_session().run(m.w)) == 31);
}

TEST_CASE("training that gets no better stops early, with the best model") {
  monitored_model m;
  tr::early_stopping early({.metric =
                                [&](pn::session& s) {
                                  const float w = s.run(m.w);
                                  return -std::abs(w - 4.0);
                                },
                            .patience = 3,
                            .every_n_steps = 1});
  temporary_folder dir;
  tr::monitored_training_session sess{{.checkpoint_dir = dir.path(), .hooks = {early}, .save_summaries_steps = 0}};
  while (!sess.should_stop()) sess.run(m.train);
  CHECK(std::int64_t(sess.raw_session().run(m.step)) == 6);
  CHECK(early.best() == 0);
  CHECK(early.best_step() == 3);
  sess.close();
  pn::session later{{.graph = &m.g}};
  tr::saver{}.restore(later, tr::latest_checkpoint(dir.path()));
  CHECK(float(later.run(m.w)) == 4);
}

TEST_CASE("the best model is kept in files, and a later training goes on from its value") {
  temporary_folder dir;
  const auto train = [&](double best_at, std::int64_t last) {
    monitored_model m;
    tr::early_stopping early({.metric =
                                  [&](pn::session& s) {
                                    const float w = s.run(m.w);
                                    return -std::abs(w - best_at);
                                  },
                              .patience = std::numeric_limits<int>::max(),
                              .every_n_steps = 1,
                              .save_to = dir.path("best")});
    tr::monitored_training_session sess{{.hooks = {early, tr::stop_at_step({.last_step = last})}}};
    while (!sess.should_stop()) sess.run(m.train);
    sess.close();
    return early;
  };
  const auto w_on_disk = [&] {
    monitored_model m;
    pn::session s;
    tr::saver().restore(s, dir.path("best"));
    return float(s.run(m.w));
  };
  CHECK(train(4.5, 5).best_step() == 3);
  CHECK(w_on_disk() == 4);
  const auto later = train(20, 5);  // never as near
  CHECK(later.best() == -.5);
  CHECK(later.best_step() == 3);
  CHECK(w_on_disk() == 4);
  CHECK(train(5.25, 5).best_step() == 4);
  CHECK(w_on_disk() == 5);
  pn::files::write_file(dir.path("best.value"), "very good");
  CHECK(refusal([&] { train(4.5, 5); }, errc::data_loss, "best.value does not say which value") == "");
}

TEST_CASE("a text that is logged orders a terminal to do nothing") {
  own_graph f;
  auto said = pn::placeholder<std::string>({}, "said");
  std::vector<std::string> lines;
  {
    tr::monitored_training_session sess{
        {.hooks = {tr::logging_tensor(
             {{"said", said}}, {.every_n_iter = 1, .log = [&](std::string_view line) { lines.emplace_back(line); }})}}};
    sess.run({{said, std::string("\x1b[2J\nforged: line")}}, said);
  }
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Contains("\\x1b[2J") && !Catch::Contains("\n") && !Catch::Contains("\x1b"));
}

TEST_CASE("the model that training ends with is evaluated too, and stays if it is the best") {
  monitored_model m;
  int asked = 0;
  tr::early_stopping early(
      {.metric = [&](pn::session& s) { return ++asked, double(float(s.run(m.w))); }, .every_n_steps = 10});
  tr::monitored_training_session sess{{.hooks = {early, tr::stop_at_step({.last_step = 15})}}};
  while (!sess.should_stop()) sess.run(m.train);
  CHECK(early.best_step() == 11);
  sess.close();
  CHECK(early.best_step() == 15);
  CHECK(early.best() == 16);
  CHECK(asked == 3);
}

TEST_CASE("a hook whose end fails costs neither the other ends nor the last checkpoint") {
  monitored_model m;
  struct failing {
    void end(pn::session&) { throw pn::error(errc::internal, "no end"); }
  };
  temporary_folder dir;
  std::vector<std::string> told;
  tr::monitored_training_session sess{
      {.checkpoint_dir = dir.path(), .hooks = {failing{}, recorder{&told, "b", {}}}, .save_summaries_steps = 0}};
  sess.run(m.train);
  CHECK(refusal([&] { sess.close(); }, errc::internal, "no end") == "");
  CHECK(told.back() == "b end");
  CHECK(tr::latest_checkpoint(dir.path()) == dir.path("model-1"));
}

TEST_CASE("progress is told in lines where there is no terminal") {
  monitored_model m;
  std::vector<std::string> lines;
  {
    tr::monitored_training_session sess{
        {.hooks = {tr::progress_bar({.total_steps = 4,
                                     .loss = m.w.read(),
                                     .log = [&](std::string_view line) { lines.emplace_back(line); },
                                     .every_secs = 0}),
                   tr::stop_at_step({.last_step = 4})}}};
    while (!sess.should_stop()) sess.run(m.train);
  }
  REQUIRE(lines.size() == 5);
  CHECK(lines[1].find("/4 steps, ") != std::string::npos);
  CHECK(lines[1].find("loss ") != std::string::npos);
}

TEST_CASE("a session says how it begins, how far it is, what it saves, and that it failed and recovered") {
  temporary_folder dir;
  monitored_model m;
  std::vector<std::string> said;
  struct breaks {
    int at;
    void before_run(tr::run_context&) {
      if (at-- == 0) throw pn::error(errc::unavailable, "the ps is gone").in_task("/job:ps/task:0");
    }
  };
  tr::monitored_session_options o{.checkpoint_dir = dir.path(),
                                  .hooks = {breaks{5}},
                                  .save_checkpoint_steps = 3,
                                  .save_summaries_steps = 0,
                                  .log_step_count_steps = 2};
  o.log = [&](std::string_view line) {
    if (!line.starts_with("step "))
      said.emplace_back(line);
    else if (line.ends_with(" steps/s"))
      said.emplace_back(line.substr(0, line.find(',')));
  };
  {
    tr::monitored_training_session sess{o};
    for (int i = 0; i < 6; ++i) sess.run(m.train);
  }
  const auto comes = [&](const std::string& line) { return std::count(said.begin(), said.end(), line); };
  CHECK(said[0] == "initialised the variables: training begins at step 0");
  CHECK(comes("step 2") + comes("step 3") >= 1);
  CHECK(comes("saved checkpoint " + dir.path("model-3")) >= 1);
  CHECK(comes("lost /job:ps/task:0 at step 4; recovering: the ps is gone [in task /job:ps/task:0]") == 1);
  CHECK(comes("recovered at step 3, from checkpoint " + dir.path("model-3") +
              "; the cluster was at step 4: 1 step is lost, if not more") == 1);
  CHECK(said.back() == "saved checkpoint " + dir.path("model-4"));
}

TEST_CASE("a session can be silent") {
  monitored_model m;
  tr::monitored_session_options o{.log_step_count_steps = 1, .log = tr::silent};
  tr::monitored_training_session sess{o};
  sess.run(m.train);
  CHECK(std::int64_t(sess.raw_session().run(m.step)) == 1);
}
