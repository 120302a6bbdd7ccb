// The device spec as a value: its fields, its order, and how two of them combine.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pn = pinion;

namespace {

constexpr pn::device_spec spec(std::string_view text) {
  return pn::parse_device(text);
}

// A structural type: it may be a template argument.
template <pn::device_spec S>
struct probe {};
static_assert(std::is_same_v<probe<spec("/gpu:0")>, probe<spec("/device:GPU:0")>>);
static_assert(!std::is_same_v<probe<spec("/gpu:0")>, probe<spec("/gpu:1")>>);
static_assert(std::is_trivially_copyable_v<pn::device_spec>);

// Fields.
constexpr pn::device_spec full = spec("/job:ps/replica:1/task:2/gpu:3");
static_assert(full.job() == "ps" && full.replica() == 1 && full.task() == 2 && full.type() == "GPU" &&
              full.index() == 3);
constexpr pn::device_spec unset;
static_assert(unset.job().empty() && unset.replica() == -1 && unset.task() == -1 && unset.type().empty() &&
              unset.index() == -1);
static_assert(unset.empty() && !full.empty());
static_assert(full.is_complete() && !unset.is_complete());
static_assert(!spec("/job:ps/replica:1/task:2/gpu").is_complete());
static_assert(!spec("/replica:1/task:2/gpu:3").is_complete());

// Setters.
static_assert(unset.with_job("ps").with_replica(1).with_task(2).with_type("gpu").with_index(3) == full);
static_assert(full.with_job("").with_replica(-1).with_task(-1).with_type("") == unset);
static_assert(full.with_job("*").with_type("*") == spec("/replica:1/task:2"));
static_assert(full.with_type("CPU") == spec("/job:ps/replica:1/task:2/cpu:3"));
static_assert(full.with_index(-1) == spec("/job:ps/replica:1/task:2/gpu"));
static_assert(full.with_job("worker") != full);
static_assert(full.with_job("p") == full.with_job("worker").with_job("p"));  // no character of a longer name is left

// merge: inner fields win, {} is neutral, grouping does not matter.
static_assert(merge(spec("/job:worker/task:0"), spec("/gpu:0")) == spec("/job:worker/task:0/gpu:0"));
static_assert(merge(spec("/gpu:3"), spec("/cpu")) == spec("/cpu:3"));
static_assert(merge(full, unset) == full && merge(unset, full) == full);
constexpr pn::device_spec a = spec("/job:a/gpu:1"), b = spec("/task:2/cpu"), c = spec("/job:c/replica:0");
static_assert(merge(merge(a, b), c) == merge(a, merge(b, c)));

// is_specification: every field set in the first is set and equal in the second.
static_assert(is_specification(unset, full) && is_specification(full, full));
static_assert(is_specification(spec("/job:ps/gpu"), full));
static_assert(!is_specification(full, spec("/job:ps")));
static_assert(!is_specification(spec("/job:worker"), full));
static_assert(!is_specification(spec("/gpu:0"), full));

// compatible: no field with two values. comparable (TensorFlow's AreCompatible): one specifies the other.
static_assert(compatible(spec("/job:a"), spec("/gpu:0")) && !comparable(spec("/job:a"), spec("/gpu:0")));
static_assert(compatible(spec("/job:ps"), full) && comparable(spec("/job:ps"), full) &&
              comparable(full, spec("/job:ps")));
static_assert(!compatible(spec("/job:a"), spec("/job:b")) && !comparable(spec("/job:a"), spec("/job:b")));
static_assert(!compatible(spec("/gpu:0"), spec("/gpu:1")));
static_assert(!compatible(spec("/gpu"), spec("/cpu")));
static_assert(!compatible(spec("/task:0"), spec("/task:1")));
static_assert(compatible(spec("/gpu"), spec("/gpu:1")) && compatible(unset, full));

// natural_less.
static_assert(pn::natural_less("/job:w/task:2", "/job:w/task:10") &&
              !pn::natural_less("/job:w/task:10", "/job:w/task:2"));
static_assert(pn::natural_less("a", "b") && !pn::natural_less("a", "a") && pn::natural_less("", "a"));
static_assert(pn::natural_less("a2b", "a2c") && pn::natural_less("a2", "a2b"));
static_assert(pn::natural_less("99999999999999999999998", "99999999999999999999999"));
static_assert(pn::natural_less("a01", "a1") != pn::natural_less("a1", "a01"));
static_assert(pn::natural_less("a007b1", "a7b2") && pn::natural_less("a0", "a1") && pn::natural_less("a9", "a:"));

std::string sentence_of(void (*set)()) {
  try {
    set();
  } catch (const pn::error& e) {
    CHECK(e.code() == pn::errc::invalid_argument);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the text of a spec lists its fields in one order and stars a missing index") {
  CHECK(to_string(full) == "/job:ps/replica:1/task:2/device:GPU:3");
  CHECK(to_string(spec("/gpu:3/task:2/job:ps")) == "/job:ps/task:2/device:GPU:3");
  CHECK(to_string(spec("/cpu")) == "/device:CPU:*");
  CHECK(to_string(unset) == "");
}

TEST_CASE("a setter refuses what the parser would refuse") {
  CHECK(sentence_of([] { pn::device_spec{}.with_job("1st"); }) ==
        "cannot read '1st': bad job name; a letter, then letters, digits, _ or -");
  CHECK(sentence_of([] { pn::device_spec{}.with_task(-2); }) ==
        "cannot read '-2': number out of range; 0 to 2147483647, or -1 to unset it");
  CHECK(sentence_of([] { pn::device_spec{}.with_type("G-P-U"); }) ==
        "cannot read 'G-P-U': bad device type; a letter, then letters, digits or _");
  CHECK_THROWS_AS(pn::device_spec{}.with_job("a b"), pn::error);
  CHECK_THROWS_AS(pn::device_spec{}.with_job(std::string(64, 'j')), pn::error);
  CHECK_THROWS_AS(full.with_index(-2), pn::error);
}

TEST_CASE("an index cannot be set before its type") {
  CHECK(sentence_of([] { pn::device_spec{}.with_index(3); }) ==
        "cannot read '3': index without a type; set the type first");
  CHECK(pn::device_spec{}.with_index(-1).empty());
}

TEST_CASE("names that hold numbers sort by the numbers") {
  std::vector<std::string> names{"task:10/gpu:0", "b", "task:2/gpu:10", "task:2/gpu:9", "a", "task", "task:2"};
  std::sort(names.begin(), names.end(), pn::natural_less);
  CHECK(names ==
        std::vector<std::string>{"a", "b", "task", "task:2", "task:2/gpu:9", "task:2/gpu:10", "task:10/gpu:0"});
}

TEST_CASE("the natural order of names is strict and total") {
  const std::vector<std::string> names{"",    "0",    "00",  "1",  "01", "10", "2",  "a",   "a0",  "a00",  "a1",  "a01",
                                       "a1b", "a01a", "a10", "a:", "a/", "b",  "1a", "01b", "1/2", "1/10", "1/02"};
  for (const auto& x : names)
    for (const auto& y : names) {
      CHECK((pn::natural_less(x, y) + pn::natural_less(y, x)) == (x == y ? 0 : 1));
      for (const auto& z : names)
        if (pn::natural_less(x, y) && pn::natural_less(y, z)) CHECK(pn::natural_less(x, z));
    }
}
