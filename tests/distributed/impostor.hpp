// A task that is none of pinion's: it greets as a task does, and answers what it is told to answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <pinion/distributed/wire/messages.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace real {

using namespace pinion;

class impostor {
 public:
  // The request, without its payload, and the answer to it.
  using answer = std::function<rpc::message(std::string_view control)>;

  explicit impostor(const std::string& name)
      : me_{name, rpc::random_number()},
        door_(std::make_shared<rpc::acceptor>(*net_, net_->listen("127.0.0.1:0"),
                                              rpc::acceptor_options{.me = me_, .allowed = {}}, service())) {
    door_->start();
  }
  impostor(const impostor&) = delete;
  ~impostor() {
    door_->stop(error(errc::unavailable, "it is over"));
    rpc::settle(*net_);
  }

  const std::string& address() const { return door_->address(); }
  std::string target() const { return "pinion://" + address(); }
  std::uint64_t incarnation() const { return me_.incarnation; }

  void answers(rpc::method what, answer with) {
    std::lock_guard hold(mutex_);
    answers_[what] = std::move(with);
  }
  template <class M>
  void answers(const M& with) {
    answers(M::method, [m = std::make_shared<const M>(with)](std::string_view) { return rpc::encode(*m); });
  }

 private:
  rpc::service service() {
    return {
        .request = [this](const rpc::envelope& e, rpc::responder to,
                          const rpc::peer_ref&) -> std::unique_ptr<rpc::incoming> {
          std::lock_guard hold(mutex_);
          const auto at = answers_.find(e.method);
          to.reply(at == answers_.end() ? rpc::message() : at->second(e.control));
          return nullptr;
        },
        .notice = [](const rpc::envelope&, const rpc::peer_ref&) -> std::unique_ptr<rpc::incoming> { return nullptr; },
        .gone = {}};
  }

  const std::shared_ptr<rpc::network> net_ = rpc::tcp_network_of_this_process();
  const rpc::identity me_;
  std::mutex mutex_;
  std::map<rpc::method, answer> answers_;
  const std::shared_ptr<rpc::acceptor> door_;
};

}  // namespace real
