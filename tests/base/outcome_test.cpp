// Outcomes: what they carry, how they fail, and what passing them on costs.
#include <catch2/catch.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinion/base/outcome.hpp>

#include "support/caught.hpp"

namespace {

using pinion::outcome, pinion::shared_error, pinion::outcome_of, pinion::completion, pinion::error, pinion::errc;

error full_error() {
  return error(errc::not_found, "no file").at_node("a/b", "Op", "x.cpp:3").on_device("/cpu:0").in_task("ps:0");
}

// The error alone, which a waiter shares: success costs a null pointer to pass on.
static_assert(sizeof(outcome<>) == sizeof(shared_error));
static_assert(sizeof(outcome<int>) <= sizeof(shared_error) + 2 * sizeof(int));
static_assert(std::is_nothrow_move_constructible_v<outcome<>>);
static_assert(std::is_nothrow_move_constructible_v<outcome<std::vector<int>>>);
static_assert(std::is_move_constructible_v<outcome<std::unique_ptr<int>>>);
static_assert(!std::is_copy_constructible_v<outcome<std::unique_ptr<int>>>);

// A value or an error becomes an outcome by itself; neither a null pointer nor a bool does.
static_assert(std::is_convertible_v<int, outcome<int>>);
static_assert(std::is_convertible_v<error, outcome<int>> && std::is_convertible_v<error, outcome<>>);
static_assert(std::is_convertible_v<shared_error, outcome<int>>);
static_assert(!std::is_convertible_v<std::nullptr_t, outcome<>>);
static_assert(!std::is_convertible_v<outcome<>, bool>);
// A value cannot be lost without a word: another type of outcome is made of the error alone.
static_assert(!std::is_convertible_v<outcome<int>, outcome<std::string>>);

}  // namespace

TEST_CASE("an outcome carries a value") {
  outcome<std::string> text = std::string("seven");
  CHECK(text.ok());
  CHECK(!text.failure());
  text.value() += "teen";
  CHECK(std::as_const(text).value() == "seventeen");
  CHECK(std::move(text).value() == "seventeen");
}

TEST_CASE("an outcome without a value is a success by itself") {
  CHECK(outcome<>().ok());
  CHECK_NOTHROW(outcome<>().value());
}

TEST_CASE("a failed outcome throws its error whole, with node and place, as often as it is asked") {
  const outcome<int> failed = full_error();
  CHECK(!failed);
  for (int times = 0; times < 2; ++times) {
    const error thrown = caught([&] { failed.value(); });
    CHECK(thrown.code() == errc::not_found);
    CHECK(std::string(thrown.what()) == full_error().what());
    CHECK(thrown.node() == "a/b");
    CHECK(thrown.device() == "/cpu:0");
    CHECK(thrown.task() == "ps:0");
  }
  CHECK(caught([] { outcome<>(full_error()).value(); }).node() == "a/b");
}

TEST_CASE("an error is passed on to outcomes of other types without a copy") {
  const outcome<int> first = full_error();
  const outcome<std::string> second = first.failure();
  const outcome<> third = second.failure();
  CHECK(third.failure().get() == first.failure().get());
}

TEST_CASE("a null error is the success of an operation without a value") {
  CHECK(outcome<>(shared_error()).ok());
}

TEST_CASE("a value that can only be moved is handed on") {
  outcome<std::unique_ptr<int>> one = std::make_unique<int>(1);
  const std::unique_ptr<int> taken = std::move(one).value();
  CHECK(*taken == 1);
}

TEST_CASE("then goes on with the value, and passes an error by") {
  CHECK(outcome<int>(3).then([](int n) { return n + 0.5; }).value() == 3.5);
  CHECK(outcome<int>(3).then([](int) {}).ok());
  bool called = false;
  const outcome<int> failed = full_error();
  const auto after = outcome<int>(failed).then([&](int) { called = true; });
  CHECK(!called);
  CHECK(after.failure() == failed.failure());
}

TEST_CASE("an exception on the way is the outcome") {
  CHECK(outcome<int>(3).then([](int) { throw std::runtime_error("no"); }).failure()->code() == errc::unknown);
  CHECK(outcome_of([]() -> int { throw full_error(); }).failure()->node() == "a/b");
  CHECK(outcome_of([] { throw 7; }).failure()->code() == errc::unknown);
  CHECK(outcome_of([] { return 7; }).value() == 7);
  CHECK(outcome_of([] {}).ok());
}

TEST_CASE("a completion handler takes an outcome made of a value, of an error, or of nothing") {
  std::string heard;
  const completion<int> number = [&](outcome<int> n) { heard += n ? std::to_string(n.value()) : "failed"; };
  number(4);
  number(full_error());
  CHECK(heard == "4failed");
  const completion<> end = [&](outcome<> how) { heard = how ? "ended" : how.failure()->sentence(); };
  end({});
  CHECK(heard == "ended");
  end(full_error());
  CHECK(heard == "no file");
}
