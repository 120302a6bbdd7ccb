// The wire form of scalar programs, and the checks on an incoming one before any code walks over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/rpc/archive.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

template <class A>
void serialize(A& a, number& n) {
  a(n.real, n.integer);
}
template <class A>
void serialize(A& a, result& r) {
  a(r.value, r.type);
}
void save(rpc::writer& a, const instruction& in);
void load(rpc::reader& a, instruction& in);

void save(rpc::writer& a, const program& p);
void load(rpc::reader& a, program& p);

// A program as an attribute holds it.
void save(rpc::writer& a, const std::shared_ptr<const program>& p);
void load(rpc::reader& a, std::shared_ptr<const program>& p);

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/program.ipp>
#endif
