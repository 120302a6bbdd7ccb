// The handshake against somebody who does not know the key: whatever a stranger says, a server serves nothing, and
// whatever a stranger answers, a client does not connect.
#include <rpc/echo.hpp>

#include <fuzz/target.hpp>

namespace fuzz { namespace {

using namespace pinion_tests;

const credentials key = with_key("a key that the stranger does not know");

// The server hears the input from a stranger; returns what it answers.
std::string heard_by_stranger(const std::string& input) {
  sim_network world;
  const auto host = world.host("ps");
  echo_task task(host, key);
  std::string heard;
  world.spawn(misbehave(world, true, input, heard));
  world.run_for(10s);
  law(task.begun == 0 && task.notices == 0 && task.gone.empty(), "a stranger was let in");
  return heard;
}

// Reads what a client says, and answers it with the input.
awaitable<void> pretend(std::shared_ptr<listener> listening, std::string input, std::string& heard) {
  while (true) {
    const auto stream = co_await listening->accept();
    co_await write_text(*stream, input);
    co_await read_all(*stream, heard);
  }
}

// A client hears the input from a server that is none; returns what it says.
std::string heard_by_pretender(const std::string& input) {
  std::string heard;
  echo_world w;
  w.ps->stop();
  const auto host = w.world.host("ps");
  w.world.spawn(pretend(host->listen(ps_at), input, heard));
  law(w.connect(w.way(key), 50ms) != "", "a client has connected with a server that does not know the key");
  return heard;
}

void read(std::string_view input) {
  heard_by_stranger(std::string(input));
  heard_by_pretender(std::string(input));
}

// What real clients and servers begin with, and what they say to each other's beginnings.
std::vector<std::string> seeds() {
  const std::string greeting = heard_by_pretender("").substr(0, 4096), answer = heard_by_stranger(greeting);
  return {greeting, answer, greeting + greeting, answer + answer, "GET / HTTP/1.1\r\n\r\n"};
}

const enrolled here({.name = "handshake",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 64 * input.size() + (std::size_t{4} << 20); },
                     .rounds = 1000});

}}  // namespace fuzz
