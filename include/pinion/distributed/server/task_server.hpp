// The services of one task of a cluster behind one port: the body of pinion::server, over any network.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/distributed/server/kept_variables.hpp>
#include <pinion/distributed/server/master_service.hpp>
#include <pinion/distributed/server/membership.hpp>
#include <pinion/distributed/server/options.hpp>
#include <pinion/distributed/server/reporter.hpp>
#include <pinion/distributed/server/request_reader.hpp>
#include <pinion/distributed/server/spare_memory.hpp>
#include <pinion/distributed/server/task_setup.hpp>
#include <pinion/distributed/server/worker_service.hpp>
#include <pinion/distributed/worker/exchange.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// One task: acceptor, master, worker and exchange, the services by which others reach them, and the threads that they
// use. Owns all of them. The public functions are thread-safe; requests are served in the network's thread, and
// anything slow moves to the builders or to a thread of its own.
class task_server {
 public:
  task_server(std::shared_ptr<rpc::network> net, const cluster_spec& cluster, const server_options& options,
              std::unique_ptr<rpc::listener> bound = nullptr, std::optional<server_threads> threads = {});
  // Stops the task, and waits without limit for work that stop() left running.
  ~task_server();

  const std::string& address() const { return place_.address; }
  const std::shared_ptr<master>& masters() const { return master_; }
  rpc::network& network() { return *net_; }
  const exchange& values() const { return exchange_; }

  // Blocks until stop(), a stop signal or a remote shutdown, then stops; in the last two cases after drain().
  void join();

  // Begins nothing more, and waits until what has begun has ended and its results are with those who asked for them,
  // but no longer than the grace. Returns whether it has; if not, the log names it.
  bool drain();

  // Stops the task within its stop_timeout, and takes leave of its peers as finished or stopped. Returns whether all
  // work has ended; if not, the log names it.
  bool stop(rpc::task_state as = rpc::task_state::stopped);

  traffic_counts traffic() const;

  // Tells of the task. Waits for the network's thread, and so is not for that thread.
  task_report report();
  // The clients that ask for metrics, which are counted by those who answer them.
  std::atomic<int>& metrics_clients() { return counts_.metrics_clients; }

 private:
  task_server(const server_threads& threads, std::shared_ptr<rpc::network> net, const cluster_spec& cluster,
              const server_options& options, std::unique_ptr<rpc::listener> bound);

  // ---- serving; in the network's thread

  rpc::service service();
  opened request(const delivery& d);
  opened notice(const delivery& d);
  // Requests for what the task says of itself, and for its end.
  std::optional<opened> own_request(const delivery& d);
  opened tell_devices(const delivery& d);
  opened tell_libraries(const delivery& d);
  opened tell_all(const delivery& d);
  opened shut_down(const delivery& d);

  void came(const rpc::peer_ref& who);
  void gone(const rpc::peer_ref& who, const error& why);

  // Drops what has waited too long: of the exchange each second, spare memory each tenth.
  static rpc::awaitable<void> sweep(task_server* self, std::shared_ptr<rpc::timer> timer,
                                    std::shared_ptr<bool> stopped);
  void sweep_once(bool frees);

  static constexpr auto max_network_wait = std::chrono::seconds(5);  // for an answer that takes microseconds
  static constexpr auto keeping_wait = std::chrono::seconds(1);
  client_report report_of(const rpc::peer_use& one) const;
  told_by_network told_by_network_now() const;

  void complain(const std::string& still_runs, rpc::duration waited) const;
  // Stops the server in a thread of its own, for a remote shutdown: stop() waits, and the network's thread must not.
  void stop_beside();
  void ask_to_stop();

  // The counts of the task for its report.
  struct counts {
    std::shared_ptr<rpc::traffic> traffic = std::make_shared<rpc::traffic>();
    std::shared_ptr<rpc::slab_account> slabs;  // of what processes of this host show the task
    std::atomic<int> metrics_clients{0};
  };
  // The services by which others reach its parts.
  struct services {
    worker_service worker;
    master_service master;
  };
  // The end of a task: who has asked for it, and how it has gone.
  struct end {
    explicit end(std::shared_ptr<rpc::timer> t) : sweeper(std::move(t)) {}
    countdown asked;
    std::atomic<bool> asked_once{false}, drains{false};
    std::thread stopper;  // made in the network's thread while it serves, joined by the destructor
    std::mutex one_at_a_time;
    bool stopped = false, all_ended = true;
    // The timer of the sweeps, and whether they are over, which the network's thread alone asks.
    const std::shared_ptr<rpc::timer> sweeper;
    const std::shared_ptr<bool> swept = std::make_shared<bool>(false);
  };

  const std::shared_ptr<rpc::network> net_;
  const server_config config_;
  const rpc::identity me_;
  task_place place_;  // the acceptor takes the listener
  counts counts_;
  runtime::task task_;
  kept_variables kept_;
  peers peers_;
  exchange exchange_;
  worker worker_;
  spare_memory spare_;
  membership members_;
  builders builders_;   // joined before the members above go, which their work uses
  thread_pool alarms_;  // the same
  request_reader reader_;
  std::shared_ptr<master> master_;
  services to_;
  const std::shared_ptr<rpc::acceptor> acceptor_;
  const reporter tells_{{me_, place_.address, *net_, task_, peers_, exchange_, worker_, *master_, *counts_.traffic,
                         *counts_.slabs, config_.limits}};
  end end_{net_->make_timer()};
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/task_server.ipp>
#endif
