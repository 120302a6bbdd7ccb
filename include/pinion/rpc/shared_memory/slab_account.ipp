// Bodies of <pinion/rpc/shared_memory/slab_account.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/rpc/shared_memory/slab_account.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {
inline constexpr std::uint64_t least_parts = 8;  // of what is left, for one connection

// A slab that counts as long as this lives.
struct counted_slab {
  counted_slab(std::shared_ptr<slab_share> by, const slab_count& its) : share(std::move(by)), one(its) {}
  counted_slab(const counted_slab&) = delete;
  ~counted_slab() {
    if (counts) share->give_back(one);
  }
  const std::shared_ptr<slab_share> share;
  const slab_count one;
  bool counts = false;
};
}  // namespace detail

PINION_DECL std::shared_ptr<slab_share> slab_account::open_share() {
  std::lock_guard hold(mutex_);
  const slab_count left = limits_.of_all - set_aside_;
  const slab_count most{std::min(limits_.of_one.slabs, left.slabs / detail::least_parts),
                        std::min(limits_.of_one.bytes, left.bytes / detail::least_parts)};
  auto made = std::make_shared<slab_share>(shared_from_this(), most);
  set_aside_ += most;
  ++connections_;
  return made;
}

PINION_DECL slab_count slab_account::mapped() const {
  std::lock_guard hold(mutex_);
  return mapped_;
}

PINION_DECL std::uint64_t slab_account::lent() const {
  std::lock_guard hold(mutex_);
  return lent_;
}

PINION_DECL std::uint64_t slab_account::connections() const {
  std::lock_guard hold(mutex_);
  return connections_;
}

PINION_DECL slab_share::~slab_share() {
  end();
  std::lock_guard hold(of_->mutex_);
  of_->lent_ -= lent_;
  --of_->connections_;
}

PINION_DECL shared_use slab_share::use() const {
  std::lock_guard hold(of_->mutex_);
  return {mapped_, lent_};
}

PINION_DECL bool slab_share::takes(std::uint64_t bytes) const {
  return bytes <= most_.bytes && (mapped_ + slab_count{1, bytes}).fits(most_);
}

PINION_DECL bool slab_share::has_room(std::uint64_t bytes) const {
  std::lock_guard hold(of_->mutex_);
  return takes(bytes);
}

PINION_DECL std::shared_ptr<void> slab_share::count(std::uint64_t bytes) {
  const slab_count one{1, bytes};
  const auto counted = std::make_shared<detail::counted_slab>(shared_from_this(), one);  // it takes memory: first
  std::lock_guard hold(of_->mutex_);
  if (!takes(bytes))
    throw error(errc::resource_exhausted, "the peer shows more than " + std::to_string(most_.slabs) +
                                              " slabs of memory, or " + std::to_string(most_.bytes) +
                                              " bytes of them (its share of server_config.limits.slabs)");
  counted->counts = true;
  mapped_ += one;
  of_->mapped_ += one;
  return counted;
}

PINION_DECL void slab_share::give_back(const slab_count& one) {
  std::lock_guard hold(of_->mutex_);
  mapped_ -= one;
  of_->mapped_ -= one;
  if (ended_) of_->set_aside_ -= one;
}

PINION_DECL bool slab_share::lend(std::uint64_t bytes) {
  std::lock_guard hold(of_->mutex_);
  const std::uint64_t left = of_->limits_.lent_of_all - (of_->lent_ - lent_);
  if (lent_ + bytes > left / detail::least_parts) return false;
  lent_ += bytes;
  of_->lent_ += bytes;
  return true;
}

PINION_DECL void slab_share::end_loan(std::uint64_t bytes) {
  std::lock_guard hold(of_->mutex_);
  bytes = std::min(bytes, lent_);  // the other end may lie
  lent_ -= bytes;
  of_->lent_ -= bytes;
}

PINION_DECL void slab_share::end() {
  std::lock_guard hold(of_->mutex_);
  if (std::exchange(ended_, true)) return;
  of_->set_aside_ -= most_ - mapped_;
}

}}}  // namespace pinion::v0::rpc
