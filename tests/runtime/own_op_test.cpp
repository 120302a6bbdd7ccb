// Ops and scalar functions that a program brings along.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/own_ops.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

struct impostor : own::scaled {
  static constexpr std::string_view name = "MatMul";
};
template <bool Own>
struct misspells : own::scaled {
  static constexpr std::string_view name = Own ? "OwnMisspells" : "Misspells";
  static void gradient(pn::gradient_context& g) {
    g.set(0, g.make(Own ? "OwnScald" : "MatMull", {g.output_gradient(0)}));
  }
};
struct second_scaled : own::scaled {};  // another type of the same name
struct swish {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Swish";
  template <class V>
  static constexpr auto apply(V x) {
    return x / (1.0 + exp(-x));
  }
};
struct hypotenuse {
  static constexpr int arity = 2;
  template <class V, class W>
  static constexpr auto apply(V x, W y) {
    const auto a = x * x;
    return sqrt(a + y * y);
  }
};
struct straight_through {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    const auto y = round(x);
    return with_derivative(y, x, x * 0.0 + 1.0);
  }
};

}  // namespace

TEST_CASE("an op of one's own computes, on the CPU and on an accelerator, and is differentiated") {
  own_graph f;
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto y = pn::call<own::scaled>({{"by", 3.0}}, x);
  auto [slope] = pn::gradients(pn::reduce_sum(y * y), x);
  CHECK(y.op() == "OwnScaled");
  for (const char* where : {"CPU", "GPU"}) {
    pn::graph g;
    auto use = g.as_default();
    pn::device on{std::string("/") + (where[0] == 'C' ? "cpu:0" : "gpu:0")};
    auto in = pn::placeholder<float>({2}, "in");
    auto out = pn::call<own::scaled>({{"by", 3.0}}, in);
    pn::session sess{{.simulated = {pn::sim::gpu()}}};
    CHECK(pn::to_string(sess.run({{in, {1, 2}}}, out)) == "[3, 6]");
    CHECK(sess.plan(out).device_of("OwnScaled").find(where) != std::string::npos);
  }
  pn::session sess;
  CHECK(pn::to_string(sess.run({{x, {1, 2}}}, slope)) == "[18, 36]");
}

TEST_CASE("a gradient that misspells an op is told which one it meant, of the library's or the program's own") {
  own_graph f;
  auto x = pn::placeholder<float>({2}, "x");
  pn::call<own::scaled>(x);
  const auto about = [&](const auto& y) { return failure([&] { pn::gradients(y, x); }); };
  CHECK_THAT(about(pn::call<misspells<false>>(x)),
             Catch::Contains("no op 'MatMull'") && Catch::EndsWith("; did you mean 'MatMul'?"));
  CHECK_THAT(about(pn::call<misspells<true>>(x)),
             Catch::Contains("no op 'OwnScald'") && Catch::EndsWith("; did you mean 'OwnScaled'?"));
}

TEST_CASE("what its kernels lack is said like of any op: by the compiler, the placer and the shape function") {
  own_graph f;
  auto x = pn::placeholder<double>({2}, "x");
  CHECK(failure([&] { pn::call<own::scaled>(x); }) == "invalid_argument: OwnScaled of double is not defined");
  auto h = pn::placeholder<float>({2}, "h");
  auto y = [&] {
    pn::device on{"/gpu:0"};
    return pn::call<own::host_only>(h);
  }();
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  CHECK(failure([&] { sess.plan(y); }).find("OwnHostOnly has no float kernel on GPU; there is one on CPU") !=
        std::string::npos);
}

TEST_CASE("names are given once") {
  CHECK(failure([] { pn::register_op<impostor>(); }) == "already_exists: op 'MatMul' is one of the library's");
  pn::register_op<own::scaled>();
  pn::register_op<own::scaled>();
  const auto e = failure([] { pn::register_op<second_scaled>(); });
  CHECK(e.find("already_exists: op 'OwnScaled' is registered by two types, ") == 0);
  CHECK(e.find("second_scaled") != std::string::npos);
}

TEST_CASE("an op without a gradient stops one, and says so") {
  own_graph f;
  auto x = pn::placeholder<float>({2}, "x");
  auto y = pn::call<own::host_only>(x);
  const auto e = caught([&] { pn::gradients(pn::reduce_sum(y), x); });
  CHECK(e.code() == pn::errc::unimplemented);
  CHECK(e.sentence() == "no gradient flows through OwnHostOnly: it is only for tests");
  CHECK(failure([&] { pn::output_of<float>(y, 1); }) == "invalid_argument: 'OwnHostOnly' has no output 1 of float");
}

TEST_CASE("an op of several outputs yields them all") {
  own_graph f;
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto low = pn::call<own::extremes>(x);
  auto high = pn::output_of<float>(low, 1);
  pn::session sess;
  auto [a, b] = sess.run({{x, {3, 1, 2}}}, low, high);
  CHECK((float(a) == 1 && float(b) == 3));
}

TEST_CASE("a function of one's own fuses with its neighbours, and its derivative follows or is stated") {
  own_graph f;
  auto x = pn::placeholder<float>({2}, "x");
  auto y = pn::map<swish>(x * 2) + 1.0f;
  CHECK(f.g.find("Swish") == std::nullopt);  // absorbed
  auto alone = pn::map<swish>(x);
  CHECK(alone.name() == "Swish");
  CHECK(alone.op() == "Map");
  auto h = pn::map<hypotenuse>(x, 4.0f);
  auto r = pn::map<straight_through>(x);
  auto [gx] = pn::gradients(y, x);
  auto [gh] = pn::gradients(h, x);
  auto [gr] = pn::gradients(r, x);
  pn::session sess;
  auto [a, b, c, d, e] = sess.run({{x, {0, 3}}}, y, gx, h, gh, gr);
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  CHECK(a.data()[1] == Approx(6 * sigmoid(6) + 1));
  CHECK(b.data()[1] == Approx(2 * (sigmoid(6) + 6 * sigmoid(6) * (1 - sigmoid(6)))));
  CHECK(c.data()[1] == Approx(5));
  CHECK(d.data()[1] == Approx(.6));
  CHECK(e.data()[0] == 1);
}

TEST_CASE("a loop's body may hold an op of one's own") {
  own_graph f;
  auto x = pn::placeholder<float>({2}, "x");
  auto [i, y] = pn::while_loop([](auto i, auto) { return i < 3; },
                               [](auto i, auto y) {
                                 return std::tuple{i + 1, pn::call<own::scaled>({{"by", 2.0}}, y)};
                               },
                               0, x);
  auto [g] = pn::gradients(pn::reduce_sum(y), x);
  pn::session sess;
  CHECK(pn::to_string(sess.run({{x, {1, 2}}}, y)) == "[8, 16]");
  CHECK(pn::to_string(sess.run({{x, {1, 2}}}, g)) == "[8, 8]");
}
