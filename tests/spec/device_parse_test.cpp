// The rows of device_parse.tsv, read by the compiler and at run time.
#include <catch2/catch.hpp>

#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

#include <pinion/base/fixed_string.hpp>
#include <pinion/spec/device_spec.hpp>

#include "support/spec_table.hpp"

namespace pn = pinion;

namespace {

constexpr bool reads(std::string_view text, std::string_view job, int replica, int task, std::string_view type,
                     int index) {
  const pn::device_spec s = pn::parse_device(text);
  return s.job() == job && s.replica() == replica && s.task() == task && s.type() == type && s.index() == index;
}

// parse_device of this text is a constant expression; where it is not, it calls a function that is not constexpr.
template <pn::fixed_string Text>
concept compiles = requires {
  typename std::bool_constant<pn::parse_device(decltype(pn::as_chars<Text>())::view()).empty()>;
};

// By the compiler: the project's rows.
#define READS(text, ...)                   \
  static_assert(reads(text, __VA_ARGS__)); \
  static_assert(compiles<text>);
#define REFUSED(text) static_assert(!compiles<text>);
#include "device_parse_table.inc"
#undef READS
#undef REFUSED

const std::set<std::string> compiled_texts{
#define READS(text, ...) text,
#define REFUSED(text) text,
#include "device_parse_table.inc"
#undef READS
#undef REFUSED
};

std::string sentence_about(const std::string& text) {
  try {
    pn::parse_device(text);
  } catch (const pn::error& e) {
    return e.what();
  }
  return "no error";
}

using Catch::Contains;

}  // namespace

TEST_CASE("the compiler has read every row of the project's own device_parse.tsv") {
  std::set<std::string> texts;
  for (const auto& row : spec_table::parse_rows(spec_table::own_folder())) texts.insert(row.input);
  CHECK(texts == compiled_texts);
}

TEST_CASE("every row of device_parse.tsv reads as its pinion column says") {
  const auto rows = spec_table::parse_rows(spec_table::folder());
  for (const auto& row : rows) {
    INFO("line " << row.line << ": '" << row.input << "'");
    CHECK(spec_table::outcome([&] { return pn::parse_device(row.input); }) == row.pinion);
  }
  std::cout << "device_parse.tsv: " << rows.size() << " rows\n";
}

TEST_CASE("the text of a spec reads back to the same spec") {
  for (const auto& row : spec_table::parse_rows(spec_table::folder())) {
    if (row.pinion == "ERROR") continue;
    const pn::device_spec spec = pn::parse_device(row.input);
    INFO(row.input);
    CHECK(pn::parse_device(to_string(spec)) == spec);
  }
}

TEST_CASE("the sentence about a bad string quotes the whole string") {
  for (const auto& row : spec_table::parse_rows(spec_table::folder()))
    if (row.pinion == "ERROR") CHECK_THAT(sentence_about(row.input), Contains("device string '" + row.input + "': "));
}

TEST_CASE("the sentence names the culprit, the mistake and what would work") {
  CHECK(sentence_about("/job:worker/bar:1") ==
        "cannot read 'bar' in segment 'bar:1' of device string '/job:worker/bar:1': unknown field; write job:J, "
        "replica:N, task:N, device:T[:N], cpu[:N] or gpu[:N]");
  CHECK(sentence_about("/job:ps/task:2147483648") ==
        "cannot read '2147483648' in segment 'task:2147483648' of device string '/job:ps/task:2147483648': number out "
        "of range; write a number from 0 to 2147483647");
}

TEST_CASE("each kind of mistake has its own words") {
  CHECK_THAT(sentence_about("/Task:0"), Contains("unknown field"));
  CHECK_THAT(sentence_about("/xla_cpu:0"), Contains("unknown field"));
  CHECK_THAT(sentence_about("/::"), Contains("unknown field"));
  CHECK_THAT(sentence_about("/job"), Contains("missing value"));
  CHECK_THAT(sentence_about("/job:"), Contains("missing value"));
  CHECK_THAT(sentence_about("/gpu:"), Contains("missing value"));
  CHECK_THAT(sentence_about("/device"), Contains("missing value"));
  CHECK_THAT(sentence_about("/device::0"), Contains("missing value"));
  CHECK_THAT(sentence_about("/task:1:2"), Contains("too many parts"));
  CHECK_THAT(sentence_about("/job:ps:1"), Contains("too many parts"));
  CHECK_THAT(sentence_about("/cpu:0:1"), Contains("too many parts"));
  CHECK_THAT(sentence_about("/device:GPU:0:1"), Contains("too many parts"));
  CHECK_THAT(sentence_about("/device:GPU:0:1:2"), Contains("too many parts"));
  CHECK_THAT(sentence_about("/job:1st"), Contains("bad job name"));
  CHECK_THAT(sentence_about("/device:1GPU:0"), Contains("bad device type"));
  CHECK_THAT(sentence_about("/device:X-Y"), Contains("bad device type"));
  CHECK_THAT(sentence_about("/cpu:abc"), Contains("bad number"));
  CHECK_THAT(sentence_about("/task:+1"), Contains("bad number"));
  CHECK_THAT(sentence_about("/task:--1"), Contains("bad number"));
  CHECK_THAT(sentence_about("/task:-2"), Contains("number out of range"));
  CHECK_THAT(sentence_about("/replica:99999999999999999999999999999"), Contains("number out of range"));
  CHECK_THAT(sentence_about("/cpu:0/gpu:0"), Contains("type given twice"));
  CHECK_THAT(sentence_about("/job:ps 0"), Contains("blank in string"));
  CHECK_THAT(sentence_about("/cpu:0\n"), Contains("blank in string"));
}

TEST_CASE("a keyword with a slip in it is told beside the one that was meant") {
  CHECK_THAT(sentence_about("/jbo:worker"), Catch::EndsWith("; did you mean 'job'?"));
  CHECK_THAT(sentence_about("/Task:0"), Catch::EndsWith("; did you mean 'task'?"));
  CHECK_THAT(sentence_about("/tpu:0"), !Contains("did you mean"));
}

TEST_CASE("a string that is known to stand in a line is told with it") {
  try {
    pn::parse_device("/task:x", {"model.cpp", 12});
    FAIL("it was read");
  } catch (const pn::error& e) {
    CHECK(e.location() == "model.cpp:12");
    CHECK_THAT(e.what(), Catch::EndsWith(" [at model.cpp:12]"));
  }
}

TEST_CASE("a job name has at most 63 characters and a device type at most 31") {
  const std::string job(63, 'j'), type(31, 'T');
  CHECK(pn::parse_device("/job:" + job).job() == job);
  CHECK(pn::parse_device("/device:" + type).type() == type);
  CHECK_THAT(sentence_about("/job:" + job + "j"), Contains("name too long; a job has at most 63"));
  CHECK_THAT(sentence_about("/device:" + type + "T"), Contains("name too long; a type has at most 31"));
}

TEST_CASE("numbers reach 2147483647 and may have leading zeros") {
  CHECK(pn::parse_device("/task:2147483647").task() == 2147483647);
  CHECK(pn::parse_device("/task:007").task() == 7);
  CHECK(pn::parse_device("/task:00000000000000000000000000000001").task() == 1);
}

TEST_CASE("a star unsets what an earlier segment has set") {
  CHECK(pn::parse_device("/job:a/job:*").empty());
  CHECK(pn::parse_device("/task:1/task:*/replica:2/replica:*").empty());
}

TEST_CASE("any type has any index, and no other") {
  CHECK(pn::parse_device("/device:*:*").empty());
  CHECK(pn::parse_device("/device:*").empty());
  CHECK(sentence_about("/job:ps/device:*:3") ==
        "cannot read 'device:*:3' of device string '/job:ps/device:*:3': index without a type; write device:TYPE:N, or "
        "device:*:* for any");
}

TEST_CASE("a string of slashes names nothing") {
  CHECK(pn::parse_device("").empty());
  CHECK(pn::parse_device("///").empty());
}

TEST_CASE("a zero byte inside a string is refused, not taken for its end") {
  CHECK_THROWS_AS(pn::parse_device(std::string_view("/job:ps\0/x", 10)), pn::error);
  CHECK_THROWS_AS(pn::parse_device(std::string_view("/cpu:0\0", 7)), pn::error);
}
