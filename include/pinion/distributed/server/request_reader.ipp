// Bodies of <pinion/distributed/server/request_reader.hpp>.
#pragma once

#include <pinion/distributed/server/request_reader.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void expect_form(const rpc::envelope& e, bool may_be_long, bool has_payload) {
  constexpr std::size_t longest = 2 * rpc::long_control;  // the key of a value and the name of a master, and no more
  if (!may_be_long && e.control.size() > longest)
    throw error(errc::data_loss, "a message of method " + std::to_string(e.method) + " has " +
                                     std::to_string(e.control.size()) + " bytes of control; the limit is " +
                                     std::to_string(longest));
  if (!has_payload && e.payload > 0)
    throw error(errc::data_loss, "a message of method " + std::to_string(e.method) + " has " +
                                     std::to_string(e.payload) + " bytes of payload, and takes none");
}

PINION_DECL void settle(const answer_ref& answer, const outcome<>& how) {
  if (how)
    answer->reply(rpc::message());
  else
    answer->fail(*how.failure());
}

PINION_DECL quotas::share request_reader::hold(const delivery& d) {
  return quotas_.of_message(d.peer->channel, d.envelope.control.size() + d.envelope.payload);
}

PINION_DECL void request_reader::close(const error& why) {
  farewell_ = why;
  closed_ = true;
}

PINION_DECL void request_reader::expect_open() const {
  if (closed_) throw error(farewell_);
}

PINION_DECL bool request_reader::forget(std::uint64_t client) {
  const bool had_asked = quotas_.forget(client);
  calls_.drop(client);
  return had_asked;
}

PINION_DECL bool request_reader::wait_until_idle(time_point until) {
  return builders_.wait_until_idle(until) && calls_.join(until) && builders_.wait_until_idle(until);
}

PINION_DECL void request_reader::refuse_unread(const answer_ref& answer, const error& why) const {
  if (why.code() != errc::resource_exhausted) return answer->hang_up(why);
  const auto told = outcome_of([&] {
    answer->fail(error(why.code(), why.sentence() + " in " + task_ + " (server_config.limits.session_bytes)"));
  });
  if (!told) answer->fail(why);
}

}}}  // namespace pinion::v0::distributed
