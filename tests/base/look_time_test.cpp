// How long a thread looks before it sleeps.
#include <pinion/base/look_time.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace std::chrono_literals;
using pinion::look_time;

// The time after many waits that took so long.
std::chrono::nanoseconds after(std::chrono::nanoseconds wait) {
  look_time t;
  for (int i = 0; i < 100; ++i) t.took(wait);
  return t.next();
}

TEST_CASE("an event is looked for twice as long as waits take lately, if that is not long") {
  CHECK(look_time().next() == look_time::least);
  CHECK(after(0us) == look_time::least);
  CHECK(after(10us) == look_time::least);
  CHECK(std::chrono::abs(after(300us) - 600us) < 1us);
  CHECK(std::chrono::abs(after(990us) - 1980us) < 1us);
  CHECK(after(1100us) == look_time::least);
  CHECK(after(1h) == look_time::least);
}

TEST_CASE("one wait that took long among short ones changes little") {
  look_time t;
  for (int i = 0; i < 100; ++i) t.took(100us);
  t.took(500us);
  CHECK(t.next() < 401us);
  for (int i = 0; i < 20; ++i) t.took(100us);
  CHECK(t.next() < 205us);
}

}  // namespace
