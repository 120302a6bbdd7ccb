// Summary ops, by what their messages say to a decoder that does not know them.
#include <catch2/catch.hpp>

#include <pinion/op/summary/message.hpp>

#include <support/caught.hpp>
#include <support/kernel_bench.hpp>
#include <support/wire_message.hpp>

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion;
using kernel_bench::of;

wire_message summary_of(std::string_view op, const any_tensor& x, attributes attrs = {}) {
  if (!attrs.has("tag")) attrs.set("tag", std::string("a/b"));
  const any_tensor y = kernel_bench::run(op, {x}, attrs)[0];
  CHECK(y.shape() == shape{});
  return wire_message(*y.data<std::string>());
}
wire_message histogram_of(const any_tensor& x) {
  return summary_of("HistogramSummary", x).sub(1).sub(5);
}

any_tensor text(const std::vector<std::string>& strings) {
  return of<std::string>({static_cast<std::int64_t>(strings.size())}, strings);
}
any_tensor one(const std::string& s) {
  return of<std::string>({}, {s});
}

constexpr double most = std::numeric_limits<double>::max();

TEST_CASE("a scalar summary is a tag and a float, of any number") {
  const auto value = [](const any_tensor& x) {
    const auto v = summary_of("ScalarSummary", x).sub(1);
    CHECK(v.text(1) == "a/b");
    REQUIRE(v.at(2).type == 5);
    return v.single(2);
  };
  CHECK(value(of<float>({}, {0.5f})) == 0.5f);
  CHECK(value(of<double>({}, {-1e-3})) == -1e-3f);
  CHECK(value(of<std::int32_t>({}, {-7})) == -7);
  CHECK(value(of<std::int64_t>({}, {1 << 30})) == 1 << 30);
  CHECK(value(of<std::uint8_t>({}, {255})) == 255);
  CHECK(value(of<float>({}, {0})) == 0);  // written, though it is the default
  CHECK(std::isnan(value(of<float>({}, {NAN}))));
  CHECK(value(of<float>({}, {-INFINITY})) == -INFINITY);
}

TEST_CASE("a scalar summary of a tensor whose shape was not known is refused when it runs") {
  kernel_bench::graph g;
  const output y = g.add("ScalarSummary", {g.feed_unknown(of<float>({2}, {1, 2}))}, {{"tag", std::string("a")}});
  CHECK(failure([&] { g.value(y); }) ==
        "invalid_argument: a scalar summary of a tensor of shape [2]; it takes one number, and a histogram takes many");
}

TEST_CASE("the limits of histograms are the 1551 of TensorFlow") {
  const auto& limits = op::histogram::limits();
  REQUIRE(limits.size() == 1551);
  CHECK(std::is_sorted(limits.begin(), limits.end()));
  CHECK(limits.front() == -most);
  CHECK(limits[775] == 0);
  CHECK(limits[776] == 1e-12);
  CHECK(limits[777] == 1e-12 * 1.1);
  CHECK(limits[1549] < 1e20);
  CHECK(limits[1549] * 1.1 >= 1e20);
  CHECK(limits.back() == most);
  for (std::size_t i = 0; i < limits.size(); ++i) CHECK(limits[i] == -limits[1550 - i]);
}

// By looking at every limit for every value.
std::vector<std::pair<double, double>> plain_histogram(const std::vector<double>& values) {
  std::vector<double> limits;
  for (double v = 1e-12; v < 1e20; v *= 1.1) limits.push_back(v);
  limits.push_back(most);
  const std::size_t half = limits.size();
  for (std::size_t i = 0; i < half; ++i) limits.insert(limits.begin(), -limits[2 * i]);
  limits.insert(limits.begin() + static_cast<std::ptrdiff_t>(half), 0.0);
  std::vector<std::pair<double, double>> full, merged;
  for (double l : limits) full.push_back({l, 0});
  for (double x : values)
    for (auto& [limit, count] : full)
      if (limit > x) {
        ++count;
        break;
      }
  for (const auto& b : full) {
    if (b.second == 0 && !merged.empty() && merged.back().second == 0)
      merged.back() = b;
    else
      merged.push_back(b);
  }
  if (merged.back().second == 0) merged.pop_back();
  if (!merged.empty() && merged[0].second == 0) merged.erase(merged.begin());
  return merged;
}

TEST_CASE("a histogram counts what plain loops count, for every dtype of numbers") {
  const auto check = [](const any_tensor& x) {
    INFO(to_string(x.dtype()) << " " << to_string(x.shape()));
    const std::vector<double> values = kernel_bench::numbers(x);
    double sum = 0, squares = 0;
    for (double v : values) sum += v, squares += v * v;
    const auto h = histogram_of(x);
    CHECK(h.real(1) == *std::min_element(values.begin(), values.end()));
    CHECK(h.real(2) == *std::max_element(values.begin(), values.end()));
    CHECK(h.real(3) == static_cast<double>(values.size()));
    CHECK(h.real(4) == sum);
    CHECK(h.real(5) == squares);
    const auto limits = h.doubles(6), counts = h.doubles(7);
    REQUIRE(limits.size() == counts.size());
    std::vector<std::pair<double, double>> buckets;
    for (std::size_t i = 0; i < limits.size(); ++i) buckets.push_back({limits[i], counts[i]});
    CHECK(buckets == plain_histogram(values));
  };
  check(kernel_bench::random<float>({31, 17}));
  check(kernel_bench::random<double>({300}, 2));
  check(kernel_bench::random<std::int32_t>({5, 5, 5}));
  check(kernel_bench::random<std::int64_t>({50}));
  check(kernel_bench::random<std::uint8_t>({50}));
  check(of<float>({}, {3}));
  check(of<double>({6}, {0.0, -0.0, 1e-12, -1e-12, 1e-13, -1e-13}));
  check(of<double>({4}, {1e20, -1e20, 1e300, -1e300}));
}

TEST_CASE("the ends of a histogram count, and those beside them that are empty are not written") {
  const auto h = histogram_of(of<double>({3}, {-1, 0, 1}));
  const auto limits = h.doubles(6), counts = h.doubles(7);
  CHECK(counts == std::vector<double>{1, 0, 1, 0, 1});
  CHECK(limits.front() > -1);
  CHECK(limits[2] == 1e-12);
  CHECK(limits.back() > 1);
  CHECK(limits.back() < 1.2);
  op::histogram edge;  // the greatest double lies in no half-open bucket; its square is no number that a dtype holds
  edge.add(most);
  CHECK(edge.buckets() == std::vector<op::histogram::bucket>{{most, 1}});
}

TEST_CASE("a histogram of counts is that of the numbers that were counted") {
  const auto message = [](const any_tensor& x, bool counted) {
    const attributes attrs{{"tag", std::string("a/b")}, {"counted", counted}};
    return *kernel_bench::run("HistogramSummary", {x}, attrs)[0].data<std::string>();
  };
  CHECK(message(of<std::int64_t>({4}, {2, 0, 3, 1}), true) == message(of<double>({6}, {0, 0, 2, 2, 2, 3}), false));
  CHECK(message(of<float>({2}, {0, 0}), true) == message(of<float>({0}, {}), false));
  CHECK(failure([&] {
          message(of<std::int64_t>({2}, {1, -1}), true);
        }) == "invalid_argument: summary histogram a/b is told that 1 was there less than no times");
}

TEST_CASE("a histogram of nothing is one empty bucket") {
  const auto h = histogram_of(of<float>({0, 3}, {}));
  CHECK(h.real(1) == most);
  CHECK(h.real(2) == -most);
  CHECK(h.real(3) == 0);
  CHECK(h.doubles(6) == std::vector<double>{most});
  CHECK(h.doubles(7) == std::vector<double>{0});
}

TEST_CASE("a NaN or an infinity in a histogram is refused, with the tag and where it is") {
  const auto refusal = [](float x) { return failure([&] { histogram_of(of<float>({2, 2}, {0, 1, x, x})); }); };
  CHECK(refusal(NAN) == "invalid_argument: Nan in summary histogram for: a/b (element 2 of a tensor of shape [2, 2])");
  CHECK(refusal(INFINITY) ==
        "invalid_argument: Infinity in summary histogram for: a/b (element 2 of a tensor of shape [2, 2])");
  CHECK(refusal(-INFINITY) == refusal(INFINITY));
}

TEST_CASE("a text summary holds the strings with their shape, for the page of texts") {
  const auto v = summary_of("TextSummary", of<std::string>({2, 1}, {"*a*", ""})).sub(1);
  CHECK(v.text(1) == "a/b");
  CHECK(v.sub(9).sub(1).text(1) == "text");
  CHECK(v.sub(9).integer(4) == 2);
  const auto t = v.sub(8);
  CHECK(t.integer(1) == 7);
  REQUIRE(t.sub(2).count(2) == 2);
  CHECK(t.sub(2).sub(2, 0).integer(1) == 2);
  CHECK(t.sub(2).sub(2, 1).integer(1) == 1);
  CHECK(summary_of("TextSummary", of<std::string>({0, 2}, {})).sub(1).sub(8).sub(2).count(2) == 2);
  CHECK(summary_of("TextSummary", of<std::string>({}, {"x"})).sub(1).sub(8).has(2));
  REQUIRE(t.count(8) == 2);
  CHECK(t.text(8, 0) == "*a*");
  CHECK(t.text(8, 1) == "");
}

TEST_CASE("merging puts the values of all summaries into one") {
  const std::string a = op::scalar_message("a", 1), b = op::scalar_message("b", 2), c = op::scalar_message("c", 3);
  const auto merged = kernel_bench::run("MergeSummary", {one(a), text({b, c, ""})})[0];
  const wire_message m(*merged.data<std::string>());
  REQUIRE(m.count(1) == 3);
  CHECK(m.sub(1, 0).text(1) == "a");
  CHECK(m.sub(1, 1).text(1) == "b");
  CHECK(m.sub(1, 2).single(2) == 3);
}

TEST_CASE("merging refuses a tag that is there twice, and strings that are no summaries") {
  const auto merge = [](const std::vector<std::string>& strings) {
    return failure([&] { kernel_bench::run("MergeSummary", {text(strings)}); });
  };
  const std::string a = op::scalar_message("a", 1);
  CHECK(merge({a, a}) == "invalid_argument: two summaries have the tag 'a', which shows one curve");
  CHECK(merge({a, a.substr(0, a.size() - 1)}).find("invalid_argument: string 1 is no serialized summary") == 0);
  CHECK(merge({op::scalar_message("\xff", 1)}).find("not UTF-8") != std::string::npos);
  CHECK(merge({std::string("\x0a\x02\x08\x01", 4)}).find("invalid_argument") != 0);  // a tag that is a number is no tag
  for (int byte = 0; byte < 256; ++byte) merge({std::string(1, static_cast<char>(byte))});  // ends, well or badly
}

}  // namespace
#endif
