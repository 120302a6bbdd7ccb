// Nodes of small values run bound to cells, with the results that they have with tensors.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <tuple>
#include <vector>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

const session_options unoptimized{.inter_op_threads = 1, .intra_op_threads = 1, .optimize = false};

// Runs a step bound, three times, and with tensors, as a traced step does: all results are equal.
void check_both_ways(session& sess, const std::vector<feed>& feeds, const std::vector<any_expr>& fetches) {
  step_trace trace;
  const auto plain = sess.run({.feeds = feeds, .fetches = fetches, .trace = &trace});
  for (int i = 0; i < 3; ++i) {
    const auto bound = sess.run({.feeds = feeds, .fetches = fetches});
    REQUIRE(bound.size() == plain.size());
    for (std::size_t k = 0; k < plain.size(); ++k) CHECK(bound[k] == plain[k]);
  }
}

tensor<float> numbers(const shape& extent) {
  tensor<float> t(extent);
  for (std::int64_t i = 0; i < extent.count(); ++i) t.data()[i] = .25f * static_cast<float>(i % 13) - 1;
  return t;
}

}  // namespace

TEST_CASE("bound nodes broadcast scalars, rows and columns as nodes with tensors do") {
  own_graph own;
  auto s = placeholder<float>({}, "s"), row = placeholder<float>({5}, "row"), column = placeholder<float>({3, 1}, "c");
  const any_expr table = row * column + s, flat = s * 2.0f, least = minimum(row, s), all = exp(column) / (row + 3.0f);
  session sess(unoptimized);
  check_both_ways(sess, {{s, 2.0f}, {row, numbers({5})}, {column, numbers({3, 1})}}, {table, flat, least, all});
}

TEST_CASE("bound nodes compute masks, casts and each dtype") {
  own_graph own;
  auto x = placeholder<float>({7}, "x");
  auto d = cast<double>(x);
  auto i = cast<std::int32_t>(x);
  auto b = cast<std::uint8_t>(x < 0.5f);
  auto mask = x < 1.0f && i > 0;
  session sess(unoptimized);
  check_both_ways(sess, {{x, numbers({7})}}, {d * 2.0, i / 2, b + b, mask, select(mask, x, -x), cast<float>(mask)});
}

TEST_CASE("a bound step takes values of other shapes in its next runs") {
  own_graph own;
  auto x = placeholder<float>({unknown}, "x"), y = placeholder<float>({unknown}, "y");
  const any_expr z = tanh(x + y) * 2.0f;
  session sess(unoptimized);
  for (const std::int64_t n : {3, 1, 20, 3, 17, 5, 6, 7, 2000, 3})
    check_both_ways(sess, {{x, numbers({n})}, {y, numbers({n})}}, {z});
}

TEST_CASE("shapes that do not broadcast are refused with the node's op, also after the step was bound") {
  own_graph own;
  auto x = placeholder<float>({unknown}, "x"), y = placeholder<float>({unknown}, "y");
  const any_expr z = x + y;
  session sess(unoptimized);
  const auto step = [&](std::int64_t n, std::int64_t m) {
    return sess.run({.feeds = {{x, numbers({n})}, {y, numbers({m})}}, .fetches = {z}});
  };
  CHECK(step(4, 4)[0].count() == 4);
  CHECK(refusal([&] { step(4, 5); }, errc::invalid_argument, "Add", "do not broadcast") == "");
  CHECK(step(4, 4)[0].count() == 4);
}

TEST_CASE("bound nodes see the variables as they are at each run") {
  own_graph own;
  auto v = variable(tensor<float>({3}), {.name = "v"});
  auto grown = assign_add(v, tensor<float>::of({1, 2, 3}));
  auto seen = v * 2.0f + 1.0f;
  session sess(unoptimized);
  sess.run(global_variables_initializer());
  for (float turn = 1; turn < 4; ++turn) {
    sess.run(grown);
    const tensor<float> now = sess.run(seen);
    CHECK(now == tensor<float>::of({2 * turn + 1, 4 * turn + 1, 6 * turn + 1}));
  }
}

TEST_CASE("a fetched result of bound nodes stays as it is when the step runs again") {
  own_graph own;
  auto x = placeholder<float>({4}, "x");
  session sess(unoptimized);
  const auto step = sess.make_callable(feeds(x), fetches(x + 1.0f));
  const auto [first] = step(tensor<float>::of({1, 2, 3, 4}));
  step(tensor<float>::of({5, 6, 7, 8}));
  CHECK(first == tensor<float>::of({2, 3, 4, 5}));
}

TEST_CASE("random graphs of small nodes have equal results bound and with tensors") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    own_graph own;
    std::mt19937 bits(seed);
    const auto pick = [&](std::size_t n) { return bits() % n; };
    const std::vector<shape> shapes{{}, {1}, {6}, {2, 6}, {2, 1}};
    std::vector<expr<float>> made;
    std::vector<feed> fed;
    for (const shape& s : shapes) {
      auto x = placeholder<float>(s);
      fed.push_back({x, numbers(s)});
      made.push_back(x);
    }
    for (int i = 0; i < 40; ++i) {
      const expr<float>&a = made[pick(made.size())], &b = made[pick(made.size())];
      switch (pick(7)) {
        case 0: made.push_back(a + b); break;
        case 1: made.push_back(a - b * .5f); break;
        case 2: made.push_back(tanh(a)); break;
        case 3: made.push_back(select(a < b, a, b)); break;
        case 4: made.push_back(reshape(reduce_mean(a), {-1})); break;
        case 5: made.push_back(reduce_sum(a)); break;
        default: made.push_back(identity(maximum(a, b)));
      }
      if (made.back().shape().rank() > 2 || made.back().shape().count() > 12) made.pop_back();
    }
    std::vector<any_expr> wanted;
    for (int i = 0; i < 5; ++i) wanted.push_back(made[pick(made.size())]);
    const auto gradient = gradients(reduce_sum(tanh(made.back() + made[3])), made[3]);
    wanted.push_back(std::get<0>(gradient));
    session sess(unoptimized);
    INFO("seed " << seed);
    check_both_ways(sess, fed, wanted);
  }
}

TEST_CASE("a loop over small values exchanges its variables, and counts") {
  own_graph own;
  auto n = placeholder<std::int32_t>({}, "n");
  auto a = placeholder<float>({3}, "a"), b = placeholder<float>({3}, "b");
  const auto [i, x, y] = while_loop([&](auto i, auto, auto) { return i < n; },
                                    [](auto i, auto x, auto y) {
                                      return std::tuple{i + 1, y, x + 1.0f};
                                    },
                                    0, a, b);
  session sess(unoptimized);
  for (const int turns : {0, 1, 2, 7, 1})
    check_both_ways(sess, {{n, turns}, {a, numbers({3})}, {b, numbers({3})}}, {i, x, y});
}

TEST_CASE("the gradient of a loop over small values is that of the loop with tensors") {
  own_graph own;
  auto n = placeholder<float>({}, "n");
  auto x = placeholder<float>({5}, "x"), w = placeholder<float>({5}, "w");
  const auto [i, y] = while_loop([&](auto i, auto) { return i < n; },
                                 [&](auto i, auto y) {
                                   return std::tuple{i + 1.0f, tanh(y * w)};
                                 },
                                 0.0f, x);
  const auto [dx, dw] = gradients(reduce_sum(y), x, w);
  session sess(unoptimized);
  for (const float turns : {0.f, 1.f, 6.f})
    check_both_ways(sess, {{n, turns}, {x, numbers({5})}, {w, numbers({5})}}, {y, dx, dw});
}

TEST_CASE("a loop over small values ends with its session's time limit") {
  own_graph own;
  auto x = placeholder<float>({}, "x");
  const auto y = while_loop([](auto y) { return y < 1.0f; }, [](auto y) { return y * .5f; }, x);
  session sess{{.operation_timeout = std::chrono::milliseconds(20)}};
  CHECK(refusal([&] { sess.run({{x, .5f}}, y); }, errc::deadline_exceeded, "did not end within") == "");
}
