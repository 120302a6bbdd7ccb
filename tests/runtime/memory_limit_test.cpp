// Steps that are kept within a limit of memory: equal results, fewer bytes, and what is said where nothing suffices.
#include <pinion/base/log.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "support/own_graph.hpp"

namespace {

using namespace pinion;

// A chain of 24 blocks that is trained, in a session with a limit.
struct trained_chain : own_graph {
  expr<float> x = placeholder<float>({256, 32}, "x"), loss;
  operation train, init;
  session sess;

  explicit trained_chain(session_options options, double dropped = 0, bool again = false) {
    expr<float> h = x;
    for (int i = 0; i < 24; ++i) {
      const auto block = [&]() -> expr<float> {
        const expr<float> a = tanh(matmul(h, weights()));
        const expr<float> b = sin(expr<float>(matmul(a, weights()))) * a;
        const expr<float> c = tanh(matmul(b, weights()));
        return dropout(expr<float>(h * .9f + tanh(matmul(c, weights())) * b), {.rate = dropped, .seed = 4});
      };
      h = again ? recompute(block) : block();
    }
    loss = reduce_mean(square(h));
    train = train::gradient_descent{{.learning_rate = .01f}}.minimize(loss);
    init = global_variables_initializer();
    options.graph = &g;
    options.inter_op_threads = options.intra_op_threads = 1;
    sess = session(options);
    sess.run(init);
  }
  static expr<float> weights() { return variable(truncated_normal<float>({32, 32}, {.stddev = .3, .seed = 5})); }
  // The losses of five steps.
  std::vector<float> run() {
    tensor<float> in({256, 32});
    for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = .01f * static_cast<float>(i % 97) - .4f;
    const auto step = sess.make_callable(feeds(x), fetches(loss), targets(train));
    std::vector<float> losses;
    for (int i = 0; i < 5; ++i) losses.push_back(std::get<0>(step(in)));
    return losses;
  }
  std::string note() {
    const plan made = sess.plan(loss, train);
    for (const std::string& note : made.notes())
      if (note.starts_with("memory_limit")) return note;
    return "";
  }
};

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

// Collects the lines of the log while it lives.
struct logged {
  std::vector<std::string> lines;
  logged() {
    set_log([this](const log_line& line) { lines.push_back(line.text); });
  }
  ~logged() { set_log({}); }
};

}  // namespace

TEST_CASE("a session keeps a step within its limit of memory, with the same results") {
  for (const bool optimize : {true, false}) {
    trained_chain free({.optimize = optimize});
    const std::vector<float> losses = free.run();
    CHECK(losses.front() > losses.back());
    CHECK(free.note() == "");
    for (const int part : {2, 3}) {
      const logged told;
      const std::int64_t limit = free.sess.memory().peak() / part;
      trained_chain limited({.optimize = optimize, .memory_limit = limit});
      CHECK(limited.run() == losses);
      INFO(limited.note());
      CHECK(limited.sess.memory().peak() <= limit);
      CHECK(holds(limited.note(), "nodes are computed again"));
      CHECK(told.lines.empty());
    }
  }
}

TEST_CASE("a trained chain whose blocks are computed again takes a third of the memory, with the same results") {
  trained_chain kept({}), again({}, 0, true);
  CHECK(again.run() == kept.run());
  INFO(again.sess.memory().peak() << " " << kept.sess.memory().peak());
  CHECK(3 * again.sess.memory().live <= kept.sess.memory().live);
}

TEST_CASE("a limit that a step does not reach changes nothing") {
  trained_chain free({});
  free.run();
  trained_chain limited({.memory_limit = free.sess.memory().peak() * 2});
  limited.run();
  CHECK(limited.note() == "");
  CHECK(limited.sess.memory().live == free.sess.memory().live);
}

TEST_CASE("a limit that is nearly kept is paid for with cheap operations") {
  trained_chain free({});
  free.run();
  const std::int64_t whole = free.sess.memory().peak();
  const auto operations = [&](std::int64_t limit) {
    trained_chain limited({.memory_limit = limit});
    const std::string note = limited.note();
    return std::stod(note.substr(note.find("for ") + 4));
  };
  const double few = operations(whole * 3 / 4);
  CHECK(few > 0);
  CHECK(10 * few < operations(whole / 3));
}

TEST_CASE("random draws of a step within a limit are those of a step without one") {
  trained_chain free({}, .2);
  const std::vector<float> losses = free.run();
  trained_chain limited({.memory_limit = free.sess.memory().peak() * 2 / 3}, .2);
  CHECK(limited.run() == losses);
  CHECK(limited.sess.memory().peak() <= free.sess.memory().peak() * 2 / 3);
}

TEST_CASE("a step that cannot be kept within a limit runs, and the log says how far it came") {
  logged told;
  trained_chain limited({.memory_limit = 500000});
  CHECK(limited.run().size() == 5);
  REQUIRE(!told.lines.empty());
  CHECK(holds(told.lines.back(), "memory_limit of 500000 bytes: "));
  CHECK(holds(told.lines.back(), "which is more than the limit"));
  CHECK(holds(limited.note(), "which is more than the limit"));
}

TEST_CASE("extents that are not known count as the cost model says, and a plan says so") {
  own_graph own;
  const auto x = placeholder<float>({unknown, 64}, "x");
  expr<float> h = x;
  for (int i = 0; i < 16; ++i) h = sin(expr<float>(tanh(h)));
  const auto [dx] = gradients(reduce_sum(h), x);
  session sess{{.inter_op_threads = 1, .memory_limit = 8 * 32 * 64 * 4}};
  const std::string told = to_string(sess.plan(dx));
  CHECK(holds(told, "nodes are computed again"));
  CHECK(holds(told, "values have unknown extents"));
  CHECK(sess.run({{x, tensor<float>({5, 64})}}, dx).shape() == shape{5, 64});
}

TEST_CASE("steps of several devices and threads are kept within a limit, too") {
  own_graph own;
  const auto x = placeholder<float>({64, 64}, "x");
  expr<float> h = x;
  for (int i = 0; i < 24; ++i) {
    const device on{i < 12 ? "/cpu:0" : "/cpu:1"};
    h = sin(expr<float>(tanh(h)));
  }
  const auto [dx] = gradients(reduce_sum(h), x);
  session free{{.cpu_devices = 2}}, limited{{.cpu_devices = 2, .memory_limit = 8 * 64 * 64 * 4}};
  tensor<float> in({64, 64});
  std::fill_n(in.data(), in.size(), .3f);
  CHECK(holds(to_string(limited.plan(dx)), "nodes are computed again"));
  for (int i = 0; i < 3; ++i) CHECK(to_string(limited.run({{x, in}}, dx)) == to_string(free.run({{x, in}}, dx)));
}
