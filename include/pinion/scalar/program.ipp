// Bodies of <pinion/scalar/program.hpp>.
#pragma once

#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

PINION_DECL bool within(const program& p, const program_bounds& bounds) {
  return p.code.size() <= bounds.instructions && p.inputs <= bounds.inputs && p.results.size() <= bounds.results;
}

PINION_DECL std::string to_string(const program& p) {
  std::string text;
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    const auto& in = p.code[i];
    const auto f = facts(in.op);
    text += "%" + std::to_string(i) + " = " + std::string(f.name);
    if (f.operands == 0) {
      const bool integral = is_integer(p.arithmetic);
      const auto show = [&](const number& n) {
        std::string s = integral ? std::to_string(n.integer) : std::to_string(n.real);
        if (!integral) s.erase(s.find_last_not_of('0') + 1);
        if (!s.empty() && s.back() == '.') s.pop_back();
        return s;
      };
      text += " " + (in.op == opcode::literal    ? show(p.literals[in.a])
                     : in.op == opcode::constant ? show(p.constants[in.a])
                                                 : std::to_string(in.a));
    }
    for (int k = 0; k < f.operands; ++k) text += " %" + std::to_string(in.operand(k));
    text += "\n";
  }
  text += "return";
  for (const auto& r : p.results) text += " %" + std::to_string(r.value) + ":" + std::string(to_string(r.type));
  return text;
}

}}}  // namespace pinion::v0::scalar
