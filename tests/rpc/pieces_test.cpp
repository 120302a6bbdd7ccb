// Large payloads in pieces: what is small overtakes them, what is large goes on, and pieces of nothing are refused.
#include <catch2/catch.hpp>

#include <map>

#include <pinion/rpc/outbox.hpp>

#include <rpc/echo.hpp>

namespace {

using namespace pinion_tests;

constexpr std::size_t mib = 1 << 20;
constexpr std::size_t piece = outbox::piece;

// ---- the order

// What an outbox gives to be written: of each frame its id or slot, and the bytes of its payload.
struct written_frames {
  explicit written_frames(std::shared_ptr<shared_memory> with = nullptr) : memory(std::move(with)) {}
  std::shared_ptr<shared_memory> memory;  // null: there is none
  outbox out;
  std::vector<std::string> frames;
  std::string bytes;
  std::uint64_t shared = 0;  // bytes that are not among these

  void add(std::uint64_t id, std::size_t payload) {
    outbox::outgoing next({.kind = frame_kind::notice, .id = id}, mail("control", pattern(payload, id)));
    if (memory) next.share(*memory);
    out.add(std::move(next));
  }
  // One call of the system.
  void write(std::size_t most = ~std::size_t{0}) {
    if (outbox::outgoing* const to_share = out.next_to_share()) to_share->put_piece();
    const auto parts = out.next();
    shared += out.shared();
    std::size_t left = most;
    for (const auto& part : parts) {
      const std::size_t n = std::min(left, part.size());
      bytes.append(static_cast<const char*>(part.data()), n);
      left -= n;
    }
    const auto gone = out.written(most - left);
  }
  void read() {
    for (std::size_t at = 0; at < bytes.size();) {
      frame_header h;
      std::memcpy(&h, bytes.data() + at, sizeof h);
      const bool is_piece = h.kind == frame_kind::piece, whole = h.slot == 0;
      frames.push_back(is_piece ? "piece of " + std::to_string(h.slot)
                                : (h.shared ? "shared "
                                   : whole  ? "whole "
                                            : "begin ") +
                                      std::to_string(h.id));
      at += sizeof h + h.control + (!h.shared && (is_piece || whole) ? h.payload : 0);
    }
  }
  const std::vector<std::string>& all() {
    while (!out.empty()) write();
    read();
    return frames;
  }
};
using texts = std::vector<std::string>;

TEST_CASE("messages of at most a piece go whole and in order; a longer one goes as its beginning and its pieces") {
  written_frames w;
  w.add(1, 10);
  w.add(2, piece);
  w.add(3, piece + 1);
  w.add(4, 0);
  CHECK(w.all() == texts{"whole 1", "begin 3", "piece of 1", "whole 2", "piece of 1", "whole 4"});
  CHECK(w.bytes.size() == w.out.bytes_added());
  CHECK(w.out.cost() == 0);
}

TEST_CASE("the first messages are gone when they are written, whatever is added behind them") {
  written_frames w;
  w.add(1, 10 * piece);
  w.add(2, 10);
  std::uint64_t id = 2;
  while (!w.out.are_gone(2)) {
    w.write();
    w.add(++id, 10);
  }
  CHECK(id == 12);
  CHECK_FALSE(w.out.empty());
  CHECK_FALSE(w.out.are_gone(id));
  CHECK(w.out.added() == id);
}

TEST_CASE("a whole message waits for one piece at most, and a payload for as many bytes of whole ones as a piece has") {
  written_frames w;
  w.add(1, 64 * mib);
  w.write();
  w.add(2, 10);
  w.write();
  for (std::uint64_t id = 3; id < 10; ++id) w.add(id, piece / 2);
  w.write();
  w.write();
  w.read();
  CHECK(w.frames ==
        texts{"begin 1", "piece of 1", "whole 2", "piece of 1", "whole 3", "piece of 1", "whole 4", "piece of 1"});
}

TEST_CASE("of two payloads the shorter is there first, and the oldest is never left waiting") {
  written_frames w;
  w.add(1, 16 * piece);
  for (int i = 0; i < 3; ++i) w.write();
  w.add(2, 6 * piece);
  for (int i = 0; i < 8; ++i) w.write();
  w.read();
  CHECK(w.frames == texts{"begin 1", "piece of 1", "piece of 1", "piece of 1", "piece of 1", "begin 2", "piece of 2",
                          "piece of 2", "piece of 2", "piece of 1", "piece of 2", "piece of 2", "piece of 2"});
}

TEST_CASE("at most sixteen payloads are under way; the next begins when one has ended") {
  written_frames w;
  for (std::uint64_t id = 1; id <= 20; ++id) {
    w.add(id, (60 - 2 * id) * piece);  // each is shorter than those that have begun
    w.write();
  }
  const auto& all = w.all();
  std::size_t open = 0, most = 0;
  std::map<std::string, std::size_t> begun, pieces;
  for (const auto& f : all) {
    if (f.rfind("begin", 0) == 0) most = std::max(most, ++open);
    if (f.rfind("piece", 0) == 0) ++pieces[f];
  }
  CHECK(open == 20);
  CHECK(pieces.size() == 16);
  CHECK(w.out.empty());
}

TEST_CASE("where memory is shared, large payloads lie there, and very large ones are put there while others go") {
  const std::size_t large = outbox::shared_at_once;
  written_frames w(shared_memory::make());
  w.add(1, outbox::worth_sharing);
  w.add(2, outbox::worth_sharing + 1);
  w.add(3, 8 * large);
  w.add(4, large);
  w.write();
  w.add(5, 10);
  w.add(6, large + 1);
  CHECK(w.all() == texts{"whole 1", "shared 2", "shared 4", "whole 5", "shared 6", "shared 3"});
  CHECK(w.bytes.size() + w.shared == w.out.bytes_added());
  CHECK(w.shared == outbox::worth_sharing + 1 + 10 * large + 1);
  CHECK(w.out.cost() == 0);
}

TEST_CASE(
    "what has no room in shared memory goes as if there were none, and a payload that is never sent leaves none") {
  const auto memory = shared_memory::make();
  {
    written_frames w(memory);
    const auto all_but_a_page = memory->find_place(shared_memory::capacity - shared_memory::page);
    w.add(1, 3 * piece);
    w.add(2, outbox::worth_sharing + 1);
    CHECK(w.all() == texts{"whole 2", "begin 1", "piece of 1", "piece of 1", "piece of 1"});
    CHECK(w.shared == 0);
  }
  {
    written_frames w(memory);
    w.add(3, 3 * mib);
    w.add(4, mib);
    const auto gone = w.out.clear();
    CHECK(w.out.empty());
  }
  CHECK(memory->find_place(shared_memory::capacity));
}

TEST_CASE("bytes that are partly written go on where they were") {
  written_frames one, other;
  for (written_frames* w : {&one, &other})
    for (std::uint64_t id = 1; id < 6; ++id) w->add(id, id * 100'000);
  for (std::size_t n = 1; !one.out.empty(); n = n * 7 % 300'007) one.write(n);
  other.all();
  CHECK((one.bytes == other.bytes));
}

// ---- between two sides

sim_options megabytes(std::size_t per_second) {
  sim_options how;
  how.bytes_per_second = per_second * mib;
  how.buffer = 64 << 10;
  return how;
}

TEST_CASE("C3: a small value behind one of 64 MiB waits for one piece, asked or answered") {
  const bool asked = GENERATE(true, false);
  auto how = megabytes(100);
  how.write_now_percent = GENERATE(0u, 100u);
  echo_world w(how);
  channel& way = w.connected();
  const auto large = asked ? ask(way, keep, "large", pattern(64 * mib)) : ask(way, same, "large", pattern(64 * mib));
  w.world.run_for(asked ? 100ms : 700ms);  // in the middle of it
  CHECK(large->times == 0);
  const auto began = w.world.now();
  const auto small = ask(way, same, "small", pattern(1000));
  CHECK(w.until([&] { return small->times == 1; }) <= 10ms);
  CHECK(small->payload == pattern(1000));
  CHECK(w.world.now() - began <= 10ms);
  w.world.run_for(2s);
  CHECK(large->times == (asked ? 0 : 1));
  if (!asked) CHECK((large->payload == pattern(64 * mib)));
  if (asked) CHECK(w.ps->kept.size() == 1);
}

TEST_CASE("C3: a value of 1 MiB behind one of 64 MiB is there in a third of the time") {
  echo_world w(megabytes(100));
  channel& way = w.connected();
  const auto large = ask(way, keep, "large", pattern(64 * mib));
  w.world.run_for(100ms);
  const auto medium = ask(way, late, "medium", pattern(mib));
  CHECK(w.until([&] { return medium->times == 1; }) <= 1s + 40ms);
  CHECK(w.ps->kept.size() == 1);  // it ended meanwhile
}

TEST_CASE("C3: large payloads at once arrive whole, each at its place, whatever the weather") {
  sim_options how;
  how.seed = GENERATE(range(1u, 7u));
  how.write_now_percent = how.seed % 2 == 0 ? 60 : 0;
  how.max_chunk = how.seed % 3 == 0 ? 1000 : 64 << 10;
  echo_world w(how);
  channel& way = w.connected();
  std::vector<std::shared_ptr<answer>> answers;
  const auto bytes = [&](std::size_t i) { return (i * 7919 * how.seed) % (3 * mib); };
  for (std::size_t i = 0; i < 40; ++i) {
    answers.push_back(ask(way, same, std::to_string(i), pattern(bytes(i), i)));
    w.world.run_for(std::chrono::microseconds(i * 50));
  }
  w.world.run_for(20s);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CHECK(answers[i]->times == 1);
    CHECK((answers[i]->payload == pattern(bytes(i), i)));
  }
}

TEST_CASE("Q1: a sender that dies between pieces fails what it had begun, once, and what it had not") {
  const bool dies = GENERATE(true, false);
  echo_world w(megabytes(10));
  channel& way = w.connected();
  const auto one = ask(way, same, "one", pattern(4 * mib)), two = ask(way, same, "two", pattern(5 * mib));
  w.world.run_for(700ms);  // the one comes back, and the other goes there still
  if (dies)
    w.world.kill("ps");
  else
    w.world.reset("worker", "ps");
  w.world.run_for(5s);
  for (const auto& a : {one, two}) {
    CHECK(a->times == 1);
    CHECK_THAT(a->failure, Catch::StartsWith("unavailable: lost " + ps_title));
  }
}

TEST_CASE("C4: a lane is not dead whose pieces take long, and heartbeats are answered between them") {
  sim_options slow;
  slow.bytes_per_second = 200'000;
  slow.buffer = 16 << 10;
  echo_world w(slow);
  channel& way = w.connected();
  const auto large = ask(way, same, "", pattern(4 * mib));
  w.world.run_for(10s);
  CHECK(way.view().silence < 2 * heartbeat);
  w.world.run_for(60s);
  CHECK(large->times == 1);
  CHECK(way.generation() == 1);
}

// ---- peers that lie

struct lie_in_pieces {
  const char* what;
  std::string text, reason;
};
std::string beginning(std::uint16_t slot, std::uint64_t payload) {
  return frame({.kind = frame_kind::notice, .method = same, .slot = slot, .payload = payload}, "x");
}
std::string piece_of(std::uint16_t slot, std::size_t bytes, const std::string& control = {}) {
  return frame({.kind = frame_kind::piece, .slot = slot}, control, pattern(bytes));
}
const std::vector<lie_in_pieces> lies_in_pieces{
    {"a piece of nothing", piece_of(1, 10), "a piece comes of a message that has not begun"},
    {"a piece of slot 0", piece_of(0, 10), "a piece comes of a message that has not begun"},
    {"a piece of another message than the one begun", beginning(1, 100) + piece_of(2, 10),
     "a piece comes of a message that has not begun"},
    {"a piece after the last", beginning(1, 10) + piece_of(1, 10) + piece_of(1, 1),
     "a piece comes of a message that has not begun"},
    {"a piece that is too long", beginning(1, 100) + piece_of(1, 60) + piece_of(1, 41),
     "a piece comes with 0 bytes of control and 41 of payload, of which 40 are left"},
    {"a piece of nothing at all", beginning(1, 100) + piece_of(1, 0),
     "a piece comes with 0 bytes of control and 0 of payload, of which 100 are left"},
    {"a piece with a control part", beginning(1, 100) + piece_of(1, 10, "x"),
     "a piece comes with 1 bytes of control and 10 of payload, of which 100 are left"},
    {"a second message in one slot", beginning(3, 100) + piece_of(3, 1) + beginning(3, 100),
     "a message in pieces begins in the slot of another, of which 99 bytes are left"},
    {"a piece in memory that nobody shares",
     beginning(1, 100) + frame({.kind = frame_kind::piece, .shared = 1, .slot = 1, .payload = 50}),
     "a message says that its bytes lie in shared memory, where payloads do alone"},
    {"no payload in shared memory", frame({.kind = frame_kind::notice, .shared = 1, .method = same}),
     "a message says that its bytes lie in shared memory, where payloads do alone"},
    {"a payload in memory that nobody shares",
     frame({.kind = frame_kind::notice, .shared = 1, .method = same, .payload = 50}),
     "a payload is said to lie in shared memory, and there is none"},
    {"a slot beyond the last", beginning(17, 100), "a message in pieces has the slot 17; the last is 16"},
    {"pieces of no payload", beginning(1, 0), "a message without a payload announces pieces of one"},
    {"a payload beyond the limit", beginning(1, std::uint64_t{1} << 60), "bytes of payload; the limit is"},
};

TEST_CASE("C2: pieces that are not those of a message close their connection with a sentence, and disturb no other") {
  const auto& lie = lies_in_pieces[GENERATE(range(std::size_t{0}, std::size_t{14}))];
  INFO(lie.what);
  std::string heard;
  echo_world w;
  channel& way = w.connected();
  const auto under_way = ask(way, same, "well", pattern(3 * mib));
  const auto rude = start(*w.other, misbehave(*w.other, false, lie.text, heard));
  w.world.run_for(100ms);
  CHECK(rude->text() == well);
  REQUIRE(w.ps->gone.size() == 1);
  CHECK_THAT(w.ps->gone[0], Catch::Contains(lie.reason));
  w.world.run_for(2s);
  CHECK((under_way->payload == pattern(3 * mib)));
}

TEST_CASE("C2: an answer in pieces that lies fails its request once, and an answer to nobody is passed over") {
  const std::string stray = frame({.kind = frame_kind::reply, .slot = 5, .id = 99, .payload = 300'000}, "who?"),
                    rest = piece_of(5, 200'000) + piece_of(5, 100'000),
                    mine = frame({.kind = frame_kind::reply, .slot = 1, .id = 2, .payload = 20}, "well");
  const bool lies = GENERATE(false, true);
  echo_world w;
  w.ps->stop();
  const auto host = w.world.host("ps");
  const auto liar = start(
      *host, lie(host, host->listen(ps_at), {stray + mine + piece_of(1, 10) + rest + piece_of(1, lies ? 11 : 10)}));
  const auto a = ask(w.connected(), keep, "");
  w.world.run_for(1s);
  CHECK(a->times == 1);
  if (lies) CHECK_THAT(a->failure, Catch::Contains("11 of payload, of which 10 are left"));
  if (!lies) CHECK(a->payload == pattern(10) + pattern(10));
}

}  // namespace
