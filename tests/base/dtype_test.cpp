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

TEST_CASE("a function is called for the type of a dtype among those that are moved, and for one of its size") {
  for (const dtype type : {dtype::float32, dtype::boolean, dtype::bfloat16, dtype::half, dtype::int8, dtype::int16,
                           dtype::uint16, dtype::uint32, dtype::uint64}) {
    CHECK(visit_plain<dtypes::moved>(type, [&]<class T>() { return dtype_of<T> == type; }));
    CHECK(visit_element(type, [&]<class T>() { return sizeof(T); }) == size_of(type));
  }
  CHECK(visit_element(dtype::string, []<class T>() { return std::is_same_v<T, std::string>; }));
}

TEST_CASE("the type of an integer is judged by its size and sign, and characters and bools are no integers") {
  CHECK(dtype_of<unsigned long long> == dtype::uint64);
  CHECK(dtype_of<long long> == dtype::int64);
  CHECK(dtype_of<signed char> == dtype::int8);
  CHECK(dtype_of<unsigned char> == dtype::uint8);
  CHECK(dtype_of<bool> == dtype::boolean);
  CHECK(dtype_of<half> == dtype::half);
  CHECK(dtype_of<bfloat16> == dtype::bfloat16);
  for (const dtype type : {dtype_of<char>, dtype_of<char8_t>, dtype_of<char16_t>, dtype_of<wchar_t>})
    CHECK(type == dtype::invalid);
}

TEST_CASE("stored dtypes have no arithmetic, and their numbers follow those of the others") {
  CHECK((dtypes::moved | dtype_set{dtype::string}) == dtypes::all);
  for (const dtype type : {dtype::bfloat16, dtype::half, dtype::int8, dtype::uint64}) {
    CHECK(dtypes::stored.has(type));
    CHECK_FALSE((is_floating(type) || is_integer(type) || dtypes::numbers.has(type)));
  }
  CHECK(static_cast<int>(dtype::bfloat16) == 8);
  CHECK(static_cast<int>(dtype::half) == 9);
  CHECK(static_cast<int>(dtype::uint64) == 14);
}

TEST_CASE("a dtype that no plain type has is refused, and not taken for another") {
  for (const dtype type : {dtype::invalid, dtype::string, dtype::bfloat16, dtype::half, dtype::int8, dtype::uint64}) {
    const auto refused = outcome_of([&] { visit_plain(type, []<class T>() {}); });
    REQUIRE_FALSE(refused);
    CHECK(refused.failure()->code() == errc::invalid_argument);
    CHECK(refused.failure()->sentence() == "elements of " + std::string(to_string(type)) +
                                               " are asked for as plain ones, which are float32, float64, int32, "
                                               "int64, uint8 and bool; pn::cast makes them of stored "
                                               "ones");
  }
}
