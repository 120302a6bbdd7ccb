// Bodies of <pinion/distributed/client/stop_request.hpp>.
#pragma once

#include <pinion/distributed/client/stop_request.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL stop_request::stop_request(const std::shared_ptr<rpc::network>& net, const std::string& address,
                                       const std::string& task, const security_options& security)
    : to_(net, address, task, rpc::credentials_of(security)) {
  reach(*net, to_.route, std::chrono::seconds(1));
  to_.route->observe([gone = gone_](const error&) { gone->count_down(); });
  const wait_options soon{.what = {}, .until = net->now() + std::chrono::seconds(10)};
  try {
    const auto reply = ask_and_wait<shutdown_reply>(*net, to_.route, shutdown_request{}, soon, rpc::lane::control);
    until_ = net->now() + from_ms(reply.within_ms).value_or(std::chrono::seconds(10)) + std::chrono::seconds(1);
  } catch (const error&) {  // a task says goodbye on both lanes, and on the other it may overtake the answer
    if (to_.route->view().state != rpc::task_state::stopped) throw;
    until_ = net->now();
  }
}

PINION_DECL void stop_request::wait() {
  to_.net->wait(*gone_, until_);
}

}}}  // namespace pinion::v0::distributed
