// TLS: channels over it, who is refused by it, and what is told where one side does not speak it.
#include <openssl/ssl.h>
#include <catch2/catch.hpp>

#include <set>

#include <pinion/rpc/tls_stream.hpp>

#include <rpc/echo.hpp>
#include <support/certificates.hpp>

namespace {

using namespace pinion_tests;

// A cluster's authority, and the certificates of a task and a client.
struct company {
  certificates::files files;
  certificates::pair authority = certificates::make("authority", nullptr),
                     stranger = certificates::make("stranger", nullptr);
  credentials task = shown("ps", "DNS:ps"), client = shown("worker", "DNS:worker");

  credentials shown(const std::string& name, const std::string& hosts, certificates::validity when = {}) const {
    return credentials_of(files.options(name, certificates::make(name, &authority, hosts, when), authority));
  }
  // With a certificate of one authority, and trust in another.
  credentials shown(const std::string& name, const std::string& hosts, const certificates::pair& signer,
                    const certificates::pair& trusted) const {
    return credentials_of(files.options(name, certificates::make(name, &signer, hosts), trusted));
  }
  credentials with_key(credentials of, const std::string& key) const {
    of.key = shared_key(key);
    return of;
  }
};

const std::string shared_key = "the key of a cluster";

TEST_CASE("a channel over TLS carries what one without it carries, whatever the weather") {
  const company c;
  sim_options how;
  how.seed = GENERATE(range(1u, 7u));
  how.max_chunk = how.seed % 2 ? 100 : 16 << 10;
  how.write_now_percent = how.seed % 3 * 40;
  how.buffer = 64 << 10;
  echo_world w(how, c.task);
  channel& way = w.way(c.client);
  REQUIRE(w.connect(way) == "");
  CHECK(way.peer() == ps_name);
  std::vector<std::shared_ptr<answer>> answers;
  for (std::size_t i = 0; i < 100; ++i)
    answers.push_back(
        ask(way, same, pattern(i * 397 % 20000, i), pattern(i * 1237 % 90000, i), i % 3 ? lane::data : lane::control));
  const auto large = ask(way, same, "large", pattern(3 << 20));
  w.world.run_for(10s);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    REQUIRE(answers[i]->times == 1);
    CHECK(answers[i]->control == pattern(i * 397 % 20000, i));
    CHECK(answers[i]->payload == pattern(i * 1237 % 90000, i));
  }
  CHECK(large->payload == pattern(3 << 20));
}

TEST_CASE("C3: over TLS, too, a small value behind a large one waits for one piece of it") {
  const company c;
  sim_options how;
  how.bytes_per_second = 100 << 20;
  how.buffer = 64 << 10;
  echo_world w(how, c.with_key(c.task, shared_key));
  channel& way = w.way(c.with_key(c.client, shared_key));
  REQUIRE(w.connect(way) == "");
  const auto large = ask(way, same, "large", pattern(32 << 20));
  w.world.run_for(100ms);
  const auto small = ask(way, same, "small", pattern(1000));
  CHECK(w.until([&] { return small->times == 1; }) <= 10ms);
  CHECK(large->times == 0);
  w.world.run_for(2s);
  CHECK((large->payload == pattern(32 << 20)));
}

TEST_CASE("nothing of what is said over TLS can be read on the way") {
  const company c;
  std::string heard;
  sim_network world;
  const auto a = world.host("a"), b = world.host("b");
  const std::shared_ptr<listener> listening = b->listen("b:1");
  const auto overhear = [&]() -> awaitable<void> {
    const auto stream = co_await listening->accept();
    co_await read_all(*stream, heard);
  };
  start(*b, overhear());
  const auto speak = [&]() -> awaitable<void> {
    auto bare = co_await a->connect("b:1", never);
    tls_stream sealed(*a, std::move(bare), c.client.tls, side::client);
    co_await sealed.shake_hands("b:1");
  };
  start(*a, speak());
  world.run_for(1s);
  CHECK(heard.size() > 100);
  CHECK(heard[0] == 0x16);
  CHECK(heard.find("worker") == std::string::npos);
}

TEST_CASE("a server that stops tells its clients why over TLS, too, where it goes through") {
  const company c;
  std::set<std::string> sentences;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim_options how;
    how.seed = seed;
    how.write_now_percent = 100;
    echo_world w(how, c.task);
    channel& way = w.way(c.client);
    REQUIRE(w.connect(way) == "");
    const auto a = ask(way, keep, "");
    w.world.run_for(100ms);
    w.ps->stop();
    w.world.run_for(100ms);
    CHECK(a->why->code() == errc::unavailable);
    sentences.insert(a->why->sentence());
  }
  CHECK(sentences.count(ps_name + " was stopped") == 1);
}

TEST_CASE("with a key besides TLS, both are needed") {
  const company c;
  const credentials task = c.with_key(c.task, shared_key);
  echo_world w({}, task);
  CHECK(w.connect(w.way(c.with_key(c.client, shared_key))) == "");
  CHECK_THAT(w.connect(w.way(c.client)), Catch::EndsWith(" asks for a key, and none is given here"));
  CHECK_THAT(w.connect(w.way(c.with_key(c.client, "the key of another"))),
             Catch::EndsWith(" has another key than is given here"));
  CHECK_THAT(w.connect(w.way(with_key(shared_key))), Catch::Contains("speaks TLS alone"));
}

// ---- certificates that are not accepted

struct ending {
  std::string at_client, at_server;  // why the client did not connect; the only line of the server's log
};
ending meet(const credentials& client, const credentials& task) {
  echo_world w({}, task);
  const auto began = w.world.now();
  ending e;
  e.at_client = w.connect(w.way(client));
  w.world.run_for(1s);
  CHECK(w.world.now() - began < 5s);
  CHECK(w.ps->begun == 0);
  for (const auto& line : w.ps->log) e.at_server += line;
  return e;
}
const std::string refused_worker = "refused worker: ";

TEST_CASE("a certificate that has expired, or is not valid yet, is refused on both sides") {
  const company c;
  const credentials expired = c.shown("old", "DNS:ps", {-7200, -3600}), early = c.shown("new", "DNS:ps", {3600, 7200});
  CHECK(meet(c.client, expired).at_client == "unauthenticated: the certificate of the server at ps:1 has expired");
  CHECK(meet(c.client, early).at_client == "unauthenticated: the certificate of the server at ps:1 is not valid yet");
  CHECK_THAT(meet(c.client, expired).at_server,
             Catch::StartsWith(refused_worker + "the client at worker refuses this side's certificate") &&
                 Catch::EndsWith("with the alert 'certificate expired'"));
  const ending other = meet(expired, c.task);
  CHECK(other.at_server == refused_worker + "the certificate of the client at worker has expired");
  CHECK(other.at_client ==
        "unauthenticated: the server at ps:1 refuses this side's certificate or TLS, with the alert "
        "'certificate expired'");
}

TEST_CASE("a certificate that no known authority has signed is refused on both sides, with the name of its issuer") {
  const company c;
  const credentials signed_elsewhere = c.shown("far", "DNS:ps", c.stranger, c.authority),
                    trusting_elsewhere = c.shown("far", "DNS:ps", c.authority, c.stranger);
  const std::string unknown = "is signed by nobody in '";
  const ending server = meet(c.client, signed_elsewhere);
  CHECK_THAT(server.at_client, Catch::StartsWith("unauthenticated: the certificate of the server at ps:1 " + unknown) &&
                                   Catch::EndsWith("worker.authorities.pem'; it names CN = stranger"));
  CHECK_THAT(server.at_server, Catch::EndsWith("with the alert 'unknown CA'"));
  const ending client = meet(signed_elsewhere, c.task);
  CHECK_THAT(client.at_server,
             Catch::StartsWith(refused_worker + "the certificate of the client at worker " + unknown));
  CHECK_THAT(client.at_client, Catch::EndsWith("with the alert 'unknown CA'"));
  CHECK_THAT(meet(trusting_elsewhere, c.task).at_client, Catch::Contains(unknown));
}

TEST_CASE("a server's certificate must be for the host that the client connects to") {
  const company c;
  for (const auto& [hosts, named] : {std::pair("DNS:other,DNS:third", "other, third"),
                                     std::pair("IP:10.0.0.7,IP:::1,IP:2001:db8::7", "10.0.0.7, ::1, 2001:db8::7"),
                                     std::pair("URI:pinion:/job:ps", "no host"), std::pair("", "no host")})
    CHECK(meet(c.client, c.shown("elsewhere", hosts)).at_client ==
          std::string("unauthenticated: the certificate of the server at ps:1 is for ") + named + ", and not for ps");
  CHECK(meet(c.client, c.shown("several", "DNS:other,DNS:ps")).at_client == "");
  CHECK(meet(c.shown("nobody", ""), c.task).at_client == "");  // of a client no host is asked
}

// ---- tasks in certificates

TEST_CASE("a certificate that names tasks is good for those alone, on both sides") {
  const company c;
  const auto named = [&](const std::string& host, const std::string& names) {
    return c.shown("named", "DNS:" + host + (names.empty() ? "" : ",URI:pinion:" + names));
  };
  const credentials ps = named("ps", "/job:ps/task:0");
  for (const std::string good : {"/job:worker/task:0", "/job:worker", "/job:worker/replica:0/task:0",
                                 "/job:evaluator,URI:pinion:/job:worker/task:0"})
    CHECK(meet(named("worker", good), ps).at_client == "");
  for (const auto& [bad, told] : {std::pair("/job:worker/task:1", "/job:worker/task:1"), std::pair("", "no task"),
                                  std::pair("/job:wor,URI:pinion:/job:ps", "/job:wor, /job:ps"),
                                  std::pair("/job:worker/task:0/replica:1", "/job:worker/task:0/replica:1")}) {
    const std::string why = std::string("the certificate of the client at worker is for ") + told +
                            ", and not for /job:worker/replica:0/task:0 "
                            "(subjectAltName=URI:pinion:/job:worker/replica:0/task:0)";
    const ending e = meet(named("worker", bad), ps);
    CHECK(e.at_client == "unauthenticated: " + why);
    CHECK(e.at_server == refused_worker + why);
  }
  const credentials worker = named("worker", "/job:worker");
  for (const auto& [bad, told] : {std::pair("/job:ps/task:1", "/job:ps/task:1"), std::pair("", "no task")})
    CHECK_THAT(meet(worker, named("ps", bad)).at_client,
               Catch::StartsWith(std::string("unauthenticated: the certificate of the server at ps:1 is for ") + told +
                                 ", and not for " + ps_name));
}

TEST_CASE("a client that is no task needs none in its certificate, and holds a server's to what it says") {
  const company c;
  for (const auto& [names, why] :
       {std::pair("/job:ps", ""), std::pair("/job:evaluator", "is for /job:evaluator, and not")}) {
    echo_world w({}, c.shown("ps", std::string("DNS:ps,URI:pinion:") + names));
    w.ways.push_back(std::make_shared<channel>(*w.other, ps_at, "",
                                               channel_options{.me = {"", 0, c.client}, .heartbeat = heartbeat}));
    const std::string how = w.connect(*w.ways.back());
    CHECK_THAT(how, Catch::Contains(why));
    CHECK(how.empty() == std::string(why).empty());
  }
}

TEST_CASE("a certificate of one's own that names what is no task is refused with its file") {
  const company c;
  const std::string name = GENERATE("", "ps", "/task:0", "/job:", "/job:/task:0", "/job:ps/job:worker/task:0",
                                    "/job:ps/task:0/task:1", "/job:ps/task:0/task:0", "/job:ps/",
                                    "/job:ps/device:CPU:0", "/job:ps/task:", "/job:ps/task:x", "/job:ps/0");
  CHECK_THAT(caught([&] { c.shown("odd", "URI:pinion:" + name); }).sentence(),
             Catch::EndsWith("odd.pem' is for '" + name +
                             "', which is no task; one looks like /job:ps or "
                             "/job:ps/task:0"));
}

TEST_CASE(
    "the certificates between one's own and its authority are shown, from either file, and the authority is not") {
  const company c;
  const auto between = certificates::make("between", &c.authority, {}, {}, certificates::kind::authority);
  const auto leaf = certificates::make("leaf", &between, "DNS:worker");
  security_options of = c.files.options("leaf", leaf, c.authority);
  const bool in_own = GENERATE(true, false);
  if (in_own)
    c.files.put("leaf.pem", leaf.certificate_text() + between.certificate_text(), 0644);
  else
    c.files.put("leaf.authorities.pem", c.authority.certificate_text() + between.certificate_text(), 0644);
  const credentials shown = credentials_of(of);
  CHECK(meet(shown, c.task).at_client == "");
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(shown.tls->context(), &chain);
  CHECK(sk_X509_num(chain) == 1);
}

// ---- one side without TLS

TEST_CASE("a client without TLS is told by a server with it, at once, on both sides") {
  const company c;
  const ending e = meet({}, c.task);
  CHECK(e.at_client ==
        "unauthenticated: " + ps_name +
            " speaks TLS alone: .certificate, .private_key and .authorities are needed to connect to it");
  CHECK(e.at_server == refused_worker + "the client does not speak TLS, and " + ps_name + " does");
}

TEST_CASE("a client with TLS is told by a server without it, at once, on both sides") {
  const company c;
  const ending e = meet(c.client, {});
  CHECK(e.at_client == "unauthenticated: the server at ps:1 does not speak TLS, and a certificate is given here");
  CHECK(e.at_server == refused_worker + "the client speaks TLS, and " + ps_name + " does not");
}

awaitable<void> say_and_hear_by_tls(network& net, std::string text, std::string& heard) {
  const auto stream = co_await net.connect(ps_at, never);
  co_await write_text(*stream, text);
  co_await read_all(*stream, heard);
}

TEST_CASE("what is neither TLS nor pinion's is closed by a server with TLS, and disturbs no other") {
  const company c;
  const auto& text = GENERATE(as<std::string>(), "GET / HTTP/1.0\r\n\r\n", pattern(5000),
                              std::string("\x16\x03\x01\x40\x00", 5) + pattern(5000), std::string("\x16\x03\x01", 3),
                              std::string("\x15\x03\x03\x00\x02\x02\x28", 7));
  std::string heard;
  echo_world w({}, c.task);
  channel& way = w.way(c.client);
  REQUIRE(w.connect(way) == "");
  const auto rude = start(*w.other, say_and_hear_by_tls(*w.other, text, heard));
  w.world.run_for(6s);
  CHECK(rude->text() == well);
  const auto a = ask(way, same, "well");
  w.world.run_for(100ms);
  CHECK(a->control == "well");
}

TEST_CASE("a handshake of TLS that stalls is given up by the server after its five seconds") {
  const company c;
  std::string heard;
  echo_world w({}, c.task);
  const auto silent = start(*w.other, say_and_hear_by_tls(*w.other, std::string("\x16\x03\x01", 3), heard));
  w.world.run_for(4900ms);
  CHECK_FALSE(silent->done());
  w.world.run_for(200ms);
  CHECK(silent->text() == well);
  CHECK(w.ps->log == std::vector<std::string>{"refused other: its handshake took too long"});
}

TEST_CASE("a channel over TLS outlives a cut at any time of its handshake, and a reset") {
  static const company c;
  const int at = GENERATE(range(0, 6000, 500));  // microseconds
  const bool cut = GENERATE(true, false);
  echo_world w({}, c.task);
  channel& way = w.way(c.client);
  after(*w.other, std::chrono::microseconds(at),
        [&] { cut ? w.world.cut("worker", "ps") : w.world.reset("worker", "ps"); });
  after(*w.other, 2s, [&] { w.world.heal("worker", "ps"); });
  CHECK(w.connect(way, 20s) == "");
  w.world.run_for(10s);
  w.connect(way);
  const auto a = ask(way, same, "well");
  w.world.run_for(100ms);
  CHECK(a->control == "well");
}

// Passes bytes of one stream on to another, one of them changed, until either ends.
awaitable<void> pass_on(byte_stream& from, byte_stream& to, std::size_t wrong) {
  std::vector<std::byte> room(4096);
  std::size_t n = 1;
  for (std::size_t at = 0; n > 0; at += n) {
    n = co_await from.read_some(room);
    if (at <= wrong && wrong < at + n) room[wrong - at] ^= std::byte{1};
    co_await write_text(to, std::string(reinterpret_cast<const char*>(room.data()), n));
  }
  to.finish();
}

TEST_CASE("what is changed on the way breaks the connection with a sentence, and is not delivered") {
  static const company c;
  const std::size_t wrong = GENERATE(range(std::size_t{7000}, std::size_t{60000}, std::size_t{9001}));
  sim_network world;
  const auto a = world.host("a"), between = world.host("between"), b = world.host("ps");
  const std::shared_ptr<listener> listening = b->listen("ps:1"), middle = between->listen("between:1");
  std::unique_ptr<byte_stream> one, two;
  std::string heard;
  const auto forward = [&]() -> awaitable<void> {
    one = co_await middle->accept();
    two = co_await between->connect("ps:1", never);
    between->spawn(pass_on(*two, *one, std::size_t(-1)));
    co_await pass_on(*one, *two, wrong);
  };
  const auto speak = [&]() -> awaitable<void> {
    tls_stream sealed(*a, co_await a->connect("between:1", never), c.client.tls, side::client);
    co_await sealed.shake_hands("ps:1");
    co_await write_text(sealed, pattern(70000));
    co_await read_all(sealed, heard);
  };
  std::string arrived;
  const auto listen = [&]() -> awaitable<void> {
    tls_stream sealed(*b, co_await listening->accept(), c.task.tls, side::server);
    co_await sealed.shake_hands(ps_name);
    std::byte room[1000];
    for (;;) {
      const std::size_t n = co_await sealed.read_some(room);
      if (n == 0) co_return;
      arrived.append(reinterpret_cast<const char*>(room), n);
    }
  };
  start(*between, forward());
  const auto server = start(*b, listen());
  start(*a, speak());
  world.run_for(1s);
  CHECK_THAT(server->text(), Catch::StartsWith("data_loss: TLS with the client at between failed: "));
  CHECK(arrived == pattern(70000).substr(0, arrived.size()));
  CHECK(arrived.size() < 70000);
}

}  // namespace
