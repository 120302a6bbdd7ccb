// Bodies of <pinion/distributed/wire/program.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/wire/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar { namespace detail {

// Checks a program from the wire against the invariants that its users rely on.
class program_check {
 public:
  explicit program_check(const program& p) : p_(p) {}

  void run() {
    expect(dtypes::plain.has(p_.arithmetic), "computes in " + std::string(to_string(p_.arithmetic)));
    expect(p_.code.size() <= most_.instructions, "has " + std::to_string(p_.code.size()) + " instructions");
    expect(p_.inputs <= most_.inputs, "takes " + std::to_string(p_.inputs) + " inputs");
    for (const instruction& in : p_.code) check(in);
    expect(inputs_ == p_.inputs, "reads " + std::to_string(inputs_) + " of " + std::to_string(p_.inputs) + " inputs");
    expect(!p_.results.empty() && p_.results.size() <= most_.results,
           "has " + std::to_string(p_.results.size()) + " results");
    for (const result& r : p_.results) check(r);
  }

 private:
  void check(const instruction& in) {
    if (in.op == opcode::input || in.op == opcode::input_mask)
      expect(in.a == inputs_++, "reads its inputs out of order");
    else if (in.op == opcode::literal)
      expect(in.a < p_.literals.size(), "has no literal " + std::to_string(in.a));
    else if (in.op == opcode::constant)
      expect(in.a < p_.constants.size(), "has no constant " + std::to_string(in.a));
    for (int k = 0; k < facts(in.op).operands; ++k) check_operand(in, k);
    is_mask_.push_back(facts(in.op).yields_mask);
  }
  void check_operand(const instruction& in, int k) const {
    const value_id id = in.operand(k);
    expect(id < is_mask_.size(), "takes a value before it is made");
    const bool mask = facts(in.op).takes_masks && (in.op != opcode::select || k == 0);
    expect(is_mask_[id] == mask, "takes a " + std::string(mask ? "number" : "mask") + " for the other");
  }
  void check(const result& r) const {
    expect(r.value < is_mask_.size(), "has no value " + std::to_string(r.value));
    expect(dtypes::plain.has(r.type) && (r.type == dtype::boolean) == is_mask_[r.value],
           "yields a " + std::string(is_mask_[r.value] ? "mask" : "number") + " as " + std::string(to_string(r.type)));
  }
  void expect(bool holds, const std::string& otherwise) const {
    if (holds) return;
    const std::string at = is_mask_.size() < p_.code.size() ? ", instruction " + std::to_string(is_mask_.size()) : "";
    rpc::reader::refuse("a message holds a scalar program that " + otherwise + at);
  }

  static constexpr program_bounds most_{};

  const program& p_;
  std::vector<bool> is_mask_;  // one per value so far
  int inputs_ = 0;
};

}}}}  // namespace pinion::v0::scalar::detail

namespace pinion { inline namespace v0 { namespace scalar {

PINION_DECL void save(rpc::writer& a, const instruction& in) {
  rpc::save_choice(a, in.op);
  a(in.a, in.b, in.c);
}

PINION_DECL void load(rpc::reader& a, instruction& in) {
  in.op = rpc::load_choice(a, opcode::partial, "scalar operation");
  a(in.a, in.b, in.c);
}

PINION_DECL void save(rpc::writer& a, const program& p) {
  a(p.arithmetic, p.inputs, p.code, p.literals, p.constants, p.results);
}

PINION_DECL void load(rpc::reader& a, program& p) {
  a(p.arithmetic, p.inputs, p.code, p.literals, p.constants, p.results);
  detail::program_check(p).run();
}

PINION_DECL void save(rpc::writer& a, const std::shared_ptr<const program>& p) {
  a(*p);
}

PINION_DECL void load(rpc::reader& a, std::shared_ptr<const program>& p) {
  auto fresh = std::make_shared<program>();
  a(*fresh);
  p = std::move(fresh);
}

}}}  // namespace pinion::v0::scalar
