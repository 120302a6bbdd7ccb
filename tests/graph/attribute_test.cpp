// Attributes: values of a few types under names.
#include <pinion/graph/attribute.hpp>
#include <pinion/graph/attribute_value.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

using namespace pinion;

static_assert(std::is_convertible_v<bool, attribute> && std::is_convertible_v<int, attribute>);
static_assert(!std::is_convertible_v<const int*, attribute>, "a pointer is no bool");
static_assert(!std::is_convertible_v<std::uint64_t, attribute>, "a number that may not fit is not taken");

TEST_CASE("an attribute is of the type that it was given as") {
  CHECK(*attribute(true).get_if<bool>());
  CHECK(*attribute(7).get_if<std::int64_t>() == 7);
  CHECK(*attribute(.5f).get_if<double>() == .5);
  CHECK(*attribute("text").get_if<std::string>() == "text");
  CHECK(*attribute(dtype::int64).get_if<dtype>() == dtype::int64);
  CHECK(*attribute(shape{2, 3}).get_if<shape>() == shape{2, 3});
  CHECK(*attribute(integers{1, 2}).get_if<integers>() == integers{1, 2});
  CHECK(attribute(7).get_if<double>() == nullptr);
  CHECK(attribute(std::shared_ptr<const body>()).index() == std::variant_size_v<attribute_variant> - 1);
}

TEST_CASE("attributes are found by name, replaced by name, and stand in the order of their names") {
  attributes all{{"b", 1}, {"a", "x"}};
  all.set("b", 2.5);
  std::string names;
  for (const auto& [name, value] : all) names += name;
  CHECK(names == "ab");
  CHECK(all.get<double>("b") == 2.5);
  CHECK(all.get_or("c", std::int64_t{3}) == 3);
  CHECK_FALSE(all.has("c"));
  CHECK_THROWS_WITH(all.get<bool>("a"), "attribute 'a' is missing or of another type");
}

TEST_CASE("a copy of attributes keeps its values when the original changes") {
  attributes first{{"n", 1}};
  const attributes second = first;
  first.set("n", 2);
  CHECK(second.get<std::int64_t>("n") == 1);
  const attributes third = std::move(first);
  CHECK(third.get<std::int64_t>("n") == 2);
}
