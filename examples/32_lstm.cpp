// A long short-term memory learns the licence of this library by heart, letter by letter, and recites it.
//
//   letters [length, batch] ── one hot ── LSTM, 128 units ── MatMul, bias ── what letter comes next
//
// lstm [FILE] learns another text.
#include <pinion/train.hpp>

#include <fstream>
#include <iterator>
#include <random>

namespace pn = pinion;
namespace tr = pinion::train;
using expr = pn::expr<float>;

constexpr std::int64_t units = 128, length = 48, batch = 32, codes = 128;  // ASCII

struct network {
  expr kernel = pn::variable(pn::nn::glorot_uniform_initializer(1).of<float>({codes, 4 * units}), {.name = "kernel"});
  expr recurrent = pn::variable(pn::nn::glorot_uniform_initializer(2).of<float>({units, 4 * units}), {.name = "again"});
  expr bias = pn::variable(pn::zeros<float>({4 * units}), {.name = "bias"});
  expr head = pn::variable(pn::nn::glorot_uniform_initializer(3).of<float>({units, codes}), {.name = "head"});
  expr head_bias = pn::variable(pn::zeros<float>({codes}), {.name = "head_bias"});

  // The scores [length * batch, codes] of the letters that come next, and the states behind the last one.
  auto operator()(const pn::expr<int>& letters, const expr& h0, const expr& c0) const {
    const auto [out, h, c] = pn::lstm(pn::one_hot<float>(letters, codes), h0, c0, kernel, recurrent, bias);
    return std::tuple(expr(pn::matmul(pn::reshape(out, {-1, units}), head) + head_bias), h, c);
  }
};

// Parts of the text that begin anywhere, one in each column.
void fill(pn::tensor<int>& letters, const std::string& text, std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> begin(0, text.size() - length - 1);
  for (std::int64_t column = 0; column < batch; ++column)
    for (std::size_t row = 0, first = begin(random); row <= length; ++row)
      letters(static_cast<std::int64_t>(row), column) = text[first + row];
}

std::string recite(pn::session& sess, const network& next, std::string text, std::size_t until) {
  const auto letter = pn::placeholder<int>({1, 1});
  const auto h0 = pn::placeholder<float>({1, units}), c0 = pn::placeholder<float>({1, units});
  const auto [scores, h, c] = next(letter, h0, c0);
  const auto best = pn::reshape(pn::cast<int>(pn::argmax(scores, -1)), {});
  pn::tensor<float> h_now({1, units}), c_now({1, units});
  for (std::size_t i = 0; text.size() < until; ++i) {
    const auto [told, h_next, c_next] = sess.run({{letter, {{int(text[i])}}}, {h0, h_now}, {c0, c_now}}, best, h, c);
    h_now = h_next, c_now = c_next;
    if (i + 1 == text.size()) text += static_cast<char>(int(told));
  }
  return text;
}

int main(int argc, char** argv) try {
  std::ifstream file(argc > 1 ? argv[1] : "LICENSE");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() < 2 * length) throw pn::error(pn::errc::not_found, "no text of 96 letters; lstm FILE names one");

  const auto line = pn::placeholder<int>({length + 1, batch});
  const network next;
  const auto none = pn::zeros<float>({batch, units});
  const auto [scores, h, c] = next(pn::slice(line, {0, 0}, {length, batch}), none, none);
  const auto told = pn::reshape(pn::slice(line, {1, 0}, {length, batch}), {-1});
  const auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(told, scores));
  const auto train = tr::adam{{.learning_rate = .005}}.minimize(loss);
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  std::mt19937 random(1);
  pn::tensor<int> letters({length + 1, batch});
  for (int step = 0; step < 1000; ++step) {
    fill(letters, text, random);
    sess.run({{line, letters}}, train);
  }
  fmt::print("{}\n", recite(sess, next, "Permission is", 400));
} catch (const pn::error& e) {
  fmt::print(stderr, "lstm: {}\n", e.what());
  return 1;
}
