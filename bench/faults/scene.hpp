// A job with what is needed to hurt one of its tasks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../examples/support/free_port.hpp"
#include "job.hpp"
#include "proxy.hpp"
#include "world.hpp"

namespace faults {

enum class role { ps, chief, worker, launcher };

inline const char* name_of(role r) {
  constexpr const char* names[] = {"ps", "chief", "worker", "launcher"};
  return names[static_cast<int>(r)];
}
inline member member_of(role r) {
  if (r == role::launcher) return {"launcher", 0};
  return r == role::ps ? member{"ps", 0} : member{"worker", r == role::chief ? 0 : 1};
}

// The thing that stands between a task and the others, or under it.
enum class means { none, proxy, far_host, small_disk };

// Owns the job and the means. For one thread.
struct scene {
  const role hurt;
  const member victim = member_of(hurt);
  std::vector<free_port> ports;
  std::unique_ptr<far_host> host;
  std::unique_ptr<small_disk> disk;
  std::unique_ptr<listening_socket> squatter;
  faults::job job;
  std::unique_ptr<faults::proxy> way;

  // The number is the scene's own among those that there are at a time.
  scene(role r, means m, const training& how, int number)
      : hurt(r),
        host(m == means::far_host ? std::make_unique<far_host>(number) : nullptr),
        disk(m == means::small_disk ? std::make_unique<small_disk>(how.folder) : nullptr),
        job(how, addresses()) {
    if (m == means::proxy) {
      job.put_front(victim, ports.emplace_back().address());
      way = std::make_unique<faults::proxy>(ports.back().address(), job.cluster().address(victim.job, victim.task));
    }
    if (host) job.put_prefix(victim, host->prefix());
  }

  void kill() { job.signal(victim.name(), SIGKILL); }

 private:
  pinion::cluster_spec addresses() {
    pinion::cluster_spec cluster;
    int port = 2221;
    for (const member& m : all_members()) {
      ++port;
      cluster.add_task(m.job, m.task,
                       !host         ? ports.emplace_back().address()
                       : m == victim ? host->far_address(port)
                                     : host->near_address(port));
    }
    return cluster;
  }
};

}  // namespace faults
