// The masters in this process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/rpc/security/credentials.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The masters of this process by address. A session that targets one of them calls it directly, and must know its key
// all the same, or have a certificate where it has one. One instance per process; it does not own the masters.
// Thread-safe.
class local_masters {
 public:
  static local_masters& instance();
  void add(const std::string& address, const rpc::credentials& its, std::weak_ptr<master> m);
  void remove(const std::string& address);
  // Returns the master at an address, or null. Throws unauthenticated if the credentials are wrong.
  std::shared_ptr<master> find(const std::string& address, const rpc::credentials& given);

 private:
  struct guarded {
    rpc::credentials its;
    std::weak_ptr<master> who;
  };
  std::mutex mutex_;
  std::map<std::string, guarded> masters_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/local_masters.ipp>
#endif
