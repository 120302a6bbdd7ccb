// Reads the requests and notices of clients, within their quotas.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/distributed/server/calls.hpp>
#include <pinion/distributed/server/quotas.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/worker/builders.hpp>
#include <pinion/distributed/worker/requester.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/typed.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

using answer_ref = std::shared_ptr<rpc::responder>;
// The receiver of the rest of a message; null: its payload is passed over.
using opened = std::unique_ptr<rpc::incoming>;

// A request or notice whose first bytes have come. The envelope is valid until its handler returns; what comes later
// keeps the peer and the answer.
struct delivery {
  const rpc::envelope& envelope;
  rpc::peer_ref peer;
  answer_ref answer;  // null for a notice
};

inline requester requester_of(const rpc::peer_ref& who) {
  return {who->channel, who->name, who->incarnation};
}

// An entry in the table of a service: a method or notice that it knows.
template <class Service>
struct handler {
  rpc::method method;
  opened (Service::*handle)(const delivery&);
  bool may_be_long = false;  // is it opened by the builders, or by code that looks before it takes?
  bool has_payload = false;
};

// Throws data_loss, which closes the connection, for a long message of a kind that is read on arrival, and for a
// payload where none belongs.
void expect_form(const rpc::envelope& e, bool may_be_long, bool has_payload);

// Hands a message to its handler in a service; nothing: the service does not know it. In the network's thread.
template <class Service>
std::optional<opened> hand_to(Service& service, std::span<const handler<Service>> all, const delivery& d) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const auto& h) { return h.method == d.envelope.method; });
  if (known == all.end()) return std::nullopt;
  expect_form(d.envelope, known->may_be_long, known->has_payload);
  return (service.*known->handle)(d);
}

// Replies with an empty message, or with the failure.
void settle(const answer_ref& answer, const outcome<>& how);

// Runs the body, and replies with the failure that it throws.
template <class Body>
void or_fail(const answer_ref& answer, const Body& body) {
  try {
    body();
  } catch (...) {
    answer->fail(current_error());
  }
}

// Replies with the result of the body, or with the failure that it throws.
template <class M, class Body>
void reply_with(const answer_ref& answer, M&& message, const Body& body) {
  answer->reply_with([&] { return rpc::encode(body(std::move(message))); });
}

// Receives a message that is answered on arrival.
template <class M, class Body>
opened on(const delivery& d, Body body) {
  return rpc::receive<M>(d.envelope, [answer = d.answer, body](M&& m) { reply_with(answer, std::move(m), body); });
}

// Reads what a message begins with.
template <class T>
T beginning_of(const delivery& d) {
  T first{};
  rpc::reader in(d.envelope.control, d.envelope.payload);
  in(first);
  return first;
}

// Does what looks a request up before its payload is taken. Refuses the request, and returns false, if that throws.
template <class Look>
bool welcome(const delivery& d, const Look& look) {
  const auto found = outcome_of(look);
  if (found) return true;
  if (found.failure()->code() == errc::data_loss) throw error(*found.failure());  // it cannot be read
  d.answer->fail(*found.failure());
  return false;
}

// Receives messages that are not read on arrival: in the order of their client, or in a thread of their own. Owned by a
// server, and used in the network's thread; the bodies run in the threads of the builders and in its own.
class request_reader {
 public:
  request_reader(std::string task, const server_limits& limits, builders& in_order)
      : task_(std::move(task)),
        session_bytes_(limits.session_bytes),
        quotas_(task_, limits),
        builders_(in_order),
        calls_(limits.threads) {}

  // The quotas of the clients.
  quotas& of_clients() { return quotas_; }
  const quotas& of_clients() const { return quotas_; }
  // Counts the bytes of a message towards those that its client has sent and that are not worked off. Throws
  // resource_exhausted for a client that sends more than is read.
  quotas::share hold(const delivery& d);
  // Refuses from now on what is to be read, so that no client can hold up the end of its task by what it asks.
  void close(const error& why);

  // Receives a message that may be large, or may follow a large one. The builders read and handle it, in the order in
  // which its client sent it, so that the network's thread does not.
  template <class M, class Body>
  opened in_order(const delivery& d, Body body) {
    return whole<M>(d, [this, client = d.peer->channel, body](const std::shared_ptr<unread<M>>& mail) {
      or_fail(mail->answer, [&] { builders_.add(client, [this, mail, body] { read(*mail, body); }); });
    });
  }
  // Receives a call that may wait for other tasks: it begins in the order of its client, then is read and runs in a
  // thread of its own. It counts among the bytes of its client as long as it waits for that thread, or for them.
  template <class M, class Body>
  opened waiting(const delivery& d, Body body) {
    return whole<M>(d, [this, client = d.peer->channel, body](const std::shared_ptr<unread<M>>& mail) {
      const auto call = [this, mail, body] {
        read(*mail, [&](M&& m, std::uint64_t, const quotas::share&) { reply_with(mail->answer, std::move(m), body); });
      };
      const auto begun = [this, client, mail, call] { or_fail(mail->answer, [&] { begin(client, call); }); };
      or_fail(mail->answer, [&] { builders_.add(client, begun); });
    });
  }
  // Begins a call of a client in a thread of its own. Throws as calls::begin() does.
  void begin(std::uint64_t client, calls::call what) { calls_.begin(client, std::move(what)); }
  // Forgets a client that is gone, with its calls. Returns whether it had asked for anything.
  bool forget(std::uint64_t client);
  // Waits for the builders and the calls. Each may give work to the other, but not for long once the master has
  // stopped.
  bool wait_until_idle(time_point until);

 private:
  // A message that has come and is not yet read, and its share of its client's bytes.
  template <class M>
  struct unread {
    answer_ref answer;
    quotas::share held;
    rpc::sealed<M> sealed = {};
  };
  // Receives a message for `then`, which gets it unread.
  template <class M, class Then>
  opened whole(const delivery& d, Then then) {
    const auto mail = std::make_shared<unread<M>>(unread<M>{d.answer, nullptr});
    if (!welcome(d, [&] {
          expect_open();
          mail->held = quotas_.of_unread(d.peer->channel, d.envelope.control.size(), d.envelope.payload);
        }))
      return nullptr;
    return rpc::receive_sealed<M>(d.envelope, [mail, then](rpc::sealed<M>&& sealed) {
      mail->sealed = std::move(sealed);
      then(mail);
    });
  }
  // Reads a message, and hands it to the body with the memory that it takes, as estimated, and with its share. A
  // message that cannot be read closes its connection, as one that is read on arrival does; one that takes too much
  // memory is refused.
  template <class M, class Body>
  void read(unread<M>& mail, const Body& body) {
    std::optional<M> message;
    try {
      message = mail.sealed.open(session_bytes_);
    } catch (...) {
      return refuse_unread(mail.answer, current_error());
    }
    const std::uint64_t memory = mail.sealed.memory();
    mail.sealed = {};
    or_fail(mail.answer, [&] { body(std::move(*message), memory, std::move(mail.held)); });
  }
  void refuse_unread(const answer_ref& answer, const error& why) const;
  void expect_open() const;

  const std::string task_;
  const std::uint64_t session_bytes_;
  quotas quotas_;
  builders& builders_;
  error farewell_{errc::unavailable, ""};
  std::atomic<bool> closed_{false};  // is farewell_ final, and said to those who ask for more?
  calls calls_;                      // last, since its threads use the others
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/request_reader.ipp>
#endif
