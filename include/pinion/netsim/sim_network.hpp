// A network simulated in virtual time, repeatable and with faults on command: the main test of the protocol.
//
// Invariants
//  1. One thread runs everything: the one that calls wait(), run_for() or run_until_idle() runs all hosts. Nothing
//     sleeps in real time.
//  2. Time stands still while anything is ready to run, then jumps to the next event. Events of the same time happen
//     in the order in which they were scheduled.
//  3. Equal options and equal calls give equal events: every choice is drawn from one generator, in the order of
//  events.
//  4. A coroutine is resumed through the context, never from inside the function that wakes it.
//  5. In each direction bytes arrive in order and once, or the stream breaks. Bytes that had arrived when the peer
//     closed or broke the stream are still read.
//  6. At most options.buffer bytes of a direction are sent and unread; beyond that the writer waits until half of them
//     are read. It learns this at once: acknowledgements are not simulated.
//  7. Over a cut direction nothing arrives, and no host is told; the bytes sent arrive after heal(). No connection is
//     made while either direction is cut.
//  8. A frozen host is a stopped process: its coroutines stay suspended and its writes do not begin, while its kernel
//     still receives bytes, sends what it had accepted and completes connections. Events that became due meanwhile
//     happen at thaw(), in order. Functions posted to the context are not delayed.
//  9. A killed host is an incarnation that ended: its streams and listeners are broken for good. Its peers learn of it
//     (over a cut direction: after heal()) after a part of the bytes on the way. Its timers still run, so that its
//     objects can be destroyed. The next host() of that name is a new incarnation.
// 10. The world ends with the first sim_network: all suspended coroutines are destroyed then. Hosts, streams, listeners
//     and timers that outlive it may be held and destroyed, but nothing happens any more.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/netsim/options.hpp>
#include <pinion/netsim/world.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// The network as seen by one host: the first object is the host "client", host() returns the others. Host names are
// free; a loopback address ("127.0.0.2") serves where an address is needed. Owns the simulated world, which ends with
// the first sim_network. Used by one thread. Coroutines may own results of host(), but not the first sim_network.
class sim_network final : public rpc::network {
 public:
  explicit sim_network(sim_options options = {});
  sim_network(const sim_network&) = delete;
  ~sim_network() override;
  std::shared_ptr<sim_network> host(const std::string& name);

  void cut(const std::string& a, const std::string& b);  // cut() and heal() act on both directions
  void cut_way(const std::string& from, const std::string& to);
  void heal(const std::string& a, const std::string& b);
  void freeze(const std::string& host);
  void thaw(const std::string& host);
  void kill(const std::string& host);
  void reset(const std::string& a, const std::string& b);  // breaks the streams between two hosts at both ends, at once

  void run_for(duration time);
  // The time of the first event that is left; now, where something may be ready to run.
  std::optional<time_point> next_event() const;
  void skip_to(time_point when);  // the clock jumps, to a time before the next event
  void run_until_idle();          // until no event is left, which never happens while a timer is always set anew
  const std::vector<std::string>& log() const;  // lines of "nanoseconds event"; empty unless options.keep_log

  asio::io_context& context() override;
  time_point now() const override;
  std::unique_ptr<rpc::timer> make_timer() override;
  std::uint64_t draw() override;
  awaitable<std::unique_ptr<byte_stream>> connect(std::string address, time_point deadline) override;
  std::unique_ptr<rpc::listener> listen(const std::string& address) override;  // the address must name this host
  // Throws internal when the event can never happen.
  bool wait(countdown& event, const std::optional<time_point>& deadline) override;

 private:
  sim_network(std::shared_ptr<netsim::world> world, std::shared_ptr<netsim::host> host)
      : world_(std::move(world)), host_(std::move(host)) {}
  std::shared_ptr<netsim::world> world_;
  std::shared_ptr<netsim::host> host_;
  bool first_ = false;
};

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/sim_network.ipp>
#endif
