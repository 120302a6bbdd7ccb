// Does a process begin the library of matrix products ahead? Says what becomes of it, and ends at once.
//
//   library_start <what there is>
#include <pinion/base/head_start.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/pinion.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed.hpp>
#endif

#include <cstdio>
#include <optional>
#include <string>

namespace {

namespace pn = pinion;

template <class T>
auto product() {
  return pn::matmul(pn::constant<T>({{1, 2}, {3, 4}}), pn::constant<T>({{1, 0}, {0, 1}}));
}

void have(const std::string& what) {
  if (what == "a session with no product") {
    auto sum = pn::constant(1.0f) + pn::constant(2.0f);
    pn::session sess;
    sess.run(sum);
  } else if (what == "a session with a product of doubles") {
    product<double>();
    pn::session sess;
  } else if (what == "a session with a product of floats") {
    product<float>();
    pn::session sess;
  } else if (what == "a session that a product comes to") {
    pn::session sess;
    sess.run(product<float>());
  } else if (what == "a session that stays when the process ends") {
    product<float>();
    static std::optional<pn::session> sess;
    sess.emplace();
  }
#if PINION_HAS_DISTRIBUTED
  if (what == "a server") pn::local_cluster{{{"worker", 1}}};
#endif
}

}  // namespace

int main(int, char** words) {
  have(words[1]);
  std::printf(pn::head_start<pn::op::start_products>::begun() ? "begun" : "not begun");
}
