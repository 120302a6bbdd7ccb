// Numbers that nobody can guess, and a comparison that tells nothing of what it compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

inline constexpr std::size_t nonce_size = 16;

// Returns a random number other than 0. Throws internal if the system gives none, as nonce() does.
std::uint64_t random_number();

// Returns a number for this life of a process, other than 0: that of a later life is larger, by the clocks of the
// hosts, and those that begin in the same millisecond differ by a random part.
std::uint64_t new_incarnation();

// Does a number say that a life begins more than a day from now, by the clock of this host? No clock that somebody
// looks after is so wrong; who says so wants to be taken for the latest life for ever.
bool is_of_the_future(std::uint64_t incarnation);

// Returns random bytes that are used once.
std::string nonce();

// Compares two secrets of a length that everybody knows, in a time that does not depend on where they differ.
bool same_proof(std::string_view a, std::string_view b);

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/security/security.ipp>
#endif
