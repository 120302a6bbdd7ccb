// A client of the protocol itself, which may say what it likes.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <pinion/distributed.hpp>
#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/waiting.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>

#include <distributed/task_names.hpp>
#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace real {

using namespace pinion;
using namespace std::chrono_literals;
using distributed::nothing;

// A client that claims to be a task, or that is none.
class liar {
 public:
  explicit liar(const std::string& target, const std::string& task = "", std::uint64_t life = rpc::random_number())
      : name(task),
        incarnation(life),
        way_(std::make_shared<rpc::channel>(*net_, address_of_target(target), "",
                                            rpc::channel_options{.me = {name, incarnation}, .allowed = {}})) {
    distributed::connect_and_wait(*net_, way_, {.what = {}, .until = soon()});
  }
  liar(const liar&) = delete;
  ~liar() {
    way_->close(error(errc::cancelled, "the client is done with it"));
    rpc::settle(*net_);
  }

  const std::string name;
  const std::uint64_t incarnation;
  distributed::session_id session(std::uint64_t number) const { return {name, incarnation, number}; }

  // Sends a request, and does not wait for its answer.
  template <class Reply = nothing, class Request>
  void order(
      const Request& request, completion<Reply> done = [](outcome<Reply>) {}) {
    rpc::call<Reply>(*way_, rpc::lane::data, request, std::move(done));
  }
  template <class Reply = nothing, class Request>
  Reply ask(const Request& request) {
    return distributed::ask_and_wait<Reply>(*net_, way_, request, {.what = {}, .until = soon()});
  }
  template <class Notice>
  void tell(const Notice& notice) {
    way_->notify(rpc::lane::data, Notice::method, rpc::encode(notice));
    ask<distributed::status_reply>(distributed::status_request{});  // then it has been read
  }
  // Sends a notice, and does not wait until it has been read. In any thread.
  template <class Notice>
  void note(const Notice& notice) {
    way_->notify(rpc::lane::data, Notice::method, rpc::encode(notice));
  }
  // Says anything as a request or as a notice. Returns the error with which it is answered, or thrown out; nothing: it
  // was served, or not heeded.
  std::optional<error> say(rpc::method what, rpc::message m, bool request) {
    try {
      if (!request) {
        way_->notify(rpc::lane::data, what, std::move(m));
        ask<distributed::status_reply>(distributed::status_request{});  // then it has been read
        return std::nullopt;
      }
      distributed::wait_for<void>(*net_, {.what = {}, .until = soon()}, [&](auto done) {
        way_->request(rpc::lane::data, what, std::move(m),
                      {.open = [done](const rpc::envelope&) -> std::unique_ptr<rpc::incoming> {
                         done({});
                         return nullptr;
                       },
                       .failed = [done](const error& why) { done(why); }});
      });
      return std::nullopt;
    } catch (const error& e) {
      return e;
    }
  }
  // The life of the task that it speaks to.
  std::uint64_t life_of_other() const { return way_->incarnation(); }

 private:
  time_point soon() const { return net_->now() + 20s; }
  const std::shared_ptr<rpc::network> net_ = rpc::tcp_network_of_this_process();
  const std::shared_ptr<rpc::channel> way_;
};

// Two workers; the liars speak to the first, and may claim to be the second.
struct two_workers : local_cluster {
  explicit two_workers(const server_config& config = {}) : local_cluster({{"worker", 2}}, config) {}
  std::string victim() { return target("worker", 0); }
  std::uint64_t life_of_second() { return liar(target("worker", 1)).life_of_other(); }
};
inline const std::string other_worker = name_of("worker", 1);

// A session that an honest client has at the master of a task, and a step of it that fetches 3.
struct honest {
  liar client;
  std::uint64_t session = client.ask<distributed::opened_session>(distributed::open_session{}).session;
  std::uint64_t step = 0;

  explicit honest(const std::string& target) : client(target) {
    graph g;
    const auto use = g.as_default();
    const auto three = constant(3.f, "three");
    client.ask(distributed::extend_graph{session, distributed::delta_since(g)});
    step =
        client.ask<distributed::prepared_reply>(distributed::prepare_step{session, 0, {{}, {end_of(three)}, {}}}).step;
  }
  float run() {
    const auto reply = client.ask<distributed::run_reply>(distributed::run_prepared{session, step, 0, {}, false});
    return reply.fetches.at(0).data<float>()[0];
  }
};

}  // namespace real
