// Memory that the ends of a connection share: what goes through it, who gets none, and what a peer may not do with it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>

#include <catch2/catch.hpp>

#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/local_network.hpp>
#include <pinion/rpc/shared_memory.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include <rpc/echo.hpp>
#include <support/certificates.hpp>

namespace {

using namespace pinion_tests;

constexpr std::size_t mib = 1 << 20;

// ---- the ring

std::array<asio::const_buffer, 2> halves(const std::string& text) {
  const std::size_t half = text.size() / 3;
  return {asio::buffer(text.data(), half), asio::buffer(text.data() + half, text.size() - half)};
}
std::string taken(shared_memory& from, std::size_t bytes) {
  std::string text(bytes, ' ');
  from.take({reinterpret_cast<std::byte*>(text.data()), bytes});
  return text;
}
descriptor again(const descriptor& file) {
  return descriptor(::dup(file.get()));
}

TEST_CASE("bytes come out of shared memory as they went in, both ways, however often the ring goes round") {
  const auto client = shared_memory::make();
  const auto server = shared_memory::adopt(again(client->file()));
  for (std::size_t i = 1; i < 50; ++i) {
    const auto text = pattern(i * 40'000, i), back = pattern(i * 41'000, 2 * i);
    REQUIRE(client->put(halves(text)));
    REQUIRE(server->put(halves(back)));
    CHECK((taken(*server, text.size()) == text));
    CHECK((taken(*client, back.size()) == back));
  }
}

TEST_CASE("what has no room in shared memory is not put there, and has room again when the rest was taken") {
  const auto client = shared_memory::make();
  const auto server = shared_memory::adopt(again(client->file()));
  const auto half = pattern(shared_memory::capacity / 2), more = half + "x";
  CHECK(client->put(halves(half)));
  CHECK_FALSE(client->put(halves(more)));
  CHECK(client->put(halves(half)));
  CHECK_FALSE(client->put(halves("xyz")));
  server->pass_over(half.size());
  CHECK((taken(*server, half.size()) == half));
  CHECK(client->put(halves(half)));
}

TEST_CASE("a reader that says it has taken what was never put gets nothing more that way") {
  const auto client = shared_memory::make();
  auto* const said =
      static_cast<std::uint64_t*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, client->file().get(), 0));
  const std::uint64_t lie = GENERATE(std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{101});
  CHECK(client->put(halves(pattern(100))));
  *said = lie;
  const bool possible = lie <= 100;
  CHECK(client->put(halves(pattern(100))) == possible);
  ::munmap(said, 4096);
}

TEST_CASE("shared memory can neither shrink nor be sealed anew, so that no access to it fails") {
  const auto client = shared_memory::make();
  const int file = client->file().get();
  CHECK(::ftruncate(file, 0) != 0);
  CHECK(::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) != 0);
}

// A file that a liar offers to share.
descriptor offered(const std::string& what) {
  const std::size_t right = 2 * (4096 + shared_memory::capacity);
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

// ---- between tasks of this host

struct near_options {
  credentials server = {}, client = {};
  bool server_shares = true, client_shares = true;
  std::string told = {};  // by a server that shares nothing: the address for processes of its host
};

// A task of this process that echoes, over real sockets, and a channel to it.
struct near_pair {
  std::shared_ptr<network> net = tcp_network_of_this_process();
  std::vector<std::string> log;  // of those who were refused; in the network's thread
  std::shared_ptr<acceptor> door;
  const std::shared_ptr<traffic> sent = std::make_shared<traffic>();
  std::shared_ptr<channel> way;

  explicit near_pair(const near_options& how = {})
      : door(std::make_shared<acceptor>(
            *net, net->listen("127.0.0.1:0"),
            acceptor_options{.me = {ps_name, random_number(), how.server, spoken_versions, how.told},
                             .shared_memory = how.server_shares,
                             .log = [this](const std::string& line) { log.push_back(line); }},
            service())),
        way(std::make_shared<channel>(
            *net, door->address(), ps_name,
            channel_options{.me = {"", 7, how.client}, .shared_memory = how.client_shares, .traffic = sent})) {
    door->start();
    std::promise<void> up;
    way->connect(std::chrono::steady_clock::now() + 20s, [&](outcome<> how_it_went) {
      how_it_went ? up.set_value() : up.set_exception(std::make_exception_ptr(*how_it_went.failure()));
    });
    up.get_future().get();
  }
  ~near_pair() {
    way->close(error(errc::cancelled, "the test is over"));
    door->stop(error(errc::unavailable, "the test is over"));
    settle(*net);
  }
  std::future<std::string> ask(const std::string& text) {
    const auto answer = std::make_shared<std::promise<std::string>>();
    way->request(lane::data, same, mail("x", text),
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
                [](const envelope& e, responder to, const guest_ref&) {
                  const auto answer = std::make_shared<responder>(std::move(to));
                  return std::make_unique<letter>(e, [answer](std::string control, std::string payload) {
                    answer->reply(mail(std::move(control), std::move(payload)));
                  });
                },
            .notice = [](const envelope&, const guest_ref&) -> std::unique_ptr<incoming> { return nullptr; },
            .gone = {}};
  }
};

TEST_CASE("tasks of one host share memory, with a key, too, and large and small values arrive") {
  const std::string key = GENERATE("", "the key of a cluster");
  near_pair p(key.empty() ? near_options{} : near_options{with_key(key), with_key(key)});
  CHECK(p.way->view().values_by == "shared memory");
  CHECK(p.carries());
}

TEST_CASE("a notice to a task of this host is written by the thread that sends it, and wakes no other") {
  std::promise<void> held, go_on;  // these outlive the network's turn, whose end the pair waits for
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
    asio::co_spawn(p.net->context(), be_told(*p.net, p.door->address(), address),
                   [&](const std::exception_ptr&) { told.set_value(); });
  });
  told.get_future().get();
  return address;
}

// Sends the first bytes of a connection with some files beside them, and reads until it is thrown out.
void offer_by_hand(const std::string& address, const std::vector<int>& files) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const std::string name = "pinion/" + address;
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&at), length) == 0);
  std::string text = opening();
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
  ::shutdown(fd, SHUT_WR);
  for (char nowhere[256]; ::recv(fd, nowhere, sizeof nowhere, 0) > 0;) {
  }
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
  const auto stream = co_await net.connect_on_host(at);
  hello me;
  me.channel = random_number();
  co_await greet(*stream, me, nobody, "this host");
  co_await write_text(*stream, text);
  std::string heard;
  co_await read_all(*stream, heard);
}

TEST_CASE("C2: a piece of more bytes than the memory has is refused, and one that was never put there is no harm") {
  const bool too_many = GENERATE(true, false);
  const std::uint64_t bytes = too_many ? 3 * mib : mib;
  near_pair p;
  const std::string text =
      frame({.kind = frame_kind::request, .method = same, .slot = 1, .id = 1, .payload = bytes}, "x") +
      frame({.kind = frame_kind::piece, .shared = 1, .slot = 1, .payload = bytes}) +
      frame({.kind = frame_kind::goodbye}, encode_failure(error(errc::cancelled, "that is all")).control);
  std::promise<void> over;
  const std::string address = told_by(p);
  p.net->post([&] {
    asio::co_spawn(p.net->context(), lie_about_memory(*p.net, address, text),
                   [&](const std::exception_ptr&) { over.set_value(); });
  });
  over.get_future().get();
  settle(*p.net);
  const std::string why = "a piece of 3145728 bytes is said to lie in shared memory of 2097152";
  CHECK(p.log == (too_many ? std::vector{"refused a process of this host: " + why} : std::vector<std::string>{}));
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
