// Bodies of <pinion/distributed/worker/early_values.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/worker/early_values.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL early_values::share& early_values::share::operator+=(const share& o) {
  values += o.values, failed += o.failed, bytes += o.bytes;
  return *this;
}

PINION_DECL early_values::share& early_values::share::operator-=(const share& o) {
  values -= o.values, failed -= o.failed, bytes -= o.bytes;
  return *this;
}

PINION_DECL std::string early_values::sender_of(const rpc::peer& from) {
  return from.name + " " + std::to_string(from.incarnation) + " " + std::string(rpc::host_of_address(from.address));
}

PINION_DECL early_values::share early_values::of(const std::string& sender) const {
  const auto at = all_.find(sender);
  return at == all_.end() ? share() : at->second;
}

PINION_DECL std::size_t early_values::count() const {
  std::size_t all = 0;
  for (const auto& [sender, has] : all_) all += has.values;
  return all;
}

PINION_DECL std::optional<error> early_values::refusal(const std::string& sender, std::uint64_t bytes) const {
  const share has = of(sender);
  if (has.values < most_ && has.bytes + bytes <= most_bytes_ / 4 && fits_all(bytes)) return std::nullopt;
  const error why = too_much(sender);
  if (has.failed >= most_ || bytes_ > 2 * most_bytes_) throw error(why);
  return why;
}

PINION_DECL error early_values::too_much(const std::string& sender) const {
  const bool values = of(sender).values >= most_;
  const std::string most = values ? std::to_string(most_) + " values"
                                  : std::to_string(most_bytes_ / 4) + " bytes, or all tasks more than " +
                                        std::to_string(most_bytes_) + ", of values";
  return error(errc::resource_exhausted, name_in(sender) + " sent more than " + most +
                                             " for runs that have not begun in " + task_ + " (server_config.limits." +
                                             (values ? "early_values)" : "early_bytes)"));
}

PINION_DECL std::string early_values::makes_room(const std::string& for_sender, std::uint64_t bytes) const {
  if (fits_all(bytes)) return {};
  const share* most = nullptr;
  std::string found;
  for (const auto& [sender, has] : all_)
    if (has.values > 0 && (!most || has.bytes > most->bytes)) most = &has, found = sender;
  return most && most->bytes > of(for_sender).bytes + bytes ? found : std::string();
}

PINION_DECL void early_values::add(shares& of_run, const std::string& sender, const share& more) {
  of_run[sender] += more;
  all_[sender] += more;
  bytes_ += more.bytes;
}

PINION_DECL void early_values::remove(shares& of_run) {
  for (const auto& [sender, has] : of_run) {
    const auto at = all_.find(sender);
    if ((at->second -= has) == share()) all_.erase(at);
    bytes_ -= has.bytes;
  }
  of_run.clear();
}

}}}  // namespace pinion::v0::distributed
