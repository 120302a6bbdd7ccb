// Shapes: known and unknown dimensions, fitting, broadcasting.
#include <pinion/tensor/shape.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>

namespace {

using namespace pinion;

// ---- the broadcast table

constexpr bool gives(const shape& a, const shape& b, const shape& wanted) {
  shape one, other;
  return broadcast(a, b, one) && broadcast(b, a, other) && one == wanted && other == wanted;
}
constexpr bool clash(const shape& a, const shape& b) {
  shape result;
  return !broadcast(a, b, result) && !broadcast(b, a, result);
}
constexpr auto any = shape::any();

static_assert(gives({}, {}, {}));
static_assert(gives({3}, {}, {3}));
static_assert(gives({2, 3}, {3}, {2, 3}));
static_assert(gives({2, 1}, {1, 3}, {2, 3}));
static_assert(gives({4, 1, 3}, {2, 1}, {4, 2, 3}));
static_assert(gives({0}, {1}, {0}));
static_assert(gives({2, 0}, {1}, {2, 0}));
static_assert(gives({unknown, 3}, {3}, {unknown, 3}));
static_assert(gives({unknown}, {5}, {5}));  // it can only be 1 or 5
static_assert(gives({unknown}, {1}, {unknown}));
static_assert(gives({unknown}, {unknown}, {unknown}));
static_assert(gives({shape::first_symbol}, {shape::first_symbol}, {shape::first_symbol}));
static_assert(gives({shape::first_symbol}, {shape::first_symbol - 1}, {unknown}));  // either may be 1
static_assert(gives(any, {2, 3}, any));
static_assert(gives(any, any, any));
// and not
static_assert(clash({2}, {3}));     // neither is 1
static_assert(clash({2, 3}, {2}));  // aligned at the last axis
static_assert(clash({0}, {2}));     // no elements are not one element
static_assert(clash({unknown, 2}, {3}));

// ---- fitting

static_assert(fits({2, 3}, {2, 3}));
static_assert(fits({2, 3}, {unknown, 3}));
static_assert(fits({unknown, 3}, {2, 3}));
static_assert(fits({2, 3}, any) && fits(any, {2, 3}));
static_assert(fits({}, {}));
// and not
static_assert(!fits({2, 3}, {2, 4}));
static_assert(!fits({2, 3}, {6}));  // a rank is not bent
static_assert(!fits({}, {1}));      // a scalar is not a vector of one

// ---- what a shape tells

static_assert(shape{}.count() == 1 && shape{}.rank() == 0 && shape{}.known());
static_assert(shape{2, 3}.count() == 6 && shape{2, 0}.count() == 0);
static_assert(shape{unknown, 3}.count() == unknown && !shape{unknown, 3}.known() && shape{unknown, 3}.has_rank());
static_assert(any.rank() == -1 && any.count() == unknown && !any.has_rank() && !any.known());
static_assert(shape::unknown_of_rank(2) == shape{unknown, unknown});
static_assert(!(any == shape{}) && shape{2, 3} != shape{3, 2});

TEST_CASE("shapes print as lists, with ? for what is unknown") {
  CHECK(to_string(shape{}) == "[]");
  CHECK(to_string(shape{50, 784}) == "[50, 784]");
  CHECK(to_string(shape{unknown, 784}) == "[?, 784]");
  CHECK(to_string(shape::any()) == "<any shape>");
}

TEST_CASE("a ninth dimension and a negative one are refused") {
  CHECK(failure([] { shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }) == "invalid_argument: a tensor has at most 8 dimensions");
  CHECK(caught([] { shape{2, -2}; }).code() == errc::invalid_argument);
  CHECK(caught([] { shape{2, -6000000000000000000}; }).code() == errc::invalid_argument);
  CHECK(caught([] { shape{2, INT64_MIN}; }).code() == errc::invalid_argument);
}

}  // namespace
