// Input that is copied ahead to a device.
#include <catch2/catch.hpp>

#include <algorithm>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using pn::errc;

const pn::tensor<float> all_rows = pn::tensor<float>::of({{1, 2}, {3, 4}, {5, 6}});
const pn::tensor<int> numbers = pn::tensor<int>::of({1, 2, 3});

// The sum of a fed vector, on a GPU.
struct summing : own_graph {
  pn::expr<float> x = pn::placeholder<float>({2}, "x");
  pn::expr<float> sum = [this] {
    const pn::device on{"/gpu:0"};
    return pn::expr<float>(pn::reduce_sum(x));
  }();
};
bool moves(const pn::step_trace& t, const std::string& node) {
  return std::any_of(t.events.begin(), t.events.end(),
                     [&](const pn::trace_event& e) { return e.node == node && e.kind != pn::trace_event::compute; });
}

}  // namespace

TEST_CASE("what lies on a device is fed to steps there without a copy") {
  summing f;
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  const pn::tensor<float> host = pn::tensor<float>::of({3, 4});
  const auto there = sess.to_device(host, "/gpu:0");
  CHECK(there.device() == "/job:localhost/replica:0/task:0/device:GPU:0");
  pn::step_trace copied, fed;
  CHECK(float(sess.run(copied, {{f.x, host}}, f.sum)) == 7);
  CHECK(float(sess.run(fed, {{f.x, there}}, f.sum)) == 7);
  CHECK(moves(copied, "x"));
  CHECK(!moves(fed, "x"));
  CHECK(float(sess.run({{f.x, there}}, f.sum)) == 7);                           // it may be fed again
  CHECK(sess.run({{f.x, there}}, f.x + 1.f) == pn::tensor<float>::of({4, 5}));  // and be used elsewhere
}

TEST_CASE("for a CPU a value is where it is to be") {
  summing f;
  pn::session sess{{.allow_soft_placement = true, .cpu_devices = 2}};
  const pn::tensor<float> host = pn::tensor<float>::of({3, 4});
  const auto there = sess.to_device(host, "/cpu:1");
  CHECK(there.device() == "");
  CHECK(there.untyped().raw() == host.untyped().raw());
  CHECK(float(sess.run({{f.x, there}}, f.sum)) == 7);
}

TEST_CASE("the elements of a dataset come on a device, in their order, some ahead") {
  summing f;
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  int made = 0;
  const auto data = pn::data::from_tensors(all_rows, numbers).map([&made](const auto& x, const auto& n) {
    ++made;
    return std::tuple(x, n);
  });
  auto input = tr::to_device(data, sess, "/gpu:0", {.ahead = 1});
  std::vector<float> sums;
  std::vector<int> ahead;
  while (const auto element = input.next()) {
    ahead.push_back(made);
    sums.push_back(sess.run({{f.x, std::get<0>(*element)}}, f.sum));
  }
  CHECK(sums == std::vector<float>{3, 7, 11});
  CHECK(ahead == std::vector<int>{2, 3, 3});
  CHECK(!input.next());
}

TEST_CASE("an error of a pass comes where its element would have come") {
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  const auto data = pn::data::from_tensors(numbers).map([](const pn::tensor<int>& n) {
    if (n == 2) throw pn::error(errc::data_loss, "the second is torn");
    return n;
  });
  auto input = tr::to_device(data, sess, "/gpu:0", {.ahead = 5});
  CHECK(input.next());
  CHECK(refusal([&] { input.next(); }, errc::data_loss, "torn") == "");
  CHECK(!input.next());
}

TEST_CASE("a value of another session is refused, and a device that is not there") {
  summing f;
  pn::session sess{{.simulated = {pn::sim::gpu()}}}, other{{.simulated = {pn::sim::gpu()}}};
  const pn::tensor<float> host = pn::tensor<float>::of({3, 4});
  CHECK(refusal(
            [&] {
              sess.run({{f.x, other.to_device(host, "/gpu:0")}}, f.sum);
            },
            errc::invalid_argument, "'x'", "another session") == "");
  CHECK(refusal([&] { sess.to_device(host, "/gpu:3"); }, errc::invalid_argument, "/device:GPU:3", "device:GPU:0") ==
        "");
  CHECK(refusal([&] { sess.to_device(pn::tensor<std::string>(), "/gpu:0"); }, errc::invalid_argument, "text") == "");
}
