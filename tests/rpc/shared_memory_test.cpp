// Memory that the ends of a connection share: what goes through it, who gets none, and what a peer may not do with it.
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <optional>

#include <asio/local/connect_pair.hpp>
#include <catch2/catch.hpp>

#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/shared_memory/local_network.hpp>
#include <pinion/rpc/shared_memory/ring_stream.hpp>
#include <pinion/rpc/shared_memory/shared_memory.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include <rpc/echo.hpp>
#include <support/certificates.hpp>

namespace {

using namespace pinion_tests;

constexpr std::size_t a_mib = 1 << 20;

// ---- pages

constexpr std::size_t page = shared_memory::page;

descriptor again(const descriptor& file) {
  return descriptor(::dup(file.get()));
}
// The two ends of one memory.
struct both_ends {
  std::shared_ptr<slab_account> account = std::make_shared<slab_account>();  // of the server
  std::shared_ptr<shared_memory> client = shared_memory::make();
  std::shared_ptr<shared_memory> server = shared_memory::adopt(again(client->mapping().file()), account);
};
// Lends a text, and returns the number of its first page.
std::size_t lend(shared_memory& by, const std::string& text) {
  auto place = by.find_place(text.size());
  REQUIRE(place);
  const auto bytes = std::as_bytes(std::span(text));
  place.put(bytes.first(bytes.size() / 3));
  place.put(bytes.subspan(bytes.size() / 3));
  return place.lend();
}
std::string text_of(const std::shared_ptr<std::byte>& lent, std::size_t bytes) {
  return {reinterpret_cast<const char*>(lent.get()), bytes};
}

TEST_CASE("what one end lends is seen by the other, both ways, as often as pages come back") {
  both_ends ends;
  for (std::size_t i = 1; i < 50; ++i) {
    const auto text = pattern(i * 400'000, i), back = pattern(i * 410'000, 2 * i);
    const auto lent = ends.server->borrow(lend(*ends.client, text), text.size());
    const auto other = ends.client->borrow(lend(*ends.server, back), back.size());
    CHECK((text_of(lent, text.size()) == text));
    CHECK((text_of(other, back.size()) == back));
  }
}

TEST_CASE("pages are lent anew when the last who holds them is gone, in any order, and not before") {
  both_ends ends;
  const auto place_of = [&](std::size_t pages) { return ends.client->find_place(pages * page); };
  const auto all = shared_memory::pages;
  std::vector<std::shared_ptr<std::byte>> lent;
  for (const std::size_t pages : {all / 2, all / 4, all / 4})
    lent.push_back(ends.server->borrow(place_of(pages).lend(), pages * page));
  CHECK_FALSE(place_of(1));
  auto second = lent[1];
  lent[1] = nullptr;
  CHECK_FALSE(place_of(1));
  lent[0] = nullptr;
  CHECK_FALSE(place_of(all / 2 + 1));
  {
    const auto place = place_of(all / 2);
    CHECK(place);
    CHECK_FALSE(place_of(1));
  }
  CHECK(place_of(all / 2));
  second = nullptr;
  CHECK(place_of(all / 2 + all / 4));
  CHECK_FALSE(place_of(all));
  lent.clear();
  CHECK(place_of(all));
  CHECK_FALSE(place_of(all + 1));
}

TEST_CASE("bytes that were lent stay while somebody holds them, also when both ends are gone") {
  const auto text = pattern(100'000, 1);
  std::shared_ptr<std::byte> lent;
  {
    both_ends ends;
    lent = ends.server->borrow(lend(*ends.client, text), text.size());
  }
  CHECK((text_of(lent, text.size()) == text));
}

TEST_CASE("a peer that gives back what it was never lent, or twice, gets no page that another value is in") {
  both_ends ends;
  const auto text = pattern(3 * page, 1), more = pattern(3 * page, 2);
  const std::size_t first = lend(*ends.client, text);
  for (const std::size_t lie : {first + 1, first + 3, shared_memory::pages - 1}) ends.server->borrow(lie, 1);
  const std::size_t next = lend(*ends.client, more);
  CHECK(next == first + 3);
  for (int i = 0; i < 2; ++i) ends.server->borrow(first, text.size());
  CHECK(lend(*ends.client, more) == first);
  CHECK((text_of(ends.server->borrow(next, more.size()), more.size()) == more));
}

TEST_CASE("bytes are not borrowed from where an end has no pages") {
  both_ends ends;
  const auto all = shared_memory::capacity;
  CHECK_NOTHROW(ends.server->borrow(0, all));
  CHECK_NOTHROW(ends.server->borrow(shared_memory::pages - 1, page));
  for (const auto& [first, bytes] : std::vector<std::pair<std::size_t, std::uint64_t>>{
           {0, all + 1}, {1, all}, {shared_memory::pages - 1, page + 1}, {7, ~std::uint64_t{0}}})
    CHECK_THAT(failure([&, first = first, bytes = bytes] { ends.server->borrow(first, bytes); }),
               Catch::Contains("data_loss: " + std::to_string(bytes) +
                               " bytes are said to lie in shared memory from its "
                               "page " +
                               std::to_string(first) + " on, and it has 65536 pages"));
}

// The memory that a file takes.
std::size_t taken_by(const descriptor& file) {
  struct stat is {};
  ::fstat(file.get(), &is);
  return static_cast<std::size_t>(is.st_blocks) * 512;
}

TEST_CASE("memory goes back to the system when no page was lent for a while, but for what is still held") {
  both_ends ends;
  const auto text = pattern(4 * a_mib, 1);
  const auto trim = [&] {
    for (int i = 0; i < 2; ++i) ends.client->trim();
  };
  ends.client->trim();
  const auto first = ends.server->borrow(lend(*ends.client, text), text.size());
  auto second = ends.server->borrow(lend(*ends.client, text), text.size());
  auto third = ends.server->borrow(lend(*ends.client, text), text.size());
  const std::size_t before = taken_by(ends.client->mapping().file());
  CHECK(before >= 3 * text.size());
  second = nullptr;
  ends.client->trim();
  CHECK(taken_by(ends.client->mapping().file()) >= 3 * text.size());  // a place was found since the last time
  trim();
  CHECK(taken_by(ends.client->mapping().file()) < 2 * text.size() + a_mib);
  CHECK((text_of(first, text.size()) == text));
  CHECK((text_of(third, text.size()) == text));
  third = nullptr;
  trim();
  CHECK(taken_by(ends.client->mapping().file()) < text.size() + a_mib);
  CHECK((text_of(first, text.size()) == text));
}

TEST_CASE("shared memory can neither shrink nor be sealed anew, so that no access to it fails") {
  const auto client = shared_memory::make();
  const int file = client->mapping().file().get();
  CHECK(::ftruncate(file, 0) != 0);
  CHECK(::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) != 0);
}

// A file that a liar offers to share.
descriptor offered(const std::string& what) {
  const std::size_t right = 2 * shared_mapping::end_bytes;
  if (what == "a pipe") {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw error(errc::internal, "no pipe");
    ::close(ends[1]);
    return descriptor(ends[0]);
  }
  if (what == "a file") return descriptor(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  descriptor file(::memfd_create("liar", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool small = what == "less of it";
  if (::ftruncate(file.get(), static_cast<off_t>(small ? 4096 : right)) != 0) throw error(errc::internal, "no memory");
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (what == "memory that may shrink") seals = F_SEAL_GROW | F_SEAL_SEAL;
  if (what == "memory that may be sealed") seals = F_SEAL_SHRINK | F_SEAL_GROW;
  if (what == "memory that nobody may write") seals |= F_SEAL_WRITE;
  ::fcntl(file.get(), F_ADD_SEALS, seals);
  return file;
}
const std::vector<std::pair<std::string, std::string>> offers{
    {"a pipe", "a file to share that is not in memory"},
    {"a file", "a file to share that is not in memory"},
    {"less of it", "gives memory of 4096 bytes to share, where it has "},
    {"memory that may shrink", "it is not sealed"},
    {"memory that may be sealed", "it is not sealed"},
    {"memory that nobody may write", "it is not sealed"}};

TEST_CASE("a file that is not sealed memory of the right size is not shared") {
  for (const auto& [what, why] : offers) {
    INFO(what);
    CHECK_THAT(failure([&, what = what] { shared_memory::adopt(offered(what)); }), Catch::Contains(why));
  }
}

// ---- slabs

// A value in memory of this process that others can be shown.
struct value_in_slab {
  explicit value_in_slab(const std::string& text) : bytes(text.size()) {
    share_host_memory();
    data = {new_host_memory(bytes), [n = bytes](std::byte* p) { delete_host_memory(p, n); }};
    std::memcpy(data.get(), text.data(), bytes);
    where = find_in_slabs(data.get(), bytes);
    REQUIRE(where);
  }
  std::string text() const { return {reinterpret_cast<const char*>(data.get()), bytes}; }
  descriptor file() const { return descriptor(::dup(where->slab->file())); }
  std::size_t bytes;
  std::shared_ptr<std::byte> data;
  std::optional<place_in_slab> where;
};
// Lends the value where it is, after it has shown its slab. Returns the page that tells where it is.
std::size_t lend(both_ends& ends, const value_in_slab& value, std::shared_ptr<const void> owner) {
  if (!ends.client->has_shown(*value.where->slab)) {
    ends.client->note_shown(value.where->slab);
    ends.server->take_shown(value.file());
  }
  auto place = ends.client->find_place(*value.where, value.bytes, std::move(owner));
  REQUIRE(place);
  return place.lend();
}

TEST_CASE("what lies in a slab is lent where it is, and its owner is held until it comes back") {
  both_ends ends;
  const value_in_slab value(pattern(100'000, 3));
  auto owner = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held = owner;
  const std::size_t at = lend(ends, value, std::move(owner));
  auto lent = ends.server->borrow_shown(at, value.bytes);
  REQUIRE(lent);
  CHECK((text_of(lent, value.bytes) == value.text()));
  value.data.get()[5] ^= std::byte{1};
  CHECK((text_of(lent, value.bytes) == value.text()));  // nothing was copied
  CHECK(ends.client->find_place(page));
  CHECK_FALSE(held.expired());
  auto again = lent;
  lent = nullptr;
  CHECK(ends.client->find_place(page));
  CHECK_FALSE(held.expired());
  again = nullptr;
  CHECK(ends.client->find_place(page));
  CHECK(held.expired());
}

TEST_CASE("a loan that was never sent lets its owner go, and so does the end of its connection") {
  const value_in_slab value(pattern(100'000, 3));
  auto owner = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held = owner;
  both_ends ends;
  ends.client->note_shown(value.where->slab);
  { const auto place = ends.client->find_place(*value.where, value.bytes, std::move(owner)); }
  CHECK(held.expired());
  auto other = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held_too = other;
  lend(ends, value, std::move(other));
  ends.client = nullptr;
  CHECK(held_too.expired());
}

TEST_CASE("no more bytes in slabs are lent at a time than an end has pages for") {
  both_ends ends;
  const value_in_slab value(std::string(a_mib, 'x'));
  std::vector<std::shared_ptr<std::byte>> lent;
  for (std::size_t i = 0; i < shared_memory::capacity / a_mib; ++i)
    lent.push_back(ends.server->borrow_shown(lend(ends, value, value.data), value.bytes));
  CHECK_FALSE(ends.client->find_place(*value.where, value.bytes, value.data));
  lent.pop_back();
  CHECK(ends.client->find_place(*value.where, value.bytes, value.data));
}

TEST_CASE("bytes that are said to lie in a slab lie there, or are not borrowed") {
  both_ends ends;
  const value_in_slab value(std::string(100'000, 'x'));
  const std::size_t all = value.where->slab->bytes();
  const auto borrow = [&](std::uint64_t slab, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t told[] = {slab, offset};
    auto place = ends.client->find_place(sizeof told);
    place.put(std::as_bytes(std::span(told)));
    return ends.server->borrow_shown(place.lend(), bytes);
  };
  const auto id = value.where->slab->id();
  CHECK_FALSE(borrow(id, 64, 100));  // it was not shown
  ends.server->take_shown(value.file());
  CHECK(borrow(id, 64, 100));
  CHECK(borrow(id, 0, all));
  CHECK_FALSE(borrow(id + 1000, 64, 100));
  for (const auto& [offset, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {64, all}, {all, 1}, {65, 100}, {~std::uint64_t{63}, 100}, {64, ~std::uint64_t{0}}})
    CHECK_THAT(failure([&, offset = offset, bytes = bytes] { borrow(id, offset, bytes); }),
               Catch::Contains("data_loss: ") && Catch::Contains(" are said to lie at " + std::to_string(offset) +
                                                                 " of a slab of " + std::to_string(all) + " bytes"));
  CHECK_THAT(failure([&] { ends.server->borrow_shown(shared_memory::pages, 100); }),
             Catch::Contains("and it has 65536 pages"));
}

TEST_CASE("a peer that gives back a page before it was lent harms its own values alone") {
  both_ends ends;
  const value_in_slab value(pattern(100'000, 3));
  auto owner = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held = owner;
  ends.client->note_shown(value.where->slab);
  ends.server->take_shown(value.file());
  auto place = ends.client->find_place(*value.where, value.bytes, std::move(owner));
  REQUIRE(place);
  ends.server->borrow(0, page) = nullptr;  // the first page is that of the place
  auto other = ends.client->find_place(page);
  place.lend();
  ends.client->trim();
  ends.server->borrow(0, page) = nullptr;
  CHECK(ends.client->find_place(page));
  CHECK(held.expired());
  const auto at = lend(ends, value, value.data);
  CHECK((text_of(ends.server->borrow_shown(at, value.bytes), value.bytes) == value.text()));
}

std::size_t mapped_slabs() {
  std::ifstream lines("/proc/self/maps");
  std::size_t n = 0;
  for (std::string line; std::getline(lines, line);) n += line.find("memfd:pinion values") != line.npos;
  return n;
}

TEST_CASE("a slab that is gone takes no memory of those who were shown it, once nobody has bytes of it") {
  both_ends ends;
  const std::size_t before = mapped_slabs();
  std::optional<value_in_slab> value(std::string(20 * a_mib, 'x'));
  auto lent = ends.server->borrow_shown(lend(ends, *value, value->data), value->bytes);
  CHECK(mapped_slabs() == before + 2);
  ends.server->trim();
  CHECK(mapped_slabs() == before + 2);
  const auto text = value->text();
  CHECK((text_of(lent, text.size()) == text));
  lent = nullptr;
  value.reset();
  ends.client->trim();
  CHECK(mapped_slabs() == before + 1);
  ends.server->trim();
  CHECK(mapped_slabs() == before);
}

// A slab that somebody has made by hand, of which nothing is written but its number.
descriptor slab_by_hand(std::uint64_t id, std::size_t bytes = 4096) {
  descriptor file(::memfd_create("liar", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0);
  REQUIRE(::pwrite(file.get(), &id, sizeof id, 0) == sizeof id);
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  return file;
}

TEST_CASE("what a peer shows is a slab that cannot shrink") {
  both_ends ends;
  for (const std::string what : {"a pipe", "a file", "memory that may shrink"}) {
    INFO(what);
    CHECK_THAT(failure([&] { ends.server->take_shown(offered(what)); }), Catch::Contains("data_loss: the peer gives "));
  }
  const int empty = ::memfd_create("liar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ::fcntl(empty, F_ADD_SEALS, F_SEAL_SHRINK);
  CHECK_THAT(failure([&] { ends.server->take_shown(descriptor(empty)); }),
             Catch::Contains("data_loss: the peer shows a slab of memory of 0 bytes"));
}

TEST_CASE("L7: one end shows no more slabs, and bytes of them, than is set aside for it, whatever their numbers") {
  both_ends ends{std::make_shared<slab_account>(slab_limits{.of_one = {4, 1 << 20}, .of_all = {1000, 1 << 30}})};
  CHECK_THAT(failure([&] { ends.server->take_shown(slab_by_hand(1, 2 << 20)); }),
             Catch::Contains("resource_exhausted: the peer shows more than 4 slabs of memory, or 1048576 bytes of them "
                             "(its share of server_config.limits.slabs)"));
  const std::uint64_t told[] = {7, 64};
  std::vector<std::shared_ptr<std::byte>> lent;
  for (int i = 0; i < 4; ++i) {
    ends.server->take_shown(slab_by_hand(7));
    auto place = ends.client->find_place(sizeof told);
    place.put(std::as_bytes(std::span(told)));
    lent.push_back(ends.server->borrow_shown(place.lend(), 100));
  }
  CHECK(ends.account->mapped() == slab_count{4, 4 * 4096});
  CHECK_THAT(failure([&] { ends.server->take_shown(slab_by_hand(7)); }), Catch::Contains("more than 4 slabs"));
  lent.pop_back();
  lent.pop_back();
  ends.server->take_shown(slab_by_hand(8));
}

TEST_CASE("L7: connections together map no more than a task may, and none that comes takes all that is left") {
  const auto account = std::make_shared<slab_account>(slab_limits{.of_one = {512, 1 << 20}, .of_all = {1024, 8 << 20}});
  std::vector<both_ends> all(64, both_ends{nullptr, nullptr, nullptr});
  std::uint64_t slabs = 0;
  for (auto& ends : all) {
    ends = {account, shared_memory::make()};
    const auto shows_one_more = [&] {
      const std::string why = failure([&] { ends.server->take_shown(slab_by_hand(++slabs)); });
      return why.find("resource_exhausted: the peer shows more than ") == why.npos;
    };
    while (shows_one_more()) REQUIRE(slabs < 2000);
  }
  CHECK(account->mapped().slabs > 1000);
  CHECK(account->mapped().slabs <= 1024);
  CHECK(account->connections() == 64);
  all.clear();
  CHECK(account->mapped() == slab_count{});
  CHECK(account->connections() == 0);
  CHECK(account->open_share()->most() == slab_count{128, 1 << 20});
}

TEST_CASE("L7: an end lends no more slabs than half of what the other takes, and no larger ones") {
  share_host_memory();
  const std::size_t own = 20 * a_mib;
  both_ends ends{std::make_shared<slab_account>(slab_limits{.of_one = {4, 50 * a_mib}, .of_all = {1000, 1 << 30}})};
  const value_in_slab small(std::string(own, 'x')), large(std::string(30 * a_mib, 'x'));
  CHECK_FALSE(ends.client->may_show(*large.where->slab));
  CHECK(ends.client->may_show(*small.where->slab));
  ends.client->note_shown(small.where->slab);
  CHECK_FALSE(ends.client->may_show(*small.where->slab));  // that would be more than 25 MiB
  CHECK(ends.server->may_show(*large.where->slab));
}

TEST_CASE("L7: connections together are lent no more than a task may lend, and none that comes gets nothing") {
  share_host_memory();
  constexpr std::uint64_t all = 64 * a_mib;
  const auto account = std::make_shared<slab_account>(slab_limits{.lent_of_all = all});
  const value_in_slab value(std::string(a_mib, 'x'));
  std::vector<both_ends> ends(8, both_ends{nullptr, nullptr, nullptr});
  std::uint64_t lent = 0, before = all;
  for (auto& [own, client, server] : ends) {
    client = shared_memory::make(account);
    client->note_shown(value.where->slab);
    const auto lends_in_pages = [&, by = client] { return by->find_place(a_mib - 1); };
    const auto lends_in_slab = [&, by = client] { return by->find_place(*value.where, value.bytes, value.data); };
    std::uint64_t mine = 0;
    for (auto place = lends_in_pages(); place; place = mine % 2 ? lends_in_slab() : lends_in_pages())
      place.lend(), ++mine;
    CHECK((0 < mine && mine <= before / 8 / a_mib));
    before = all - (lent += mine * a_mib);
    CHECK((account->lent() <= all && account->lent() >= lent));
  }
  CHECK_FALSE(ends[0].client->find_place(a_mib));  // others have come meanwhile
  ends.clear();
  CHECK(account->lent() == 0);
}

TEST_CASE("L7: what the other end has given back is no longer lent, and a lie about that ends with its connection") {
  const auto account = std::make_shared<slab_account>();
  both_ends ends{account, shared_memory::make(account)};
  auto lent = ends.server->borrow(ends.client->find_place(10 * a_mib).lend(), 10 * a_mib);
  CHECK(account->lent() == 10 * a_mib);
  ends.client->trim();
  CHECK(account->lent() == 10 * a_mib);
  lent = nullptr;
  ends.client->trim();
  CHECK(account->lent() == 0);
  CHECK(ends.client->find_place(a_mib));
  CHECK(account->lent() == 0);
  auto early = ends.client->find_place(3 * a_mib);
  ends.server->borrow(0, 3 * a_mib).reset();  // it was not lent so far
  auto other = ends.client->find_place(5 * a_mib);
  early.lend(), other.lend();
  CHECK(account->lent() <= 8 * a_mib);
  ends = {nullptr, nullptr, nullptr};
  early = {}, other = {};
  CHECK(account->lent() == 0);
}

TEST_CASE("L7: the slabs of a connection that has ended go, and those in use with the last who holds their bytes") {
  both_ends ends;
  const std::size_t before = mapped_slabs();
  const value_in_slab value(std::string(20 * a_mib, 'x')), other(std::string(20 * a_mib, 'y'));
  auto lent = ends.server->borrow_shown(lend(ends, value, value.data), value.bytes);
  ends.server->borrow_shown(lend(ends, other, other.data), other.bytes);
  CHECK(mapped_slabs() == before + 4);
  while (ends.server->end()) {
  }
  CHECK(mapped_slabs() == before + 3);
  CHECK(ends.account->mapped().slabs == 1);
  CHECK((text_of(lent, value.bytes) == value.text()));
  lent = nullptr;
  CHECK(mapped_slabs() == before + 2);
  CHECK(ends.account->mapped().slabs == 0);
}

// ---- between tasks of this host

struct near_options {
  credentials server = {}, client = {};
  bool server_shares = true, client_shares = true;
  slab_limits slabs = {};
  std::string told = {};  // by a server that shares nothing: the address for processes of its host
  rpc::duration heartbeat = std::chrono::seconds(1);
};

// A task of this process that echoes, over real sockets, and a channel to it.
struct near_pair {
  std::shared_ptr<network> net = tcp_network_of_this_process();
  std::vector<std::string> log;  // of those who were refused; in the network's thread
  std::shared_ptr<acceptor> listening;
  const std::shared_ptr<traffic> sent = std::make_shared<traffic>();
  std::shared_ptr<channel> way;

  explicit near_pair(const near_options& how = {})
      : listening(std::make_shared<acceptor>(
            *net, net->listen("127.0.0.1:0"),
            acceptor_options{.me = {ps_name, random_number(), how.server, spoken_versions, how.told},
                             .shared_memory = how.server_shares,
                             .slabs = std::make_shared<slab_account>(how.slabs),
                             .log = [this](const std::string& line) { log.push_back(line); }},
            service())),
        way(std::make_shared<channel>(*net, listening->address(), ps_name,
                                      channel_options{.me = {"", 7, how.client},
                                                      .heartbeat = how.heartbeat,
                                                      .shared_memory = how.client_shares,
                                                      .traffic = sent})) {
    listening->start();
    std::promise<void> up;
    way->connect(std::chrono::steady_clock::now() + 20s, [&](outcome<> how_it_went) {
      how_it_went ? up.set_value() : up.set_exception(std::make_exception_ptr(*how_it_went.failure()));
    });
    up.get_future().get();
  }
  ~near_pair() {
    way->close(error(errc::cancelled, "the test is over"));
    listening->stop(error(errc::unavailable, "the test is over"));
    settle(*net);
  }
  std::future<std::string> ask(const std::string& text) { return ask(mail("x", text)); }
  std::future<std::string> ask(message&& text) {
    const auto answer = std::make_shared<std::promise<std::string>>();
    way->request(lane::data, same, std::move(text),
                 {.open =
                      [answer](const envelope& e) {
                        return std::make_unique<letter>(
                            e, [answer](auto&&, std::string load) { answer->set_value(std::move(load)); });
                      },
                  .failed = [answer](const error& e) { answer->set_exception(std::make_exception_ptr(e)); }});
    return answer->get_future();
  }
  bool carries() {
    std::vector<std::future<std::string>> answers;
    std::vector<std::string> texts;
    for (const std::size_t size : {10, 16 << 10, (16 << 10) + 1, 300'000, 7'000'000, 20, 1 << 20})
      texts.push_back(pattern(size, size));
    for (const auto& text : texts) answers.push_back(ask(text));
    bool right = true;
    for (std::size_t i = 0; i < texts.size(); ++i) right = answers[i].get() == texts[i] && right;
    return right;
  }

 private:
  rpc::service service() {
    return {.request =
                [](const envelope& e, responder to, const peer_ref&) {
                  const auto answer = std::make_shared<responder>(std::move(to));
                  return std::make_unique<letter>(e, [answer](std::string control, std::string payload) {
                    answer->reply(mail(std::move(control), std::move(payload)));
                  });
                },
            .notice = [](const envelope&, const peer_ref&) -> std::unique_ptr<incoming> { return nullptr; },
            .gone = {}};
  }
};

TEST_CASE("tasks of one host share memory, with a key, too, and large and small values arrive") {
  const std::string key = GENERATE("", "the key of a cluster");
  near_pair p(key.empty() ? near_options{} : near_options{with_key(key), with_key(key)});
  CHECK(p.way->view().values_by == "shared memory");
  CHECK(p.carries());
}

message mail_of(const value_in_slab& value, std::shared_ptr<const void> owner) {
  auto text = mail("x", "");
  text.parts = {{value.data.get(), value.bytes, std::move(owner)}};
  return text;
}

TEST_CASE("a value in a slab arrives whole, its owner is let go with the next ones, and small ones are not lent") {
  near_pair p({.heartbeat = std::chrono::seconds(60)});  // with each it is seen what came back
  settle(*p.net);                                        // the first of them
  for (const std::size_t size : {std::size_t{17 << 10}, a_mib, 30 * a_mib, a_mib}) {
    INFO(size << " bytes");
    const value_in_slab value(pattern(size, size));
    auto owner = std::make_shared<const int>(1);
    const std::weak_ptr<const int> held = owner;
    CHECK((p.ask(mail_of(value, std::move(owner))).get() == value.text()));
    CHECK_FALSE(held.expired());  // lent, not copied: nothing has looked whether it has come back
    p.ask(pattern(100'000)).get();
    CHECK(held.expired());
  }
  const value_in_slab small(pattern(16 << 10, 1));
  auto owner = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held = owner;
  CHECK((p.ask(mail_of(small, std::move(owner))).get() == small.text()));
  CHECK(held.expired());
}

TEST_CASE("a notice to a task of this host is written by the thread that sends it, and wakes no other") {
  std::promise<void> held, go_on;  // these outlive the network's handler, whose end the pair waits for
  near_pair p;
  p.net->post([&held, until = go_on.get_future().share()] {
    held.set_value();
    until.get();
  });
  held.get_future().get();  // from here the network's thread writes nothing
  const auto before = p.sent->writes.load();
  p.way->notify(lane::data, same, mail("x", "to be written"));
  CHECK(p.sent->writes.load() == before + 1);
  go_on.set_value();
}

TEST_CASE("no memory is shared where one side does not want it, and values arrive by TCP") {
  const bool server = GENERATE(true, false);
  near_pair p({.server_shares = server, .client_shares = !server});
  CHECK(p.way->view().values_by == "TCP");
  CHECK(p.carries());
}

TEST_CASE("no memory is shared by sides that speak TLS") {
  const certificates::files files;
  const auto authority = certificates::make("authority", nullptr);
  const auto shown = [&](const std::string& name) {
    return credentials_of(files.options(name, certificates::make(name, &authority, "IP:127.0.0.1"), authority));
  };
  near_pair p({shown("ps"), shown("worker")});
  CHECK(p.way->view().values_by == "TLS");
  CHECK(p.carries());
}

TEST_CASE("a task of this host that stops leaves no descriptor and no memory mapped") {
  const auto counts = [] {
    std::size_t files = 0, maps = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++files;
    std::ifstream lines("/proc/self/maps");
    for (std::string line; std::getline(lines, line);) maps += line.find("memfd:pinion") != line.npos;
    return std::pair(files, maps);
  };
  const auto net = tcp_network_of_this_process();
  const auto comes_back_to = [&](std::size_t files) {  // what watches a channel holds it for a heartbeat more
    const auto is_back = [&] { return counts().second == 0 && counts().first <= files; };
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!is_back() && std::chrono::steady_clock::now() < until) settle(*net);
    return is_back();
  };
  { near_pair first; }
  const auto any = std::numeric_limits<std::size_t>::max();
  REQUIRE(comes_back_to(any));
  const auto before = counts();
  for (int i = 0; i < 3; ++i) {
    near_pair p;
    CHECK(p.carries());
    CHECK(counts().second >= 2);
  }
  CHECK(comes_back_to(before.first));
}

// A client by hand: greets by TCP, and connects to the address that it is told for this host.
awaitable<void> be_told(network& net, std::string at, std::string& address) {
  const auto stream = co_await net.connect(at, std::chrono::steady_clock::now() + 20s);
  hello me;
  me.channel = random_number();
  address = (co_await greet(*stream, me, nobody, at)).on_host;
}
std::string told_by(near_pair& p) {
  std::string address;
  std::promise<void> told;
  p.net->post([&] {
    asio::co_spawn(p.net->context(), be_told(*p.net, p.listening->address(), address),
                   [&](const std::exception_ptr&) { told.set_value(); });
  });
  told.get_future().get();
  return address;
}

int connect_by_hand(const std::string& address) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const std::string name = "pinion/" + address;
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&at), length) == 0);
  return fd;
}
void send_by_hand(int fd, std::string text, const std::vector<int>& files) {
  alignas(cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))] = {};
  iovec bytes{text.data(), text.size()};
  msghdr all{};
  all.msg_iov = &bytes;
  all.msg_iovlen = 1;
  all.msg_control = room;
  all.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
  cmsghdr* const it = CMSG_FIRSTHDR(&all);
  it->cmsg_level = SOL_SOCKET;
  it->cmsg_type = SCM_RIGHTS;
  it->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
  std::memcpy(CMSG_DATA(it), files.data(), files.size() * sizeof(int));
  REQUIRE(::sendmsg(fd, &all, MSG_NOSIGNAL) > 0);
}

// Sends the first bytes of a connection with some files beside them, and reads until it is thrown out.
void offer_by_hand(const std::string& address, const std::vector<int>& files) {
  const int fd = connect_by_hand(address);
  send_by_hand(fd, opening(), files);
  ::shutdown(fd, SHUT_WR);
  for (char nowhere[256]; ::recv(fd, nowhere, sizeof nowhere, 0) > 0;) {
  }
  ::close(fd);
}

TEST_CASE("a task that is rung for together with its first byte looks at what comes after that") {
  near_pair p;
  const int fd = connect_by_hand(told_by(p));
  const auto memory = shared_memory::make();
  auto rings = memory->mapping().rings();
  const auto within = [&](auto holds) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!holds() && std::chrono::steady_clock::now() < until) settle(*p.net);
    return holds();
  };
  const auto put = [&](const std::string& text) {
    const asio::const_buffer part = asio::buffer(text);
    rings.put({&part, 1});
    return rings.must_ring();
  };
  REQUIRE(put(opening().substr(0, 4)));
  send_by_hand(fd, "xx", {memory->mapping().file().get()});  // the memory, and the bell for what was put
  REQUIRE(within([&] { return rings.not_taken() == 0; }));
  if (put(opening().substr(4))) REQUIRE(::send(fd, "x", 1, MSG_NOSIGNAL) == 1);
  CHECK(within([&] { return rings.has_bytes(); }));  // the answer
  ::close(fd);
}

TEST_CASE("a server that refuses a client of this host before it has taken its memory lets it know") {
  asio::io_context context;
  poll_list polls;
  rpc::detail::local_socket here(context), there(context);
  asio::local::connect_pair(here, there);
  rpc::detail::ring_stream server(std::move(here), polls, std::make_shared<slab_account>());
  char nowhere = 0;
  REQUIRE(::recv(there.native_handle(), &nowhere, 1, MSG_DONTWAIT) < 0);
  server.finish();
  CHECK(::recv(there.native_handle(), &nowhere, 1, MSG_DONTWAIT) == 0);
}

// Bytes that the other end of a socket has not read, with what they take besides.
int unread(int fd) {
  int bytes = 0;
  REQUIRE(::ioctl(fd, SIOCOUTQ, &bytes) == 0);
  return bytes;
}
// Calls back in the network's thread with the first change of what is unread, while others of it go on.
void when_read(network& net, int fd, int before, std::function<void(int)> then) {
  const int now = unread(fd);
  if (now != before) return then(now);
  net.post([&net, fd, before, then = std::move(then)]() mutable { when_read(net, fd, before, std::move(then)); });
}

TEST_CASE("a flood of bells is heard in parts, between which others of the network's thread go on") {
  near_pair p;
  const int fd = connect_by_hand(told_by(p));
  const auto memory = shared_memory::make();
  auto rings = memory->mapping().rings();
  send_by_hand(fd, "x", {memory->mapping().file().get()});
  const std::string some = opening().substr(0, 4);
  const asio::const_buffer part = asio::buffer(some);
  rings.put({&part, 1});
  while (rings.not_taken() > 0) settle(*p.net);
  std::promise<int> left;
  p.net->post([&] {
    const std::string bells(std::size_t{16} << 10, 'x');
    while (::send(fd, bells.data(), bells.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
    }
    when_read(*p.net, fd, unread(fd), [&](int bytes) { left.set_value(bytes); });
  });
  CHECK(left.get_future().get() > 0);
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (unread(fd) > 0 && std::chrono::steady_clock::now() < until) settle(*p.net);
  CHECK(unread(fd) == 0);
  ::close(fd);
}

TEST_CASE("C2: a client of this host that offers what cannot be shared is refused with a sentence, and costs nothing") {
  near_pair p;
  const std::string address = told_by(p);
  REQUIRE(is_name_on_host(address));
  for (const auto& [what, why] : offers) {
    INFO(what);
    const descriptor file = offered(what);
    offer_by_hand(address, {file.get()});
    settle(*p.net);
    REQUIRE_FALSE(p.log.empty());
    CHECK_THAT(p.log.back(), Catch::Contains(why));
  }
  const descriptor pipe = offered("a pipe");
  offer_by_hand(address, {pipe.get(), pipe.get(), pipe.get(), pipe.get()});
  CHECK(p.carries());
}

// A client of this host that shares memory, and says something wrong about it.
awaitable<void> lie_about_memory(network& net, std::string at, std::string text) {
  const auto stream = co_await net.connect_on_host(at, std::make_shared<slab_account>());
  hello me;
  me.channel = random_number();
  co_await greet(*stream, me, nobody, "this host");
  co_await write_text(*stream, text);
  std::string heard;
  co_await read_all(*stream, heard);
}

awaitable<void> greet_on_host(network& net, std::string at, lane as) {
  const auto stream = co_await net.connect_on_host(at, std::make_shared<slab_account>());
  hello me;
  me.channel = random_number();
  me.lane = as;
  co_await greet(*stream, me, nobody, "this host");
}

// What the task says of a client of this host that says this.
std::vector<std::string> said_of(near_pair& p, const std::string& text) {
  std::promise<void> over;
  const std::string address = told_by(p);
  p.net->post([&] {
    asio::co_spawn(p.net->context(), lie_about_memory(*p.net, address, text),
                   [&](const std::exception_ptr&) { over.set_value(); });
  });
  over.get_future().get();
  settle(*p.net);
  return p.log;
}

TEST_CASE("L7: a client of this host that shows more than it may is thrown out with a sentence, and others go on") {
  near_pair p({.slabs = {.of_one = {3, 1 << 20}, .of_all = {1000, 1 << 30}}});
  const auto memory = shared_memory::make();
  const int fd = connect_by_hand(told_by(p));
  send_by_hand(fd, "x", {memory->mapping().file().get()});
  for (std::uint64_t id = 1; id <= 4; ++id) send_by_hand(fd, "x", {slab_by_hand(id).get()});
  const auto until = std::chrono::steady_clock::now() + 20s;
  const auto said = [&] {
    settle(*p.net);
    return !p.log.empty();
  };
  while (!said() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  ::close(fd);
  REQUIRE(said());
  CHECK_THAT(p.log.back(), Catch::Contains("refused a process of this host: the peer shows more than 3 slabs"));
  CHECK(p.carries());
}

TEST_CASE("L7: a client shares memory on one connection, that of its data") {
  near_pair p;
  std::promise<void> over;
  const std::string address = told_by(p);
  p.net->post([&] {
    asio::co_spawn(p.net->context(), greet_on_host(*p.net, address, lane::control),
                   [&](const std::exception_ptr&) { over.set_value(); });
  });
  over.get_future().get();
  settle(*p.net);
  REQUIRE_FALSE(p.log.empty());
  CHECK_THAT(p.log.back(), Catch::Contains("a client shares memory on its data lane alone"));
}

TEST_CASE("a value in a slab that may not be shown arrives all the same") {
  near_pair p({.slabs = {.of_one = {0, 0}, .of_all = {1000, 1 << 30}}});
  const value_in_slab value(pattern(30 * a_mib, 1));
  auto owner = std::make_shared<const int>(1);
  const std::weak_ptr<const int> held = owner;
  CHECK((p.ask(mail_of(value, std::move(owner))).get() == value.text()));
  CHECK(held.expired());  // it was copied
}

TEST_CASE("C2: a payload in a slab that was not shown is refused") {
  near_pair p;
  const std::string text = frame({.kind = frame_kind::request,
                                  .shared = frame_header::in_slab,
                                  .method = same,
                                  .slot = 7,
                                  .id = 1,
                                  .payload = page},
                                 "x");
  CHECK(said_of(p, text) ==
        std::vector<std::string>{
            "refused a process of this host: a payload is said to lie in a slab of memory that was not shown"});
  CHECK(p.carries());
}

TEST_CASE("C2: a payload beyond the pages of its end is refused, and one that was never put there is no harm") {
  const bool beyond = GENERATE(true, false);
  near_pair p;
  const std::string text =
      frame({.kind = frame_kind::request,
             .shared = 1,
             .method = same,
             .slot = 65535,
             .id = 1,
             .payload = beyond ? a_mib : page},
            "x") +
      frame({.kind = frame_kind::goodbye}, encode_failure(error(errc::cancelled, "that is all")).control);
  const std::string why =
      "1048576 bytes are said to lie in shared memory from its page 65535 on, and it has 65536 pages";
  CHECK(said_of(p, text) ==
        (beyond ? std::vector{"refused a process of this host: " + why} : std::vector<std::string>{}));
  CHECK(p.carries());
}

TEST_CASE("a task that tells an address where nobody listens, or that of another task, is spoken to by TCP") {
  near_pair other;
  const std::string nobody_there(32, 'a'), others = told_by(other), nonsense = "../../etc";
  for (const std::string& told : {nobody_there, others, nonsense}) {
    INFO(told);
    near_pair p({.server_shares = false, .told = told});
    CHECK(p.way->view().values_by == "TCP");
    CHECK(p.carries());
  }
}

TEST_CASE("a name that no task of this host would draw is not connected to") {
  for (const std::string name : {"", "x", "/tmp/.X11-unix/X0", "0123456789abcdef0123456789abcdeg"})
    CHECK_FALSE(is_name_on_host(name));
  CHECK(is_name_on_host("0123456789abcdef0123456789abcdef"));
}

}  // namespace
