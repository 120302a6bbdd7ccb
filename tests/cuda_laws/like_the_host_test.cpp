// Ops that move, choose, draw and convolve elements: on a GPU they yield the host's values.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <set>

#include "cuda_laws/values_on.hpp"

namespace {

namespace pn = pinion;
using cuda_tests::values_on, cuda_tests::world;

const std::set<std::string_view> exact{
    "Fill",      "ZerosLike",    "OnesLike", "Range",         "Shape",   "Transpose",   "ConcatV2",
    "SplitLike", "Split",        "Slice",    "SliceLike",     "PadLike", "Pad",         "Tile",
    "Gather",    "ScatterDense", "OneHot",   "RandomUniform", "MaxPool", "MaxPoolGrad", "MaxPoolGradGrad"};
const std::set<std::string_view> rounded{"TileGrad", "RandomStandardNormal", "TruncatedNormal",
                                         "Conv2D",   "Conv2DBackpropInput",  "Conv2DBackpropFilter",
                                         "AvgPool",  "AvgPoolGrad"};

bool are_close(const pn::any_tensor& a, const pn::any_tensor& b) {
  return pn::visit_plain(a.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const double x = static_cast<double>(a.data<T>()[i]), y = static_cast<double>(b.data<T>()[i]);
      if (!(std::abs(x - y) <= 1e-5 * std::max(1., std::abs(y)))) return false;
    }
    return true;
  });
}

bool agree(std::string_view op, const pn::any_tensor& a, const pn::any_tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  return exact.contains(op) ? laws::same_bits(a, b) : are_close(a, b);
}

}  // namespace

TEST_CASE("ops that move, choose, draw and convolve yield on a GPU what they yield on the host") {
  constexpr int runs = 3;  // a GPU records the second, and replays the third
  std::set<std::string_view> tried;
  pn::for_each_type(pn::op::catalogue{}, [&]<class Op>() {
    if (!exact.contains(Op::name) && !rounded.contains(Op::name)) return;
    world here;
    pn::session sess;
    for (const laws::sample& s : laws::samples_of(Op::name, 5, 7))
      for (const pn::dtype key : laws::types_of(Op::kernels.gpu)) {
        if (!laws::makes_sense(Op::name, key)) continue;
        INFO(laws::title(Op::name, s, key));
        const laws::call c = laws::call_of(Op::name, s, key);
        const auto there = values_on("/gpu:0", here.g, c, sess, runs),
                   host = values_on("/cpu:0", here.g, c, sess, runs);
        REQUIRE(there.size() == host.size());
        for (std::size_t k = 0; k < host.size(); ++k) CHECK(agree(Op::name, there[k], host[k]));
        tried.insert(Op::name);
      }
    CHECK(fake_cuda::take_misuses().empty());
  });
  CHECK(tried.size() == exact.size() + rounded.size());
}

TEST_CASE_METHOD(world, "an index outside fails the step on a GPU in the host's words") {
  const auto sentence_on = [&](const std::string& device) {
    const pn::device on{device};
    const auto ids = pn::placeholder<int>({pn::unknown});
    const auto rows = pn::gather(pn::constant<float>({1, 2, 3}), ids);
    pn::session sess;
    return failure([&] { sess.run({{ids, {0, 3, -1}}}, rows); });
  };
  CHECK(sentence_on("/gpu:0") == "invalid_argument: index 3 at position 1 is not in [0, 3)");
  CHECK(sentence_on("/gpu:0") == sentence_on("/cpu:0"));
}

TEST_CASE_METHOD(world, "each execution draws other random numbers on a GPU, and the host's") {
  const auto drawn_on = [&](const std::string& device) {
    const pn::device on{device};
    const auto x = pn::random_uniform<float>({100}, {.seed = 7});
    pn::session sess;
    std::vector<pn::tensor<float>> runs;
    for (int i = 0; i < 3; ++i) runs.push_back(sess.run(x));
    return runs;
  };
  const auto there = drawn_on("/gpu:0");
  CHECK(there == drawn_on("/cpu:0"));
  CHECK(!(there[0] == there[1]));
}
