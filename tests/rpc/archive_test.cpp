// Archives: what goes in comes out, and whatever comes in ends well or with data_loss.
#include <pinion/base/utf8.hpp>
#include <pinion/rpc/archive.hpp>
#include <pinion/rpc/arriving_bytes.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/typed.hpp>

#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <map>
#include <random>

#include <support/caught.hpp>

namespace {

using namespace pinion;

enum class colour : std::uint8_t { red, green, blue };

// A message as others write theirs.
struct archived_letter {
  std::string to;
  std::vector<std::string> lines;
  std::vector<double> weights;
  std::vector<std::pair<int, bool>> marks;
  std::optional<std::int64_t> stamp;
  colour paper = colour::red;

  template <class A>
  void serialize(A& a) {
    a(to, lines, weights, marks, stamp, paper);
  }
  friend bool operator==(const archived_letter&, const archived_letter&) = default;
};

const archived_letter sample{"Ada", {"one", "", "three"}, {.5, -2}, {{1, true}, {2, false}}, 7, colour::blue};

// One that holds others of its kind.
struct tree {
  std::vector<tree> branches;
};
void save(rpc::writer& a, const tree& t) {
  a(t.branches);
}
void load(rpc::reader& a, tree& t) {
  const rpc::deeper level(a);
  a(t.branches);
}
tree nested(int levels) {
  return levels > 1 ? tree{{nested(levels - 1)}} : tree{};
}

template <class... T>
std::string encoded(const T&... values) {
  rpc::writer w;
  w(values...);
  return w.control;
}
template <class T>
T decoded(std::string_view control, std::uint64_t payload = 0) {
  T value{};
  rpc::reader r(control, payload);
  r(value);
  r.finish();
  return value;
}
template <class T>
T again(const T& value) {
  return decoded<T>(encoded(value));
}
// A count that may well lie, before some bytes.
std::string announced(std::uint32_t count, std::string bytes = {}) {
  return encoded(count) + bytes;
}

// ---- round trips

TEST_CASE("numbers come out as they went in, in their own width") {
  CHECK(encoded(std::int8_t{-1}, std::uint16_t{0x0102}) == std::string("\xff\x02\x01"));
  CHECK(again(std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
  CHECK(again(std::numeric_limits<float>::denorm_min()) == std::numeric_limits<float>::denorm_min());
  CHECK(std::isnan(again(std::numeric_limits<double>::quiet_NaN())));
  CHECK(again(colour::green) == colour::green);
}

TEST_CASE("messages of texts, lists, pairs and what may be missing come out as they went in") {
  CHECK(again(sample) == sample);
  CHECK(again(archived_letter{}) == archived_letter{});
  CHECK(again(std::vector<bool>{true, false, true}) == std::vector<bool>{true, false, true});
  CHECK(again(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(again(std::vector<archived_letter>{sample, {}}) == std::vector<archived_letter>{sample, {}});
}

TEST_CASE("Cereal's own containers may be used beside ours, in the same unit") {
  const std::map<std::string, std::vector<int>> numbers{{"a", {1, 2}}, {"b", {}}};
  CHECK(again(numbers) == numbers);
  CHECK_THROWS_AS((decoded<std::map<std::string, int>>(announced(1000000))), error);
}

TEST_CASE("a value is replaced, not added to") {
  std::vector<std::string> lines{"old", "older"};
  std::optional<int> maybe = 3;
  const std::string control = encoded(std::vector<std::string>{"new"}, std::optional<int>{});
  rpc::reader r(control, 0);
  r(lines, maybe);
  CHECK(lines == std::vector<std::string>{"new"});
  CHECK_FALSE(maybe);
}

// ---- what is attached

TEST_CASE("attached bytes are not copied, and kept by their owner") {
  auto bytes = std::make_shared<std::vector<int>>(100, 1);
  const std::weak_ptr<std::vector<int>> watch = bytes;
  {
    rpc::writer w;
    w.attach(bytes->data(), 400, bytes);
    w.attach(bytes->data(), 0, bytes);
    CHECK(w.parts.size() == 1);
    CHECK(w.payload_bytes() == 400);
    CHECK(w.parts[0].data == static_cast<const void*>(bytes->data()));
    CHECK(w.control.empty());
    bytes.reset();
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
}

TEST_CASE("C2: nothing is built that is larger than a message may be: it is refused before memory is taken for it") {
  rpc::writer w;
  const rpc::limits most;
  std::byte some{};
  CHECK(caught([&] { w.expect_room(most.control + 1); }).code() == errc::resource_exhausted);
  w.put(&some, 1);
  CHECK_NOTHROW(w.expect_room(most.control - 1));
  const error e = caught([&] { w.expect_room(most.control); });
  CHECK(e.sentence().find("more than 268435456 bytes of control") != std::string::npos);
  CHECK(w.control.size() == 1);
  w.attach(&some, most.payload, nullptr);
  CHECK(caught([&] { w.attach(&some, 1, nullptr); }).code() == errc::resource_exhausted);
  CHECK(w.parts.size() == 1);
}

TEST_CASE("a tensor claims its bytes before it is made, and says where they go") {
  std::vector<std::byte> room(60);
  rpc::reader r("", 100);
  r.claim(60);
  r.rooms.add(room);
  CHECK(failure([&] { r.claim(41); }) == "data_loss: a tensor of 41 bytes, where the message has 40 more");
  CHECK_THROWS_AS(r.claim(std::numeric_limits<std::uint64_t>::max()), error);
  CHECK(failure([&] { r.finish(); }) == "data_loss: a message has 40 bytes that belong to no tensor");
  r.claim(40);
  CHECK_NOTHROW(r.finish());
  REQUIRE(r.rooms.all().size() == 1);
  CHECK(r.rooms.all()[0].data() == room.data());
}

TEST_CASE("of a payload that was lent, what is large and aligned is borrowed; nothing is of one that is to come") {
  constexpr std::size_t large = 16 << 10;
  const std::shared_ptr<std::byte> lent(new std::byte[8 * large], std::default_delete<std::byte[]>());
  rpc::payload_rooms rooms(lent), of_none;
  CHECK_FALSE(of_none.borrow(large));
  const auto first = rooms.borrow(large);
  CHECK(first == lent);
  CHECK(rooms.borrow(large + 4).get() == lent.get() + large);
  CHECK_FALSE(rooms.borrow(large));  // it is not aligned
  std::vector<std::byte> room(60);
  rooms.add(room);
  CHECK_FALSE(rooms.borrow(large - 1));
  CHECK(rooms.borrow(large).get() == lent.get() + 2 * large + 64);
  REQUIRE(rooms.all().size() == 4);
  CHECK(rooms.all()[0].data() == lent.get());
  CHECK(rooms.all()[2].data() == room.data());
}

TEST_CASE("booleans of a payload are 0 or 1") {
  std::vector<std::byte> flags(1000), others(1000, std::byte{7});
  rpc::payload_rooms rooms;
  rooms.add(others);
  rooms.add_booleans(flags);
  rooms.add_booleans({});
  CHECK(rooms.all().size() == 2);
  CHECK_NOTHROW(rooms.check());
  flags[10] = flags[999] = std::byte{1};
  CHECK_NOTHROW(rooms.check());
  flags[GENERATE(0u, 500u, 999u)] = std::byte{255};
  CHECK(failure([&] { rooms.check(); }) ==
        "data_loss: a tensor of booleans came with a byte of 255; a boolean is 0 or 1");
}

TEST_CASE("bytes that are announced take memory as they come, at most twice as much, and go where they belong") {
  CHECK(rpc::arriving_bytes(std::uint64_t{1} << 60).next_room().size() == 1 << 20);
  CHECK(rpc::arriving_bytes(0).next_room().empty());
  const std::size_t size = (5 << 20) + 123;
  rpc::arriving_bytes all(size);
  std::size_t come = 0;
  for (auto room = all.next_room(); !room.empty(); room = all.next_room()) {
    CHECK(room.size() <= std::max<std::size_t>(come, 1 << 20));
    for (std::byte& b : room) b = std::byte(come++ % 251);
  }
  CHECK(come == size);
  std::vector<std::byte> whole(size);
  const std::span<std::byte> to(whole);
  const std::vector<std::span<std::byte>> rooms{to.first(1), to.subspan(1, 2 << 20), to.subspan((2 << 20) + 1)};
  all.move_to(rooms);
  bool right = true;
  for (std::size_t i = 0; i < size; ++i) right = right && whole[i] == std::byte(i % 251);
  CHECK(right);
}

// ---- what does not hold together

TEST_CASE("a message that ends early, or late, says so") {
  CHECK(failure([] { decoded<std::int64_t>("abc"); }) == "data_loss: a message ends early: 8 bytes wanted, 3 left");
  CHECK(failure([] { decoded<bool>(std::string("\1\0", 2)); }) ==
        "data_loss: a message has 1 bytes more than were expected");
}

TEST_CASE("no prefix of a message is a message") {
  const std::string whole = encoded(std::vector<archived_letter>{sample, sample});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    INFO(n);
    CHECK(caught([&] { decoded<std::vector<archived_letter>>(std::string_view(whole).substr(0, n)); }).code() ==
          errc::data_loss);
  }
}

TEST_CASE("a count that lies allocates nothing") {
  const std::uint32_t many = 0xffffffff;
  CHECK(failure([&] { decoded<std::string>(announced(many, "abc")); }) ==
        "data_loss: a message ends early: 4294967295 elements announced, 3 bytes left");
  CHECK_THROWS_AS(decoded<std::vector<double>>(announced(many)), error);
  CHECK_THROWS_AS(decoded<std::vector<double>>(announced(2, std::string(15, 'x'))), error);
  CHECK_THROWS_AS(decoded<std::vector<archived_letter>>(announced(many)), error);
  CHECK_THROWS_AS(decoded<std::vector<bool>>(announced(many)), error);
}

TEST_CASE("elements are made as their bytes are read, however many are announced") {
  std::vector<std::string> lines;
  const std::string control = announced(1000, std::string(1000, '\0'));
  rpc::reader r(control, 0);
  CHECK_THROWS_AS(r(lines), error);
  CHECK(lines.size() == 251);
  CHECK(lines.capacity() <= 1000);
}

TEST_CASE("a bool is 0 or 1") {
  CHECK(failure([] { decoded<bool>("\2"); }) == "data_loss: a message holds a bool of 2");
  CHECK_THROWS_AS(decoded<std::vector<bool>>(announced(1, "\xff")), error);
  CHECK_THROWS_AS(decoded<std::optional<int>>(std::string("\3\0\0\0\0", 5)), error);
}

TEST_CASE("a choice is one of those known here") {
  rpc::writer w;
  rpc::save_choice(w, colour::blue);
  rpc::reader good(w.control, 0), bad("\3", 0);
  CHECK(rpc::load_choice(good, colour::blue, "colour") == colour::blue);
  CHECK(failure([&] { rpc::load_choice(bad, colour::blue, "colour"); }) ==
        "data_loss: a message holds colour number 3, which is not known here");
}

TEST_CASE("what nests is read to a depth of 16, and the levels are given back") {
  CHECK_NOTHROW(again(nested(16)));
  CHECK(failure([] { again(nested(17)); }) == "data_loss: a message is nested more than 16 levels deep");
  CHECK_NOTHROW(again(tree{std::vector<tree>(100)}));
}

TEST_CASE("an error is a short message, however long its texts are, and no character of them is cut") {
  std::string name;
  while (name.size() < 200'000) name += "\u00e4b\u20ac";
  const error why = error(errc::cancelled, name).at_node(name, name, name).on_device(name).in_task(name);
  rpc::writer w;
  save(w, why);
  CHECK(w.control.size() < rpc::long_control);
  rpc::reader in(w.control, 0);
  error got(errc::unknown, "");
  load(in, got);
  CHECK(got.code() == errc::cancelled);
  for (const auto& text : {got.sentence(), got.node(), got.op(), got.device(), got.task()}) {
    CHECK(text.ends_with("..."));
    CHECK(is_utf8(text));
    CHECK(std::string_view(name).starts_with(std::string_view(text).substr(0, text.size() - 3)));
  }
}

TEST_CASE("whatever bytes are changed, reading ends well or with data_loss") {
  const std::string whole = encoded(std::vector<archived_letter>{sample, sample, {}});
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string changed = whole;
    for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    try {
      decoded<std::vector<archived_letter>>(changed);
    } catch (const error& e) {
      CHECK(e.code() == errc::data_loss);
    }
  }
}

}  // namespace
