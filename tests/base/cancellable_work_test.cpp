// Work that is cancelled while it is done.
#include <catch2/catch.hpp>

#include <thread>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/base/error.hpp>

#include <support/caught.hpp>

namespace {

using namespace pinion;

bool goes_on() {
  return caught([] { cancellable_work::check(); }).code() != errc::cancelled;
}

TEST_CASE("work under a cancellation goes on until it is cancelled, and then ends at its next look") {
  cancellation stop;
  const cancellable_work mine(stop);
  CHECK(goes_on());
  stop.cancel();
  CHECK_FALSE(goes_on());
}

TEST_CASE("work is under every cancellation around it, and under none that has ended") {
  cancellation outer, inner;
  const cancellable_work mine(outer);
  {
    const cancellable_work part(inner);
    inner.cancel();
    CHECK_FALSE(goes_on());
  }
  CHECK(goes_on());
  {
    cancellation other;
    const cancellable_work part(other);
    outer.cancel();
    CHECK_FALSE(goes_on());
  }
}

TEST_CASE("work in a thread is not under the cancellations of others") {
  cancellation stop;
  const cancellable_work mine(stop);
  stop.cancel();
  bool others = false;
  std::thread([&] { others = goes_on(); }).join();
  CHECK(others);
  CHECK_FALSE(goes_on());
}

}  // namespace
