// What may be fed: tensors, vectors, spans, arrays, these nested, braces and scalars; to run() and to callables.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

#include <support/own_graph.hpp>

namespace pn = pinion;

namespace {

struct fed : own_graph {
  pn::expr<float> x = pn::placeholder<float>(pn::shape::any(), "x");
  pn::expr<bool> flags = pn::placeholder<bool>(pn::shape::any(), "flags");
  pn::expr<std::string> words = pn::placeholder<std::string>(pn::shape::any(), "words");
  pn::expr<float> same = pn::identity(x);
  pn::session sess{{.graph = &g}};
};

const auto two_by_two = pn::tensor<float>::of({{1, 2}, {3, 4}});

}  // namespace

TEST_CASE("a vector, span or array is fed as a tensor of one axis, nested ones of more") {
  fed f;
  const std::vector<float> v{1, 2};
  const float nested[2][2] = {{1, 2}, {3, 4}};
  CHECK(f.sess.run({{f.x, v}}, f.same) == pn::tensor<float>::of({1, 2}));
  CHECK(f.sess.run({{f.x, std::span<const float>(v)}}, f.same) == pn::tensor<float>::of({1, 2}));
  CHECK(f.sess.run({{f.x, std::vector<std::array<float, 2>>{{1, 2}, {3, 4}}}}, f.same) == two_by_two);
  CHECK(f.sess.run({{f.x, nested}}, f.same) == two_by_two);
  CHECK(f.sess.run({{f.x, {{1, 2}, {3, 4}}}}, f.same) == two_by_two);
}

TEST_CASE("a vector of bools and one of texts are fed") {
  fed f;
  CHECK(f.sess.run({{f.flags, std::vector<bool>{true, false}}}, pn::identity(f.flags)) ==
        pn::tensor<bool>::of({true, false}));
  CHECK(f.sess.run({{f.words, std::vector<const char*>{"a", "b"}}}, pn::identity(f.words)) ==
        pn::tensor<std::string>::of({"a", "b"}));
}

TEST_CASE("a callable takes vectors, braces and scalars") {
  fed f;
  const auto step = f.sess.make_callable(pn::feeds(f.x), pn::fetches(f.same));
  CHECK(std::get<0>(step(std::vector<std::vector<float>>{{1, 2}, {3, 4}})) == two_by_two);
  CHECK(std::get<0>(step({{1, 2}, {3, 4}})) == two_by_two);
  CHECK(std::get<0>(step(two_by_two)) == two_by_two);
  CHECK(std::get<0>(step(.5)) == .5f);
}

TEST_CASE("a tensor that is fed is shared, not copied") {
  fed f;
  const auto step = f.sess.make_callable(pn::feeds(f.x), pn::fetches(f.x));
  const auto [back] = step(two_by_two);
  CHECK(back.data() == two_by_two.data());
}

TEST_CASE("ragged rows are refused with both lengths") {
  const std::vector<std::vector<int>> ragged{{1, 2}, {3}};
  CHECK_THROWS_WITH(pn::tensor<int>::of(ragged), Catch::Contains("one has 1 elements where the first one has 2"));
}
