// Rings of bytes between two processes: what goes through them, who is rung for, and what a liar gets.
#include <semaphore>
#include <thread>

#include <catch2/catch.hpp>

#include <pinion/rpc/shared_memory/byte_rings.hpp>

#include <rpc/echo.hpp>
#include <support/caught.hpp>
#include <support/dice.hpp>

namespace {

using namespace std::chrono_literals;
using namespace pinion_tests;
using pinion::rpc::ring_end, pinion::rpc::ring_words;

constexpr std::size_t capacity = ring_end::capacity;

struct two_ends {
  ring_words words[2]{};
  std::vector<std::byte> rings[2]{std::vector<std::byte>(capacity), std::vector<std::byte>(capacity)};
  ring_end one{words[0], rings[0].data(), words[1], rings[1].data()};
  ring_end two{words[1], rings[1].data(), words[0], rings[0].data()};
};

std::size_t put(ring_end& by, std::string_view text) {
  const asio::const_buffer halves[] = {asio::buffer(text.substr(0, text.size() / 2)),
                                       asio::buffer(text.substr(text.size() / 2))};
  return by.put(halves);
}
std::string take(ring_end& by, std::size_t most) {
  std::string text(most, '\0');
  text.resize(by.take(std::as_writable_bytes(std::span(text))));
  return text;
}

TEST_CASE("bytes come out of a ring as they were put, in any portions, and once round after the other") {
  two_ends ends;
  dice d(7);
  const std::string text = pattern(20 * capacity, 1);
  std::string heard;
  for (std::size_t at = 0; heard.size() < text.size();) {
    at += put(ends.one, std::string_view(text).substr(at, d(capacity)));
    CHECK(ends.two.has_bytes() == (heard.size() < at));
    heard += take(ends.two, d(capacity));
    CHECK(ends.one.not_taken() == at - heard.size());
  }
  CHECK((heard == text));
  CHECK(take(ends.two, 1).empty());
  CHECK_FALSE(ends.one.has_bytes());
}

TEST_CASE("a full ring takes no more until bytes are taken, and its end is rung for when half of it is free") {
  two_ends ends;
  CHECK(put(ends.one, std::string(capacity + 1, 'x')) == capacity);
  CHECK(put(ends.one, "x") == 0);
  CHECK_FALSE(ends.one.has_room());
  CHECK_FALSE(ends.one.ask_for_room());
  CHECK(take(ends.two, capacity / 2 - 1).size() == capacity / 2 - 1);
  CHECK_FALSE(ends.two.must_ring_for_room());
  CHECK(take(ends.two, 1).size() == 1);
  CHECK(ends.one.has_room());
  CHECK(ends.two.must_ring_for_room());
  CHECK_FALSE(ends.two.must_ring_for_room());  // once for each time that it asks
  CHECK(put(ends.one, std::string(capacity, 'x')) == capacity / 2);
}

TEST_CASE("an end that sleeps is rung for once, one that is awake is not, and the last bytes come before the end") {
  two_ends ends;
  put(ends.one, "a");
  CHECK(ends.one.must_ring());
  put(ends.one, "b");
  CHECK_FALSE(ends.one.must_ring());  // it was rung for
  ends.two.sleep();
  CHECK(ends.one.must_ring());
  ends.two.wake();
  CHECK_FALSE(ends.one.must_ring());
  ends.one.end();
  CHECK(ends.two.is_ended());
  CHECK(take(ends.two, 9) == "ab");
  CHECK(put(ends.two, "still") == 5);
}

// One end in a thread, which sleeps whenever nothing has come, until it is rung for.
struct sleeper {
  ring_end& mine;
  std::counting_semaphore<>&bell, &bell_of_other;

  std::size_t wait_for_byte() {
    for (std::byte b;;) {
      if (mine.take({&b, 1}) == 1) return 1;
      mine.sleep();
      if (!mine.has_bytes() && !bell.try_acquire_for(20s)) return 0;
      mine.wake();
    }
  }
  void say() {
    put(mine, "x");
    if (mine.must_ring()) bell_of_other.release();
  }
};

TEST_CASE("no end sleeps over what came, however the two meet") {
  two_ends ends;
  std::counting_semaphore<> bells[2]{std::counting_semaphore<>(0), std::counting_semaphore<>(0)};
  sleeper one{ends.one, bells[0], bells[1]}, two{ends.two, bells[1], bells[0]};
  constexpr int rounds = 20'000;
  int heard = 0;
  std::thread other([&] {
    while (heard < rounds && two.wait_for_byte() == 1) {
      ++heard;
      two.say();
    }
  });
  int answered = 0;
  for (; answered < rounds; ++answered) {
    one.say();
    if (one.wait_for_byte() != 1) break;
  }
  other.join();
  CHECK(heard == rounds);
  CHECK(answered == rounds);
}

TEST_CASE("an end that says it has put or taken what is not possible is refused, and no byte is touched for it") {
  two_ends ends;
  ends.words[0].put = capacity + 1;
  CHECK_THAT(failure([&] { take(ends.two, 9); }),
             Catch::Contains("data_loss: ") && Catch::Contains("says that it put 65537 bytes into a ring of 65536"));
  ends.words[0].put = std::uint64_t{0} - 1;
  CHECK_THAT(failure([&] { take(ends.two, 9); }), Catch::Contains("data_loss: "));
  put(ends.two, "xyz");
  for (const std::uint64_t taken : {std::uint64_t{4}, ~std::uint64_t{0} - capacity}) {
    ends.words[0].taken = taken;
    CHECK_THAT(failure([&] { put(ends.two, "x"); }), Catch::Contains("took bytes out of a ring that were never there"));
    CHECK(ends.two.not_taken() <= capacity);
  }
}

}  // namespace
