// A placer of one's own: it sees the whole graph, and gives every group of nodes that must stand together a device.
//
//   a ── mul ──── Sum ────┐
//                         ├── add      each to the device that has the least bytes so far
//   b ── mul_1 ── Sum_1 ──┘
//
#include <pinion/session.hpp>

namespace pn = pinion;

struct even_bytes {
  pn::placement operator()(const pn::placement_problem& problem) const {
    pn::placing work(problem);  // knows which groups there are, and where each may stand
    std::vector<std::int64_t> bytes(problem.devices.size(), 0);
    for (auto group : work.left()) {
      int best = -1;
      for (int device : work.candidates(group))
        if (best < 0 || bytes[device] < bytes[best]) best = device;
      for (auto i : work.groups().members(group))
        for (auto& out : work.groups().at(i).outputs) bytes[best] += out.shape.count() * pn::size_of(out.dtype);
      work.put(group, best, "the least bytes so far");
    }
    return work.result();  // refused unless every rule is kept
  }
};
static_assert(pn::placer<even_bytes>);

int main() {
  auto a = pn::placeholder<float>({100}, "a"), b = pn::placeholder<float>({300}, "b");
  auto square_a = pn::reduce_sum(a * a), square_b = pn::reduce_sum(b * b);
  auto sum = square_a + square_b;

  pn::session sess{{.placer = even_bytes{}, .cpu_devices = 2}};
  fmt::print("{}\n", sess.plan(sum));
  pn::tensor<float> ones{{100}}, twos{{300}};
  for (auto& x : ones.span()) x = 1;
  for (auto& x : twos.span()) x = 2;
  fmt::print("{}\n", float(sess.run({{a, ones}, {b, twos}}, sum)));
}
