// A connection whose peer has passed the handshake and sends what it likes: requests are answered once, whether by the
// peer or by the end of the connection, and the connection ends once.
#include <cstring>

#include <rpc/echo.hpp>

#include <fuzz/target.hpp>

namespace fuzz { namespace {

using namespace pinion_tests;

constexpr limits allowed{.control = 1 << 16, .payload = 1 << 16};

// A connection on the simulated network, its four requests, and what became of them.
struct story {
  sim_network world;
  std::shared_ptr<sim_network> host = world.host("there");
  std::shared_ptr<listener> listening = host->listen("there:1");
  std::shared_ptr<connection> held;
  std::vector<responder> kept;
  int answers[4] = {}, ends = 0;

  // Whoever reads a message by its method: some are taken, some dropped, some refused.
  std::unique_ptr<incoming> request(const envelope& e, responder to) {
    if (e.method % 5 == drop) return nullptr;
    if (e.method % 5 == refuse) throw error(errc::permission_denied, "not that");
    const auto answer = std::make_shared<responder>(std::move(to));
    return std::make_unique<letter>(e, [this, m = e.method, answer](std::string control, std::string payload) {
      if (m % 5 == same) answer->reply(mail(std::move(control), std::move(payload)));
      if (m % 5 == keep) kept.push_back(std::move(*answer));
      if (m % 5 == 0) answer->fail(refusal());
    });
  }
  static std::unique_ptr<incoming> notice(const envelope& e) {
    return e.method % 2 == 0 ? nullptr : std::make_unique<letter>(e, [](auto&&...) {});
  }
  void ask(int i) {
    const auto count = [this, i](auto&&...) { ++answers[i]; };
    held->request(same, mail("question", pattern(40)),
                  {.open = [count](const envelope& e) { return std::make_unique<letter>(e, count); }, .failed = count});
  }
  awaitable<void> serve() {
    held = std::make_shared<connection>(*host, co_await listening->accept(), std::make_shared<traffic>(), allowed);
    held->start({.request = [this](const envelope& e, responder to) { return request(e, std::move(to)); },
                 .notice = notice,
                 .closed = [this](const error&) { ++ends; }});
    held->notify(1, mail("notice"));
    for (int i = 0; i < 4; ++i) ask(i);
  }
};

awaitable<void> speak(network& net, std::string text, std::string& heard) {
  const auto stream = co_await net.connect("there:1", never);
  co_await write_text(*stream, text);
  co_await read_all(*stream, heard);
}

// Returns what the connection says to a peer that says this.
std::string heard_by(const std::string& peer) {
  std::string heard;
  story s;
  s.host->spawn(s.serve());
  s.world.spawn(speak(s.world, peer, heard));
  s.world.run_for(1s);
  law(s.held != nullptr, "a connection was not made");
  s.held->close(error(errc::cancelled, "the end"));
  s.world.run_for(1s);
  law(s.ends == 1, "a connection ended " + std::to_string(s.ends) + " times");
  for (const int times : s.answers) law(times == 1, "a request was answered " + std::to_string(times) + " times");
  return heard;
}

void read(std::string_view input) {
  heard_by(std::string(input));
}

// The frames of a text; the last one takes what is left.
struct said {
  frame_header head;
  std::string control, payload;
};
std::vector<said> frames_of(std::string_view text) {
  std::vector<said> all;
  const auto take = [&](std::uint64_t bytes) {
    const std::string_view taken =
        text.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, text.size())));
    text.remove_prefix(taken.size());
    return std::string(taken);
  };
  while (text.size() >= sizeof(frame_header)) {
    said f;
    std::memcpy(&f.head, take(sizeof f.head).data(), sizeof f.head);
    f.control = take(f.head.control);
    f.payload = take(f.head.payload);
    all.push_back(std::move(f));
  }
  return all;
}

void change_head(frame_header& h, dice& random) {
  switch (random(6)) {
    case 0: h.kind = static_cast<frame_kind>(random(7)); return;
    case 1: h.id = random(6); return;
    case 2: h.method = static_cast<method>(random(6)); return;
    case 3: h.control += random(3) - 1; return;
    case 4: h.payload += random(3) - 1; return;
    case 5: h.control = std::uint64_t{1} << random(64); return;
  }
}

// The frames again, each with the lengths that it has, but for one, or in another order, or one of them twice.
std::string change(std::string input, dice& random) {
  std::vector<said> all = frames_of(input);
  if (all.empty()) return frame({.kind = frame_kind::request, .method = same, .id = 1}, input);
  for (said& f : all) {
    f.head.magic = frame_header::expected_magic;
    f.head.control = f.control.size();
    f.head.payload = f.payload.size();
  }
  if (random(2) == 0) change_head(all[random(all.size())].head, random);
  if (random(4) == 0) std::swap(all[random(all.size())], all[random(all.size())]);
  if (random(4) == 0) all.push_back(all[random(all.size())]);
  std::string made;
  for (const said& f : all)
    made += std::string(reinterpret_cast<const char*>(&f.head), sizeof f.head) + f.control + f.payload;
  return made;
}

// What connections say to each other: the questions, the answers to them, and a farewell.
std::vector<std::string> seeds() {
  const std::string questions = heard_by(""), answers = heard_by(questions);
  std::string of_each;
  for (std::uint16_t m = 0; m < 6; ++m)
    if (m != refuse) of_each += frame({.kind = frame_kind::request, .method = m, .id = m}, "a", pattern(300));
  return {questions, answers, of_each + questions, questions + answers + answers};
}

const enrolled here({.name = "frames",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 64 * input.size() + (std::size_t{2} << 20); },
                     .change = change});

}}  // namespace fuzz
