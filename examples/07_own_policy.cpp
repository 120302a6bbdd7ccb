// A placement policy of one's own: any type that says, for each node, where it should go.
//
//   small ──┐             large ──┐
//           ├── matmul            ├── matmul_1
//   x ──────┘                x ───┘
//   /cpu:0                   /cpu:1, which has the memory
//
#include <pinion/session.hpp>

namespace pn = pinion;

// Variables above some size go to a device with room for them.
struct large_variables {
  static constexpr std::string_view name = "large_variables";  // what plans call it
  std::int64_t limit;                                          // bytes
  pn::device_spec device;

  pn::device_spec operator()(const pn::node_view& op) const {
    const bool large = op.is<pn::op::variable>() && op.bytes() > limit;
    return large ? pn::merge(device, op.device()) : op.device();  // what guards inside said stands
  }
};
static_assert(pn::placement_policy<large_variables>);

int main() {
  pn::expr<float> y, z;
  auto x = pn::placeholder<float>({1, 8}, "x");
  {
    // Policies combine: the first that has something to say decides.
    pn::device on{pn::first_of{large_variables{1024, pn::parse_device("/cpu:1")}, pn::variables_on{"/cpu:0"}}};
    auto small = pn::variable(pn::zeros<float>({8, 8}), {.name = "small"});
    auto large = pn::variable(pn::zeros<float>({8, 512}), {.name = "large"});
    y = pn::matmul(x, small);
    z = pn::matmul(x, large);
  }
  pn::device idle{large_variables{1 << 30, pn::parse_device("/gpu:0")}};  // the plan says that it was of no use
  auto more = z + 1;

  pn::session sess{{.cpu_devices = 2}};
  fmt::print("{}\n", sess.plan(y, more));
}
