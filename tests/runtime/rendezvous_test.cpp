// Where the parts of a step of one process meet.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/runtime/step/rendezvous.hpp>

namespace {

using namespace pinion;

TEST_CASE("a second receiver of a key is refused at once, and the first is served") {
  runtime::local_rendezvous meet;
  std::vector<std::string> heard;
  for (const char* who : {"first", "second"})
    meet.receive(transfer_key("k"), [&heard, who](const outcome<handed_over>& received) {
      heard.push_back(std::string(who) + ": " + (received ? "served" : received.failure()->sentence()));
    });
  CHECK(heard == std::vector<std::string>{"second: the value 'k' is received twice; it is sent once"});
  meet.send(transfer_key("k"), {});
  CHECK(heard.back() == "first: served");
}

TEST_CASE("after an abort every receiver is told why, once") {
  runtime::local_rendezvous meet;
  int told = 0;
  const auto count = [&told](const outcome<handed_over>& received) { told += !received; };
  meet.receive(transfer_key("a"), count);
  meet.abort(error(errc::cancelled, "over"));
  meet.receive(transfer_key("a"), count);
  CHECK(told == 2);
}

}  // namespace
