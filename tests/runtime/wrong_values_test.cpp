// Wrong values that kernels leave on a device, and the errors that are made of them where a step ends.
#include <catch2/catch.hpp>

#include <future>
#include <string>

#include <pinion/device/sim.hpp>
#include <pinion/runtime/step/wrong_values.hpp>

namespace {

using namespace pinion;

struct looked {
  devices::sim_device gpu{parse_device("/job:localhost/replica:0/task:0/device:GPU:0"), sim::gpu()};
  runtime::wrong_values values;

  cuda::first_wrong* expect(const std::string& what) {
    return values.expect(gpu, [what](std::int64_t position, std::int64_t value) {
      return error(errc::invalid_argument,
                   what + " " + std::to_string(value) + " at position " + std::to_string(position));
    });
  }
  // A kernel that meets a wrong value.
  void meet(cuda::first_wrong* place, unsigned long long position, long long value) {
    gpu.stream()->enqueue([=] { *place = {position, value}; });
  }
  // The sentence of the error; "" if there is none.
  std::string sentence() {
    std::promise<std::string> told;
    values.look(gpu, [&](const outcome<>& how) { told.set_value(how ? "" : how.failure()->sentence()); });
    return told.get_future().get();
  }
};

TEST_CASE_METHOD(looked, "places in which no kernel left a value are no error") {
  expect("index");
  expect("label");
  CHECK(sentence() == "");
}

TEST_CASE_METHOD(looked, "a wrong value becomes the error of its place") {
  expect("index");
  meet(expect("label"), 3, -7);
  CHECK(sentence() == "label -7 at position 3");
}

TEST_CASE_METHOD(looked, "the first place counts, whichever kernel was first") {
  auto* const first = expect("index");
  meet(expect("label"), 3, -7);
  meet(first, 0, 9);
  CHECK(sentence() == "index 9 at position 0");
}

TEST_CASE_METHOD(looked, "any number of places is looked at") {
  for (int i = 0; i < 69; ++i) expect("index");
  meet(expect("label"), 1, 5);
  CHECK(sentence() == "label 5 at position 1");
}

}  // namespace
