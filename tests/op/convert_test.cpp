// Elements that are stored: fed, fetched, kept, moved, held in queues, carried through bodies, and converted.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

template <class T>
tensor<T> some() {
  return tensor<T>::of({{T(1), T(2), T(3)}, {T(4), T(5), T(6)}});
}

}  // namespace

TEMPLATE_TEST_CASE("stored elements are fed, moved and fetched", "", half, bfloat16, std::int8_t, std::int16_t,
                   std::uint16_t, std::uint32_t, std::uint64_t) {
  using T = TestType;
  own_session f;
  const auto t = [](const literal<T>& elements) { return tensor<T>::of(elements); };
  const auto x = placeholder<T>({unknown, 3}, "x");
  const auto get = [&](const auto& y) { return f.sess.run({{x, some<T>()}}, y); };
  CHECK(get(identity(x)) == some<T>());
  CHECK(get(reshape(x, {3, 2})) == t({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(get(transpose(x, {1, 0})) == t({{1, 4}, {2, 5}, {3, 6}}));
  CHECK(get(concat({identity(x), identity(x)}, 1)) == t({{1, 2, 3, 1, 2, 3}, {4, 5, 6, 4, 5, 6}}));
  CHECK(get(split<3>(x, 1)[2]) == t({{3}, {6}}));
  CHECK(get(slice(x, {0, 1}, {2, 2})) == t({{2, 3}, {5, 6}}));
  CHECK(get(strided_slice(x, {0, 2}, {2, 0}, {1, -1})) == t({{3, 2}, {6, 5}}));
  CHECK(get(reverse(x, {0})) == t({{4, 5, 6}, {1, 2, 3}}));
  CHECK(get(pad(x, {{0, 0}, {1, 0}})) == t({{0, 1, 2, 3}, {0, 4, 5, 6}}));
  CHECK(get(tile(x, {1, 2})) == t({{1, 2, 3, 1, 2, 3}, {4, 5, 6, 4, 5, 6}}));
  CHECK(get(gather(x, constant<int>({1, 0}))) == t({{4, 5, 6}, {1, 2, 3}}));
  CHECK(get(gather_nd(x, constant<int>({{1, 2}, {0, 0}}))) == t({6, 1}));
  CHECK(get(unique(reshape(concat({identity(x), identity(x)}, 0), {-1})).values) == t({1, 2, 3, 4, 5, 6}));
  CHECK(get(cast<T>(cast<double>(x) * 2.)) == t({{2, 4, 6}, {8, 10, 12}}));
  CHECK(f.sess.run(fill<T>({2000}, T(3)))(1999) == T(3));
  CHECK(f.sess.run(constant<T>({1, 2})) == t({1, 2}));
  CHECK(f.sess.run(constant(T(7))) == tensor<T>(T(7)));
  CHECK(to_string(some<T>().untyped()) == "[[1, 2, 3], [4, 5, 6]]");
}

TEMPLATE_TEST_CASE("stored elements are kept in variables and queues, and pass through branches and loops", "", half,
                   bfloat16, std::int8_t, std::uint64_t) {
  using T = TestType;
  own_session f;
  const auto v = variable(some<T>(), {.name = "v"});
  const auto changed = assign(v, constant(tensor<T>::of({{T(6), T(5), T(4)}, {T(3), T(2), T(1)}})));
  auto q = fifo_queue<T>({.capacity = 4, .shapes = {{2, 3}}});
  const auto put = q.enqueue(v);
  const auto one = q.dequeue();
  const auto which = placeholder<bool>({}, "which");
  const auto chosen = cond(
      which, [&] { return identity(v); },
      [&] {
        return identity(zeros<T>({2, 3}));
      });
  const auto [n, turned] = while_loop([](auto i, auto) { return i < 3; },
                                      [](auto i, auto x) {
                                        return std::tuple{i + 1, reverse(x, {1})};
                                      },
                                      0, identity(v));
  f.sess.run(global_variables_initializer());
  CHECK(f.sess.run(v) == some<T>());
  CHECK(f.sess.run(turned) == tensor<T>::of({{T(3), T(2), T(1)}, {T(6), T(5), T(4)}}));
  f.sess.run(put);
  CHECK(f.sess.run(one) == some<T>());
  CHECK(f.sess.run({{which, true}}, chosen) == some<T>());
  CHECK(f.sess.run({{which, false}}, chosen) == tensor<T>({2, 3}));
  f.sess.run(changed);
  CHECK(f.sess.run(v)(0, 0) == T(6));
}

TEST_CASE("weights of half begin variables of float, which are trained, and go back") {
  own_session f;
  const auto weights = tensor<half>::of({{0.1, 0.2}, {-0.3, 65504}});
  const auto w = variable(cast<float>(constant(weights)), {.name = "w"});
  const auto [dw] = gradients(reduce_sum(w * w), w);
  f.sess.run(global_variables_initializer());
  CHECK(f.sess.run(cast<half>(w)) == weights);
  CHECK(f.sess.run(w)(0, 0) == float(half(0.1)));
  CHECK(f.sess.run(dw)(1, 0) == 2 * float(half(-0.3)));
}

TEST_CASE("a cast from and to stored elements rounds once, cuts off, and keeps within integers") {
  own_session f;
  const auto x = constant<double>({2.7, -2.7, 1e9, 1 + 0x1p-11 + 0x1p-40});
  CHECK(f.sess.run(cast<std::int8_t>(x)) == tensor<std::int8_t>::of({2, -2, 127, 1}));
  CHECK(f.sess.run(cast<std::uint16_t>(x)) == tensor<std::uint16_t>::of({2, 0, 65535, 1}));
  CHECK(f.sess.run(cast<half>(x))(3).bits() == 0x3c01);
  CHECK(std::isinf(float(f.sess.run(cast<half>(x))(2))));
  CHECK(f.sess.run(cast<bool>(cast<half>(x))) == tensor<bool>::of({true, true, true, true}));
  CHECK(f.sess.run(cast<int>(cast<std::int8_t>(constant<int>({127, 128, -129})))) == tensor<int>::of({127, -128, 127}));
  CHECK(f.sess.run(cast<bfloat16>(cast<half>(constant<bool>({true, false})))) == tensor<bfloat16>::of({1, 0}));
  CHECK(cast<half>(x).node().op == "Convert");
  CHECK(cast<float>(x).node().op == "Cast");
}

TEST_CASE("no gradient passes a conversion, and what computes has no kernel for stored elements") {
  own_session f;
  const auto w = variable(1.f, {.name = "w"});
  const auto rounded = cast<float>(cast<bfloat16>(w));
  CHECK(refusal([&] { gradients(rounded * rounded, w); }, errc::unimplemented, "no gradient flows through Convert",
                "gradients are float or double") == "");
  const auto h = constant<half>({1, 2});
  CHECK(refusal([&] { reduce_sum(h); }, errc::invalid_argument, "half") == "");
}
