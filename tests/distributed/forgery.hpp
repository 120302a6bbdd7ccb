// Parts of steps that a client registers as it likes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <distributed/liar.hpp>

#include <support/ends.hpp>

namespace real {

using runtime::part_item;

// A graph of one constant, and parts of steps that mention it.
struct forgery : own_graph {
  node_id c = id_of(constant(tensor<float>({1, 2}), "c"));
  std::vector<runtime::partition> parts = std::vector<runtime::partition>(1);

  part_item compute() const { return {.kind = part_item::compute, .node = c, .outputs = 1}; }
  part_item receive(const std::string& key) const {
    return {.kind = part_item::receive, .node = c, .key = transfer_key(key), .outputs = 1};
  }
  forgery& with(part_item it, std::size_t part = 0) {
    if (part == parts.size()) parts.emplace_back();
    parts[part].items.push_back(std::move(it));
    return *this;
  }
  distributed::register_step message(const distributed::session_id& session, std::uint64_t step) {
    return {session, step, distributed::cut(g, parts), {}, false};
  }
};
inline std::string to_itself(const std::string& device) {
  return "c:0;" + device + ";" + device;
}

constexpr std::uint64_t some_session = 77;
inline distributed::run_step run_of(const distributed::session_id& session, std::uint64_t step,
                                    std::uint64_t number = 1) {
  return {{session, number}, step, false};
}
inline distributed::register_step empty_step(const distributed::session_id& session, std::uint64_t step) {
  forgery f;
  return f.with(f.compute()).message(session, step);
}

}  // namespace real
