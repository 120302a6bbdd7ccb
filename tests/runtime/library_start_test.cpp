// The library of matrix products takes long to start: it is begun with the session, where it will be of use.
#include <process.hpp>

#include <catch2/catch.hpp>

namespace {

// What a process says that has nothing but that; how it ended instead, if it did not end well.
std::string with(const std::string& what) {
  process p("library_start", PINION_TEST_LIBRARY_START, {"library_start", what});
  std::string said;
  for (std::string more = p.read(); !more.empty(); more = p.read()) said += more;
  const std::string ended = p.wait();
  return ended.empty() ? said : ended;
}

TEST_CASE("sessions without products of floats do not begin the library of products") {
  CHECK(with("a session with no product") == "not begun");
  CHECK(with("a session with a product of doubles") == "not begun");
}

TEST_CASE("a session whose graph has a product of floats, or gains one, begins the library of products") {
  CHECK(with("a session with a product of floats") == "begun");
  CHECK(with("a session that a product comes to") == "begun");
}

TEST_CASE("a process may end while the library of products starts") {
  for (int i = 0; i < 10; ++i) CHECK(with("a session that stays when the process ends") == "begun");
}

#if PINION_HAS_DISTRIBUTED
TEST_CASE("a server begins the library of products") {
  CHECK(with("a server") == "begun");
}
#endif

}  // namespace
