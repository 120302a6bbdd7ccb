// Ops that move data rather than compute: softmax cross entropy, reductions, transposes and gather, beside the memory
// of the machine, which a copy shows, or a sum of floats for what is only read. One thread.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "contest.hpp"
#include "limits.hpp"

namespace {

namespace pn = pinion;

// Floats [rows, columns], a multiple of 128 of them, to be read or copied.
struct table {
  std::int64_t rows, columns;
  pn::tensor<float> values;
  std::vector<float> to;

  table(std::int64_t m, std::int64_t n) : rows(m), columns(n), values({m, n}), to(static_cast<std::size_t>(m * n)) {
    for (std::int64_t i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(i % 97) / 97 - .5f;
  }
  std::int64_t bytes() const { return values.size() * 4; }
  std::string text() const { return fmt::format(" of [{}, {}]", rows, columns); }

  void read() const {
    float sum[16];
    bench::ps::dispatch<bench::read_floats>(values.data(), values.size(), static_cast<float*>(sum));
  }
  void copy() { std::memcpy(to.data(), values.data(), static_cast<std::size_t>(bytes())); }
};

// The operations in one session, each beside the bytes that it reads and writes.
class comparison {
 public:
  explicit comparison(table& t) : t_(t), sess_{{.inter_op_threads = 1, .intra_op_threads = 1}} {}

  template <class Y>
  void reads(const std::string& what, const pn::expr<float>& x, const Y& y) {
    auto step = sess_.make_callable(pn::feeds(x), pn::fetches(y));
    compare(
        what, [&] { step(t_.values); }, "a sum of floats in registers", [&] { t_.read(); });
  }
  // Reads the table, and writes as much.
  template <class Y>
  void moves(const std::string& what, const pn::expr<float>& x, const Y& y) {
    auto step = sess_.make_callable(pn::feeds(x), pn::fetches(y));
    compare(
        what, [&] { step(t_.values); }, "memcpy", [&] { t_.copy(); });
  }

 private:
  void compare(const std::string& what, const std::function<void()>& ours, const char* limit,
               const std::function<void()>& move) {
    bench::contest c;
    const int op = c.add("pinion, 1 thread", bench::thread_seconds, ours);
    const int bytes = c.add(limit, bench::thread_seconds, move);
    c.run(9);
    c.row(what + t_.text(), op, bytes, bench::at_least(.75));
  }
  table& t_;
  pn::session sess_;
};

void measure(std::int64_t rows, std::int64_t columns) {
  table t(rows, columns);
  pn::graph g;
  const auto use = g.as_default();
  const pn::expr<float> x = pn::placeholder<float>({rows, columns}, "x");
  comparison c(t);
  c.reads("sum of all", x, pn::reduce_sum(x));
  c.reads("sum of columns (axis 0)", x, pn::reduce_sum(x, {.axes = {0}}));
  c.reads("sum of rows (axis 1)", x, pn::reduce_sum(x, {.axes = {1}}));
  c.reads("max of columns (axis 0)", x, pn::reduce_max(x, {.axes = {0}}));
  c.reads("max of rows (axis 1)", x, pn::reduce_max(x, {.axes = {1}}));
  c.reads("argmax of rows (axis 1)", x, pn::argmax(x, 1));
  c.reads("argmax of columns (axis 0)", x, pn::argmax(x, 0));
  c.moves("transpose", x, pn::transpose(x, {1, 0}));
  c.moves("padding of rows by two", x, pn::pad(x, {{0, 0}, {1, 1}}));
  c.moves("softmax", x, pn::softmax(x));

  pn::tensor<std::int32_t> ids({rows});
  for (std::int64_t i = 0; i < rows; ++i) ids.data()[i] = static_cast<std::int32_t>(i * 7919 % rows);
  const auto shuffled = pn::constant(ids);
  c.moves("gather of rows", x, pn::gather(x, shuffled));
  pn::tensor<std::int32_t> labels({rows});
  for (std::int64_t i = 0; i < rows; ++i) labels.data()[i] = static_cast<std::int32_t>(i % columns);
  const auto losses = pn::sparse_softmax_cross_entropy_with_logits(pn::constant(labels), x);
  c.reads("softmax cross entropy", x, losses);
  const auto [slope] = pn::gradients(pn::reduce_sum(losses), x);
  c.moves("gradient of softmax cross entropy", x, slope);
}

}  // namespace

int main() {
  measure(64, 10);
  measure(512, 10);
  measure(128, 128);
  measure(512, 512);
  measure(1024, 1024);
  measure(4096, 256);
  if (!bench::quick()) measure(8192, 2048);
}
