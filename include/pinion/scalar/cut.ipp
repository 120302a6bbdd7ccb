// Bodies of <pinion/scalar/cut.hpp>.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include <pinion/scalar/cut.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

class cutter {
 public:
  cutter(const program& whole, const std::vector<value_id>& beside, const program_bounds& bounds)
      : whole_(whole), beside_(beside), bounds_(bounds), piece_of_(whole.code.size(), -1) {
    for (std::size_t i = 0; i < whole.code.size(); ++i)
      if (whole.code[i].op == opcode::input) input_at_.resize(whole.inputs), input_at_[whole.code[i].a] = value_id(i);
  }

  std::vector<piece> run() {
    for (std::size_t v = 0; v < whole_.code.size(); ++v) needs_.push_back(need_within_bounds(static_cast<value_id>(v)));
    group now;
    for (std::size_t k = 0; k < whole_.results.size(); ++k) {
      group more = with_result(now, static_cast<int>(k));
      if (!now.results.empty() && !fits(more.takes, more.results.size())) {
        pieces_.push_back(made(now));
        more = with_result({}, static_cast<int>(k));
      }
      now = std::move(more);
    }
    pieces_.push_back(made(now));
    return std::move(pieces_);
  }

 private:
  using values = std::vector<value_id>;
  // The instructions that some values need, and the values that these take from outside. Both are in rising order.
  struct need {
    values body, from;
  };
  struct group {
    std::vector<int> results;
    need takes;
  };

  bool is_source(value_id v) const {
    const opcode op = whole_.code[v].op;
    return op == opcode::input || op == opcode::input_mask || piece_of_[v] >= 0;
  }
  need need_of(value_id v) const { return is_source(v) ? need{{}, {v}} : needs_[v]; }
  static void join(values& all, const values& more) {
    values both;
    std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(both));
    all = std::move(both);
  }
  static void join(need& all, const need& more) {
    join(all.body, more.body);
    join(all.from, more.from);
  }
  bool fits(const need& n, std::size_t results) const {
    return n.from.size() + n.body.size() <= bounds_.instructions && n.from.size() <= bounds_.inputs &&
           results <= bounds_.results;
  }

  need need_within_bounds(value_id v) {
    if (is_source(v)) return {};
    const instruction& in = whole_.code[v];
    for (;;) {
      need n{{v}, {}};
      for (int k = 0; k < facts(in.op).operands; ++k) join(n, need_of(in.operand(k)));
      need with_input = n;
      if (!beside_.empty()) with_input.from.push_back(v);
      const int heaviest = fits(with_input, 1) ? -1 : operand_to_keep(in);
      if (heaviest < 0) return n;
      keep(in.operand(heaviest));
    }
  }
  // The operand to get a program of its own. A chain of stated derivatives stays in one piece, because pieces of it
  // would each state their own part and lose the others.
  int operand_to_keep(const instruction& in) const {
    int found = -1;
    std::size_t most = 0;
    for (int k = 0; k < facts(in.op).operands; ++k) {
      const value_id o = in.operand(k);
      if (is_source(o) || (k == 0 && in.op == opcode::partial && whole_.code[o].op == opcode::partial)) continue;
      const std::size_t size = needs_[o].body.size() + needs_[o].from.size();
      if (size > most) found = k, most = size;
    }
    return found;
  }
  void keep(value_id v) {
    piece p = made_of(needs_[v], {});
    p.code.results.push_back({moved_[v], facts(whole_.code[v].op).yields_mask ? dtype::boolean : whole_.arithmetic});
    piece_of_[v] = static_cast<int>(pieces_.size());
    pieces_.push_back(std::move(p));
  }

  group with_result(group g, int k) const {
    g.results.push_back(k);
    join(g.takes, need_of(whole_.results[static_cast<std::size_t>(k)].value));
    if (!beside_.empty()) join(g.takes.from, values{input_at_[beside_[static_cast<std::size_t>(k)]]});
    return g;
  }
  piece made(const group& g) {
    values first;
    for (const int k : g.results)
      if (!beside_.empty()) first.push_back(input_at_[beside_[static_cast<std::size_t>(k)]]);
    piece p = made_of(g.takes, first);
    for (const int k : g.results) {
      const result& r = whole_.results[static_cast<std::size_t>(k)];
      p.code.results.push_back({moved_[r.value], r.type});
    }
    p.results = g.results;
    return p;
  }
  // A piece without results; `moved_` tells the places of its values.
  piece made_of(const need& n, const values& first) {
    piece p;
    p.code.arithmetic = whole_.arithmetic;
    moved_.resize(whole_.code.size());
    for (const value_id v : first) take(p, v);
    for (const value_id v : n.from)
      if (std::find(first.begin(), first.end(), v) == first.end()) take(p, v);
    for (const value_id v : n.body) moved_[v] = copied(p.code, whole_.code[v]);
    return p;
  }
  void take(piece& p, value_id v) {
    moved_[v] = p.code.emit_input(facts(whole_.code[v].op).yields_mask);
    const bool kept = piece_of_[v] >= 0;
    p.inputs.push_back({kept, kept ? piece_of_[v] : whole_.code[v].a});
  }
  value_id copied(program& to, instruction in) const {
    if (in.op == opcode::literal) return to.emit_literal(whole_.literals[in.a]);
    if (in.op == opcode::constant) return to.emit_constant(whole_.constants[in.a]);
    for (int k = 0; k < facts(in.op).operands; ++k) in.operand(k) = moved_[in.operand(k)];
    return to.emit(in.op, in.a, in.b, in.c);
  }

  const program& whole_;
  const std::vector<value_id>& beside_;
  const program_bounds bounds_;
  std::vector<need> needs_;
  std::vector<int> piece_of_;  // the piece of a value that has a program of its own, or -1
  values input_at_, moved_;
  std::vector<piece> pieces_;
};

}  // namespace detail

PINION_DECL std::vector<piece> cut(const program& whole, const std::vector<value_id>& beside,
                                   const program_bounds& bounds) {
  return detail::cutter(whole, beside, bounds).run();
}

}}}  // namespace pinion::v0::scalar
