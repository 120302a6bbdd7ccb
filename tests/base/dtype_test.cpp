// Dtypes and the C++ types of their elements.
#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/outcome.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace pinion;

TEST_CASE("a function is called for the plain type of a dtype") {
  const auto is_same = [](dtype type) { return visit_plain(type, [&]<class T>() { return dtype_of<T> == type; }); };
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    CHECK(is_same(type));
}

TEST_CASE("a dtype that no plain type has is refused, and not taken for another") {
  for (const dtype type : {dtype::invalid, dtype::string, dtype::bfloat16, dtype::half}) {
    const auto refused = outcome_of([&] { visit_plain(type, []<class T>() {}); });
    REQUIRE_FALSE(refused);
    CHECK(refused.failure()->code() == errc::invalid_argument);
    CHECK(refused.failure()->sentence() ==
          "elements of " + std::string(to_string(type)) +
              " are asked for as plain ones, which are float32, float64, int32, int64, uint8 and bool");
  }
}
