// Clients that ask and never read an answer, whatever the answer is: a server hears them no more, and closes them.
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distributed/forgery.hpp>
#include <distributed/lies.hpp>
#include <distributed/real_cluster.hpp>

#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

#include <support/resident.hpp>
#include <support/told_lines.hpp>

// g++ 12 takes Asio's own new, for the frame of a coroutine, for the global one.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {

using namespace real;
using namespace distributed;

// A question of a client, the i-th time, about its session and its step.
struct question {
  std::string of;
  rpc::method method;
  std::function<rpc::message(std::uint64_t session, std::uint64_t step, std::uint64_t i)> ask;
  std::string task = {};  // as which it asks; "": as a client
};

constexpr std::uint64_t life = 5;

runtime::step_signature fetching_it() {
  return {{}, {output{0, 0}}, {}};
}

// One that reads what it needs to ask, and then asks on and on.
class deaf_client : public std::enable_shared_from_this<deaf_client> {
 public:
  deaf_client(const std::string& target, question what)
      : address_(address_of_target(target)), me_{what.task, life}, what_(std::move(what)) {}
  void begin() { net_->spawn(live(shared_from_this())); }
  bool is_over() const { return over_.done(); }
  std::uint64_t asked() const { return last_; }
  const std::optional<error>& failed_early() const { return early_; }

 private:
  rpc::awaitable<void> live([[maybe_unused]] std::shared_ptr<deaf_client> self) {
    bool ready = false;
    try {
      stream_ = co_await net_->connect(address_, net_->now() + 20s);
      rpc::hello mine;
      mine.channel = rpc::random_number();
      mine.heartbeat_ms = 60'000;  // while it waits for its turn among the others it says nothing
      co_await rpc::greet(*stream_, mine, me_, address_);
      co_await prepare();
      ready = true;
      for (;;) co_await say_many();
    } catch (const error& e) {
      if (!ready) early_ = e;
    }
    over_.count_down();
  }
  // The messages are made by functions of their own, since g++ 12 destroys temporary aggregates of coroutines twice.
  rpc::awaitable<void> prepare() {
    if (!me_.name.empty()) {
      co_await say(register_step::method, registration());
      co_await answer();
      co_return;
    }
    co_await say(open_session::method, rpc::encode(open_session()));
    const std::string opened = co_await answer();
    session_ = rpc::decode<opened_session>(opened).session;
    co_await say(extend_graph::method, extension());
    co_await answer();
    co_await say(prepare_step::method, preparation());
    const std::string prepared = co_await answer();
    step_ = rpc::decode<prepared_reply>(prepared).step;
  }
  rpc::message registration() const { return rpc::encode(empty_step({me_.name, me_.incarnation, some_session}, 1)); }
  rpc::message extension() const {
    own_graph made;
    constant(tensor<float>({16 << 10}), "large");
    return rpc::encode(extend_graph{session_, delta_since(made.g)});
  }
  rpc::message preparation() const { return rpc::encode(prepare_step{session_, 0, fetching_it(), false}); }
  rpc::awaitable<void> say(rpc::method what, rpc::message m) {
    const std::string text = spelled(what, m);
    const asio::const_buffer all = asio::buffer(text);
    co_await stream_->write({&all, 1});
  }
  rpc::awaitable<void> say_many() {
    std::string text;
    while (text.size() < 10'000) text += spelled(what_.method, what_.ask(session_, step_, last_ + 1));
    const asio::const_buffer all = asio::buffer(text);
    co_await stream_->write({&all, 1});
  }
  std::string spelled(rpc::method what, const rpc::message& m) {
    rpc::frame_header h{.kind = rpc::frame_kind::request, .method = what, .id = ++last_};
    h.control = m.control.size();
    h.payload = m.payload_bytes();
    std::string text(reinterpret_cast<const char*>(&h), sizeof h);
    text += m.control;
    for (const auto& p : m.parts) text.append(reinterpret_cast<const char*>(p.data), p.bytes);
    return text;
  }
  rpc::awaitable<std::string> answer() {
    rpc::frame_header h;
    co_await read({reinterpret_cast<std::byte*>(&h), sizeof h});
    std::string control(h.control + h.payload, ' ');
    co_await read({reinterpret_cast<std::byte*>(control.data()), control.size()});
    if (h.kind != rpc::frame_kind::reply) throw rpc::decode_failure(control);
    co_return control;
  }
  rpc::awaitable<void> read(std::span<std::byte> into) {
    while (!into.empty()) {
      const std::size_t n = co_await stream_->read_some(into);
      if (n == 0) throw error(errc::unavailable, "the server is gone");
      into = into.subspan(n);
    }
  }

  const std::shared_ptr<rpc::network> net_ = rpc::tcp_network_of_this_process();
  const std::string address_;
  const rpc::identity me_;
  const question what_;
  std::unique_ptr<rpc::byte_stream> stream_;
  std::uint64_t session_ = 0, step_ = 0;
  std::atomic<std::uint64_t> last_{0};
  std::optional<error> early_;
  countdown over_;
};

template <class M>
question asks(const std::string& of, std::function<M(std::uint64_t, std::uint64_t, std::uint64_t)> what) {
  return {of, M::method, [what](auto session, auto step, auto i) { return rpc::encode(what(session, step, i)); }};
}

std::vector<question> questions() {
  const auto large = fetching_it();
  const session_id of_task{other_worker, life, some_session};
  std::vector<question> all{
      asks<status_request>("devices", [](auto...) { return status_request{}; }),
      asks<libraries_request>("libraries", [](auto...) { return libraries_request{}; }),
      asks<list_request>("the devices of a session",
                         [](auto s, auto...) {
                           return list_request{s, 0};
                         }),
      asks<plan_step>("plans",
                      [large](auto s, auto...) {
                        return plan_step{s, 0, large};
                      }),
      asks<prepare_step>("steps",
                         [large](auto s, auto...) {
                           return prepare_step{s, 0, large, true};
                         }),
      asks<run_prepared>("results",
                         [](auto s, auto step, auto) {
                           return run_prepared{s, step, 0, {}, false};
                         }),
      asks<run_prepared>("traces",
                         [](auto s, auto step, auto) {
                           return run_prepared{s, step, 0, {}, true};
                         }),
      asks<run_prepared>("refusals",
                         [](auto s, auto...) {
                           return run_prepared{s, 12345, 0, {}, false};
                         }),
      asks<extend_graph>("nothing",
                         [](auto s, auto...) {
                           return extend_graph{s, {1, {}, {}}};
                         }),
      asks<open_session>("sessions that it may not have", [](auto...) { return open_session{}; }),
      asks<run_step>("parts of runs",
                     [of_task](auto, auto, auto i) {
                       return run_step{{of_task, i}, 1, false};
                     }),
      asks<pull_value>(
          "values that are not there",
          [of_task](auto, auto, auto i) {
            return pull_value{{of_task, i}, transfer_key("c:0;" + cpu_of("worker", 0) + ";" + cpu_of("worker", 1))};
          }),
      asks<reset_containers>("containers", [](auto...) { return reset_containers{{"none"}}; }),
  };
  for (question& q : all)
    if (q.method == run_step::method || q.method == pull_value::method) q.task = other_worker;
  return all;
}

TEST_CASE(
    "C8: a client that reads no answers is closed with the name of the limit, whatever it asks, and others go on") {
  server_config config;
  config.limits.bytes_waiting = 256 << 10;
  config.limits.sessions = 2;
  config.limits.steps = 16;
  two_workers cluster(config);
  honest good(cluster.victim());
  const double before = resident_mib();
  std::vector<std::shared_ptr<deaf_client>> all;
  {
    const told_lines log;
    for (const question& q : questions()) {
      all.push_back(std::make_shared<deaf_client>(cluster.victim(), q));
      all.back()->begin();
    }
    CHECK(soon(
        [&] { return good.run() == 3 && std::all_of(all.begin(), all.end(), [](auto& c) { return c->is_over(); }); },
        60s));
    CHECK_THAT(log.all(),
               Catch::Contains("bytes wait for the client (limits.bytes_waiting), and it takes none of them"));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(questions()[i].of << ": " << all[i]->asked() << " asked");
    CHECK(all[i]->is_over());
    CHECK((all[i]->failed_early() ? all[i]->failed_early()->what() : "") == std::string());
  }
  all.clear();
  const double after = resident_mib();
  INFO(before << " MiB before, and " << after << " after");
  CHECK(after < before + 256);  // without the limit it would grow for as long as they ask
  CHECK(good.run() == 3);
}

}  // namespace
