// The error vocabulary: codes, sentences and culprits.
#include <pinion/base/error.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace pinion;

error sentence() {
  return {errc::not_found, "there is no such thing"};
}

TEST_CASE("while nobody is named, what() is the sentence alone") {
  const error e = sentence();
  CHECK(e.code() == errc::not_found);
  CHECK(e.sentence() == "there is no such thing");
  CHECK(std::string(e.what()) == "there is no such thing");
  CHECK((e.node() + e.op() + e.device() + e.task() + e.location()).empty());
}

TEST_CASE("what() names the culprit in one order, however it was gathered") {
  const std::string all =
      "there is no such thing [node 'mul' (Mul), made at model.cpp:7, on /device:CPU:0, in task /job:ps/task:1]";
  CHECK(sentence().at_node("mul", "Mul", "model.cpp:7").on_device("/device:CPU:0").in_task("/job:ps/task:1").what() ==
        all);
  CHECK(sentence().in_task("/job:ps/task:1").on_device("/device:CPU:0").at_node("mul", "Mul", "model.cpp:7").what() ==
        all);
}

TEST_CASE("what is not known of a culprit is left out") {
  CHECK(std::string(sentence().at_node("mul", "", "").what()) == "there is no such thing [node 'mul']");
  CHECK(std::string(sentence().on_device("/device:GPU:1").what()) == "there is no such thing [on /device:GPU:1]");
  CHECK(std::string(sentence().in_task("").on_device("").what()) == "there is no such thing");
}

TEST_CASE("the first word on each part of the culprit stands") {
  error e = sentence().at_node("inner", "Mul", "a.cpp:1").on_device("/device:CPU:0").in_task("/task:0");
  e.at_node("outer", "Add", "b.cpp:2").on_device("/device:GPU:0").in_task("/task:1");
  CHECK(e.node() == "inner");
  CHECK(e.op() == "Mul");
  CHECK(e.location() == "a.cpp:1");
  CHECK(e.device() == "/device:CPU:0");
  CHECK(e.task() == "/task:0");
}

TEST_CASE("a node without a name leaves room for the next who knows") {
  error e = sentence();
  e.at_node("", "", "").at_node("mul", "Mul", "a.cpp:1");
  CHECK(e.node() == "mul");
  CHECK(e.location() == "a.cpp:1");
}

TEST_CASE("an error is a value: a copy keeps its texts when the original goes") {
  auto original = std::make_unique<error>(sentence().at_node("mul", "Mul", "a.cpp:1"));
  const error copy = *original;
  original.reset();
  CHECK(std::string(copy.what()) == "there is no such thing [node 'mul' (Mul), made at a.cpp:1]");
}

TEST_CASE("an error is caught as std::exception") {
  CHECK_THROWS_WITH(throw sentence(), "there is no such thing");
  CHECK_THROWS_AS(throw sentence(), std::exception);
}

// What current_error() makes of something that was thrown.
template <class Thrown>
std::string made_of(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    const error e = current_error();
    return std::string(to_string(e.code())) + ": " + e.what();
  }
}

TEST_CASE("whatever is thrown becomes an error; one that is an error stays what it was") {
  CHECK(made_of(sentence().at_node("mul", "Mul", "")) == "not_found: there is no such thing [node 'mul' (Mul)]");
  CHECK(made_of(std::bad_alloc()) == "resource_exhausted: out of memory");
  CHECK(made_of(std::out_of_range("no such key")) == "unknown: no such key");
  CHECK(made_of("text") == "unknown: text");
  CHECK(made_of(std::string("a string")) == "unknown: a string");
  CHECK(made_of(static_cast<const char*>(nullptr)) == "unknown: a null pointer was thrown");
  CHECK(made_of(1.5) == "unknown: something that is no std::exception was thrown, of type double");
}

TEST_CASE("what an error shows is harmless, and what it tells a program is as it was") {
  const error e = error(errc::unknown, "a\x1b[2J\nb").at_node("n\xc2\x9b", "Op", "").in_task("\xe2\x80\xae");
  CHECK(e.what() == std::string(R"(a\x1b[2J\nb [node 'n\u009b' (Op), in task \u202e])"));
  CHECK(e.sentence() == "a\x1b[2J\nb");
}

TEST_CASE("the sixteen codes have the numbers and names that cross the wire") {
  std::string all;
  for (int code = 1; code <= 16; ++code) all += std::string(to_string(static_cast<errc>(code))) + " ";
  CHECK(all ==
        "cancelled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied "
        "resource_exhausted failed_precondition aborted out_of_range unimplemented internal unavailable data_loss "
        "unauthenticated ");
  static_assert(to_string(errc::cancelled) == "cancelled" && static_cast<int>(errc::unauthenticated) == 16);
}

}  // namespace
