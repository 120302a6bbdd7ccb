// Scalar programs from a peer: one that is admitted is written as text, simplified, and run like one of this process.
#include <pinion/distributed/wire/program.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/cuda_text.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/operands.hpp>
#include <pinion/scalar/simplify.hpp>

#include <fuzz/letters.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

using scalar::opcode, scalar::program;

// A strip over memory that has no element too many.
struct held_strip {
  std::vector<std::string> in, out;
  scalar::strip s;

  held_strip(const program& p, std::size_t n) {
    for (const auto type : scalar::input_types(p))
      in.emplace_back(n * size_of(type), type == dtype::boolean ? '\1' : '\x40');
    for (const auto& r : p.results) out.emplace_back(n * size_of(r.type), '\0');
    s.n = static_cast<std::int64_t>(n);
    for (std::size_t k = 0; k < in.size(); ++k) s.in[k] = in[k].data(), s.advance[k] = ~std::int64_t{0};
    for (std::size_t k = 0; k < out.size(); ++k) s.out[k] = out[k].data(), s.how[k] = scalar::sink::store;
  }
};

void run(const program& p) {
  for (int i = 0; i <= scalar::isa::best(); ++i) {
    const op::program_runner runner(p, op::program_runner::interpreter_only, i);
    for (const std::size_t n : {1, 16, 37}) {
      held_strip strip(runner.program(), n);
      runner(strip.s);
    }
  }
}

void read(std::string_view input) {
  const auto p = opened<program>(letter_of(input));
  const auto again = input_of(rpc::encode(opened<program>(letter_of(input_of(rpc::encode(p))))));
  law(again == input_of(rpc::encode(p)), "a program changes as it is shipped again");
  law(scalar::within(p), "a program is admitted that is larger than a kernel has room for");
  const program plain = scalar::executable(p), simple = scalar::simplified(plain);
  law(simple.results.size() == p.results.size() && simple.inputs == p.inputs, "a simplified program has other ends");
  to_string(p);
  scalar::cuda_element(plain);
  run(p);
  run(simple);
}

// Changes an operand, an operation, an end or the type of a program.
std::string change(std::string input, dice& random) {
  try {
    auto p = opened<program>(letter_of(input));
    scalar::instruction& in = p.code[random(p.code.size())];
    switch (random(5)) {
      case 0: in.op = static_cast<opcode>(random(static_cast<std::uint64_t>(opcode::partial) + 1)); break;
      case 1: in.operand(static_cast<int>(random(3))) = static_cast<scalar::value_id>(random(p.code.size())); break;
      case 2: p.code.insert(p.code.begin() + static_cast<std::ptrdiff_t>(random(p.code.size())), in); break;
      case 3: p.results.push_back({static_cast<scalar::value_id>(random(p.code.size())), p.arithmetic}); break;
      case 4: p.arithmetic = static_cast<dtype>(1 + random(6)); break;
    }
    return input_of(rpc::encode(p));
  } catch (const error&) {
    return input;
  }
}

// Every operation on a number, a mask, a literal and a constant.
program of(opcode op, dtype type) {
  program p;
  p.arithmetic = type;
  const scalar::value_id number = p.emit_input(false), mask = p.emit_input(true), literal = p.emit_literal(2.5);
  p.emit_constant(-1);
  const auto& f = facts(op);
  if (f.operands == 0) return p.results = {{number, type}}, p;
  const bool picks = op == opcode::select;
  const auto value = f.takes_masks && !picks ? p.emit(op, mask, mask)
                     : picks                 ? p.emit(op, mask, number, literal)
                                             : p.emit(op, number, literal, number);
  p.results = {{value, f.yields_mask ? dtype::boolean : type}, {mask, dtype::boolean}};
  return p;
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(opcode::partial); ++i)
    all.push_back(input_of(rpc::encode(of(static_cast<opcode>(i), i % 2 ? dtype::float32 : dtype::float64))));
  for (const auto type : {dtype::int32, dtype::int64, dtype::uint8})
    all.push_back(input_of(rpc::encode(of(opcode::select, type))));
  program smooth = of(opcode::tanh, dtype::float32);
  smooth.results.pop_back();
  all.push_back(input_of(rpc::encode(scalar::derive(scalar::derive(smooth)))));
  return all;
}

const enrolled here({.name = "program",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 512 * input.size() + (std::size_t{4} << 20); },
                     .change = change});

}}  // namespace fuzz
