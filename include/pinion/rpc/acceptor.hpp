// The acceptor takes connections, pairs the two lanes of each client, and hands requests to a service.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/deliveries.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/refusals.hpp>
#include <pinion/rpc/shared_memory/slab_account.hpp>
#include <pinion/rpc/transport/fuse.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// A client as a server sees it: both lanes of one channel. A value, shared by everything that answers it.
struct peer {
  std::uint64_t channel = 0;
  std::string name;               // "" for a client that is not a task
  std::uint64_t incarnation = 0;  // incarnation of the task
  std::string address = {};       // of its first connection
  std::string reached_at = {};    // the address of the task, if it is elastic
  std::uint64_t spec = 0;         // of such a task: a digest of the tasks in its cluster spec
};
using peer_ref = std::shared_ptr<const peer>;

// The share of a server's memory and connections that a client takes. A value.
struct peer_use {
  peer_ref who;
  duration silence{};  // since it was last heard
  int connections = 0;
  std::uint64_t bytes_waiting = 0;  // of answers that it has not yet taken
  shared_use shared = {};
};

// The host of an address "host:port".
inline std::string_view host_of_address(std::string_view address) {
  return address.substr(0, address.rfind(':'));
}

// The functions that answer requests and take notices. The acceptor calls them in the network's thread.
struct service {
  std::function<std::unique_ptr<incoming>(const envelope&, responder, const peer_ref&)> request;
  std::function<std::unique_ptr<incoming>(const envelope&, const peer_ref&)> notice;
  std::function<void(const peer_ref&)> came = {};           // called once for each client, before its first message
  std::function<void(const peer_ref&, const error&)> gone;  // called once for each client that is gone
  // Counts so many bytes of a message that is arriving, while the result lives; see connection_handlers.
  std::function<std::shared_ptr<void>(std::uint64_t bytes, const peer_ref&)> hold = {};
};

// The identity and the limits of an acceptor.
struct acceptor_options {
  identity me;
  duration handshake = std::chrono::seconds(5);  // limit of one handshake
  std::size_t handshakes = 256;                  // limit of those under way: one more ends the oldest
  std::size_t clients = 4096;                    // limit of clients; half of it of one address
  limits allowed{};
  // the most bytes that wait for a client to take them before the server reads no further request of it, and how long
  // it may take none of them then
  std::uint64_t bytes_waiting = std::uint64_t{64} << 20;
  duration max_wait = std::chrono::seconds(10);
  std::uint64_t bytes_waiting_of_all = std::uint64_t{16} << 30;  // for all clients, in equal shares
  std::shared_ptr<rpc::traffic> traffic = std::make_shared<rpc::traffic>();
  bool shared_memory = true;  // do clients of this host and user get one, unless it speaks TLS?
  std::shared_ptr<slab_account> slabs = std::make_shared<slab_account>();  // counts what they show and are lent
  refusals::sink log = {};  // takes the lines about refused clients; empty: the log
};

// The listening side of all channels to one task. Shared by its owner and its own coroutines. The functions start() and
// stop() may be called in any thread.
class acceptor : public std::enable_shared_from_this<acceptor> {
 public:
  acceptor(network& net, std::unique_ptr<listener> where, acceptor_options options, rpc::service what)
      : net_(net),
        listener_(std::move(where)),
        on_host_(options.shared_memory && !options.me.shows.tls ? net.listen_on_host(options.slabs) : nullptr),
        options_(std::move(options)),
        service_(std::move(what)),
        me_(options_.me),
        refusals_(options_.me.name, options_.log) {
    if (on_host_) me_.on_host = on_host_->address();
  }

  const std::string& address() const { return listener_->address(); }
  void start();
  // Adds what is on its way to clients. In the network's thread.
  void expect(deliveries& all) const;
  // Frees the port, tells the clients why, and closes their connections. Calls `stopped` in the network's thread;
  // nothing is served after that.
  void stop(const error& why, std::function<void()> stopped = {});

  // Is a client of that name there? In the network's thread.
  bool serves(const std::string& name) const;
  // The number of clients. In the network's thread.
  int clients() const { return static_cast<int>(clients_.size()); }
  // Tells what each of them takes. In the network's thread.
  std::vector<peer_use> uses() const;
  // The bytes of answers that they have not yet taken.
  std::uint64_t bytes_waiting() const { return waiting_->bytes(); }
  // The refusals of which the log is not told one by one. In the network's thread.
  std::uint64_t refusals_untold() const { return refusals_.untold(); }

 private:
  struct client {
    peer_ref who;
    std::shared_ptr<connection> lanes[2];
    duration heartbeat{};  // of the client: two of them without a byte of it, and it is gone
    time_point heard() const;
    peer_use use(time_point now) const;
  };
  // A connection in its handshake. It lives in the coroutine that receives it.
  struct visit {
    byte_stream* stream = nullptr;
    bool crowded_out = false;   // it is no longer in visits_ then
    std::uint64_t channel = 0;  // of the client for whom room was found; 0: not so far
    std::string host = {};      // of that client
  };

  // Keeps a visit among all as long as it lives.
  struct visiting {
    std::map<std::uint64_t, visit*>& all;
    std::uint64_t number;
    ~visiting() { all.erase(number); }
  };

  awaitable<void> accept(std::shared_ptr<acceptor> self, listener& from);
  awaitable<void> pause();

  awaitable<void> receive(std::shared_ptr<acceptor> self, std::unique_ptr<byte_stream> stream);
  // Shakes hands with a client, over TLS if this side speaks it: then `stream` becomes the encrypted one.
  awaitable<hello> meet(std::unique_ptr<byte_stream>& stream, visit& its);
  error why_ended(const visit& v, const fuse& limited, const error& why) const;
  // Makes room for another handshake, or for a descriptor.
  void end_oldest_visit();
  // Logs why a client was refused or thrown out, unless it only left.
  void note(const std::string& peer, const error& why) noexcept;

  // Throws failed_precondition for a control lane that shares memory: so a client has one such connection at most.
  static void expect_data_lane(const hello& theirs, byte_stream& stream);
  // Keeps a place for a client. Throws resource_exhausted for one too many, be they of one address or of all; those
  // count whose handshake is under way.
  void find_room(const hello& theirs, visit& its) const;
  void admit(const hello& theirs, std::unique_ptr<byte_stream> stream);
  std::unique_ptr<incoming> request(const envelope& e, responder answer, const peer_ref& who);
  std::shared_ptr<void> hold(std::uint64_t bytes, const peer_ref& who);

  // Closes both lanes of a client, and has the service let go of it.
  void drop(std::uint64_t id, const error& why);

  // Closes clients whose host vanished without a word.
  awaitable<void> sweep(std::shared_ptr<acceptor> self);
  void look_after_clients();
  void drop_silent();
  // Sees to clients that take nothing, where much waits for all of them, and gives back shared memory that is not used.
  void look_after_lanes();
  // The time when the next client has been silent too long, but soon at the latest.
  time_point next_sweep() const;
  // Counts clients as heard now that this process could not hear, since it was suspended or starved so long.
  void forgive(duration late);

  void stop_here(const error& why);

  network& net_;
  const std::unique_ptr<listener> listener_, on_host_;
  const acceptor_options options_;
  rpc::service service_;
  identity me_;
  refusals refusals_;
  const std::shared_ptr<backlog_of_all> waiting_ = std::make_shared<backlog_of_all>(options_.bytes_waiting_of_all);
  std::map<std::uint64_t, client> clients_;
  std::map<std::string, std::size_t, std::less<>> clients_at_;  // by the host of their address
  std::map<std::uint64_t, visit*> visits_;                      // the oldest first
  std::uint64_t last_visit_ = 0;
  std::unique_ptr<rpc::timer> sweeper_;
  time_point wake_{};  // when the sweeper wakes
  bool stopped_ = false;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/acceptor.ipp>
#endif
