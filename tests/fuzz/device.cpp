// Names of devices and tasks, addresses and transfer keys: the texts that peers and users give.
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/rpc/transport/network.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/spec/host_port.hpp>

#include <fuzz/target.hpp>

namespace fuzz { namespace {

void read_key(std::string_view text) {
  const transfer_key key{std::string(text)};
  const auto from = key.from(), to = key.to();
  law(from.size() + to.size() <= 2 * text.size(), "the parts of a key are longer than the key");
  law(key.from_task().size() <= from.size() && key.to_task().size() <= to.size(), "a task is longer than its device");
}

// Returns true for an address.
bool read_address(const std::string& text) {
  try {
    cluster_spec cluster;
    cluster.add_task("ps", 0, text);
    law(to_string(cluster).size() > text.size(), "a cluster forgets an address");
    rpc::endpoint whole(text);
    if (host_port(text).valid()) static_cast<void>(host_port(text).is_loopback());
    return true;
  } catch (const error&) {
    return false;
  }
}

void read(std::string_view input) {
  read_key(input);
  if (read_address(std::string(input))) return;
  const device_spec spec = parse_device(input);
  const std::string text = to_string(spec);
  law(parse_device(text) == spec, "a device spec changes as it is written");
  law(merge(spec, spec) == spec && merge({}, spec) == spec && merge(spec, {}) == spec, "a merge changes a field");
  law(is_specification({}, spec) && is_specification(spec, spec), "a spec does not specify itself");
  const device_spec other = parse_device("/job:ps/task:0/device:GPU:1");
  law(is_specification(merge(spec, other), merge(spec, other)), "what is merged does not specify itself");
  law(compatible(spec, other) == compatible(other, spec), "one is compatible with the other, and not the other way");
}

std::vector<std::string> seeds() {
  return {"",
          "/job:ps/task:0/cpu:0",
          "/job:worker/replica:0/task:17/device:GPU:3",
          "job:a-b_c/device:sim:*",
          "/device:*",
          "//gpu//task:2147483647/",
          "/task:1/task:*/job:*",
          "/job:ps/replica:0/task:0/device:CPU:0",
          "127.0.0.1:2222",
          "[::1]:0"};
}

const enrolled here({.name = "device", .read = read, .seeds = seeds, .most_memory = [](std::string_view input) {
                       return 64 * input.size() + 8192;  // a sentence quotes each byte that is no text by four
                     }});

}}  // namespace fuzz
