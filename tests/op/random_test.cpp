// Random ops: known answers, reproducibility, and the moments of what is drawn.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include <pinion/op/random/philox.hpp>

#include "support/kernel_bench.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;

attributes drawing(dtype type, const shape& extent, attributes more, std::int64_t seed = 1) {
  more.set("dtype", type);
  more.set("shape", extent);
  more.set("seed", seed);
  return more;
}

any_tensor draw(std::string_view op, const attributes& attrs, const kernel_bench::how& h = {}) {
  return kernel_bench::run(op, {}, attrs, h)[0];
}

struct moments {
  double mean = 0, variance = 0, least = 0, greatest = 0;
  explicit moments(const any_tensor& t) {
    const std::vector<double> x = numbers(t);
    for (const double v : x) mean += v / static_cast<double>(x.size());
    for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
    least = *std::min_element(x.begin(), x.end());
    greatest = *std::max_element(x.begin(), x.end());
  }
};

const std::vector<std::string_view> random_ops{"RandomUniform", "RandomStandardNormal", "TruncatedNormal"};

}  // namespace

TEST_CASE("Philox gives the known answers of its authors") {
  CHECK(op::philox({}, {}) == op::philox_words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(op::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        op::philox_words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a seed gives the same values for any number of threads, on any device, in any session") {
  for (const std::string_view op : random_ops)
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const attributes attrs = drawing(type, {3, 7001}, {});
      const any_tensor x = draw(op, attrs);
      CHECK(draw(op, attrs) == x);
      CHECK(draw(op, attrs, {.threads = 3}) == x);
      CHECK(draw(op, attrs, kernel_bench::on_stream) == x);
      CHECK_FALSE(draw(op, drawing(type, {3, 7001}, {}, 2)) == x);
    }
}

TEST_CASE("an element depends on its position, not on the size of the tensor") {
  for (const std::string_view op : random_ops) {
    const auto few = numbers(draw(op, drawing(dtype::float32, {5}, {}))),
               many = numbers(draw(op, drawing(dtype::float32, {50}, {})));
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
  }
}

TEST_CASE("elements from one on are those of the whole, wherever the cut falls") {
  for (const std::string_view op : random_ops)
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const std::vector<double> whole = numbers(draw(op, drawing(type, {11, 3}, {})));
      for (const std::int64_t first : {1, 2, 4, 7, 12, 31, 33}) {
        INFO(op << " from " << first);
        const attributes rest = drawing(type, {33 - first}, {{"first", first}});
        for (const kernel_bench::how& h :
             {kernel_bench::how{}, kernel_bench::how{.threads = 2}, kernel_bench::on_stream})
          CHECK(numbers(draw(op, rest, h)) == std::vector<double>(whole.begin() + first, whole.end()));
      }
      CHECK(numbers(draw(op, drawing(type, {2}, {{"first", std::int64_t{5}}}))) ==
            std::vector<double>{whole[5], whole[6]});
    }
  CHECK_THROWS_WITH(draw("RandomUniform", drawing(dtype::float32, {2}, {{"first", std::int64_t{-1}}})),
                    Catch::Contains("from element -1 on"));
}

TEST_CASE("runs of one session differ, and the runs of the next repeat them") {
  const auto three = [] {
    kernel_bench::graph g;
    const output x = g.add("TruncatedNormal", {}, drawing(dtype::float32, {100}, {}));
    std::vector<any_tensor> runs;
    for (int i = 0; i < 3; ++i) runs.push_back(g.value_again(x));
    return runs;
  };
  const auto first = three(), second = three();
  CHECK(first == second);
  CHECK_FALSE(first[0] == first[1]);
  CHECK_FALSE(first[1] == first[2]);
}

TEST_CASE("seed 0 draws another tensor each time") {
  CHECK_FALSE(draw("RandomUniform", drawing(dtype::float32, {100}, {}, 0)) ==
              draw("RandomUniform", drawing(dtype::float32, {100}, {}, 0)));
}

TEST_CASE("uniform values fill their interval evenly") {
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const moments m(draw("RandomUniform", drawing(type, {200000}, {{"minval", -1.0}, {"maxval", 3.0}})));
    CHECK(m.mean == Approx(1).margin(.01));
    CHECK(m.variance == Approx(16.0 / 12).epsilon(.01));
    CHECK((m.least >= -1 && m.least < -.999 && m.greatest < 3 && m.greatest > 2.999));
  }
}

TEST_CASE("uniform integers reach every value below the greatest") {
  for (const dtype type : {dtype::int32, dtype::int64}) {
    const auto x = numbers(draw("RandomUniform", drawing(type, {1000}, {{"minval", -2.0}, {"maxval", 4.0}})));
    for (int v = -3; v <= 4; ++v) CHECK((std::count(x.begin(), x.end(), v) > 100) == (v >= -2 && v < 4));
  }
}

TEST_CASE("an interval without an integer, or with one that the type does not hold, is refused") {
  const auto refused = [](dtype type, double low, double high) {
    CHECK_THROWS_WITH(draw("RandomUniform", drawing(type, {2}, {{"minval", low}, {"maxval", high}})),
                      Catch::Contains("there is no number in"));
  };
  refused(dtype::int32, 1, 1);
  refused(dtype::int32, .2, .9);
  refused(dtype::int32, 0, 0x1p32);
  refused(dtype::int64, -1e300, 1e300);
  refused(dtype::int64, 0, std::numeric_limits<double>::infinity());
}

TEST_CASE("normal values have the mean, the deviation and the tails of their distribution") {
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const any_tensor t = draw("RandomStandardNormal", drawing(type, {200000}, {{"mean", 2.0}, {"stddev", 3.0}}));
    const moments m(t);
    CHECK(m.mean == Approx(2).margin(.03));
    CHECK(std::sqrt(m.variance) == Approx(3).epsilon(.01));
    const auto x = numbers(t);
    const auto beyond = std::count_if(x.begin(), x.end(), [](double v) { return std::abs(v - 2) > 6; });
    CHECK(static_cast<double>(beyond) / 200000 == Approx(.0455).margin(.003));
  }
}

TEST_CASE("truncated normal values stay within two deviations") {
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const moments m(draw("TruncatedNormal", drawing(type, {200000}, {{"mean", 1.0}, {"stddev", .05}})));
    CHECK(m.mean == Approx(1).margin(.001));
    CHECK(std::sqrt(m.variance) == Approx(.05 * .8796).epsilon(.01));
    CHECK((m.least >= .9 - 1e-7 && m.greatest <= 1.1 + 1e-7));
  }
}

TEST_CASE("what cannot be drawn is refused with a sentence") {
  CHECK_THROWS_WITH(draw("TruncatedNormal", drawing(dtype::int32, {2}, {})),
                    Catch::Contains("TruncatedNormal of int32"));
  CHECK_THROWS_WITH(draw("RandomUniform", drawing(dtype::float32, {unknown}, {})), Catch::Contains("must be known"));
  CHECK(draw("RandomUniform", drawing(dtype::float32, {0}, {})).shape() == shape{0});
}
