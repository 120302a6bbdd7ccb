// Elementwise kernels and gradients in CUDA C, compiled for GPUs: the instructions that they are made of. No GPU is
// needed.
#include <catch2/catch.hpp>

#include <cstdio>
#include <map>
#include <optional>
#include <regex>

#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/scalar/cuda_text.hpp>
#include <pinion/scalar/operands.hpp>

#include "cuda/every_program.hpp"
#include "cuda/gradient_run.hpp"
#include "cuda/map_run.hpp"
#include "support/nvrtc.hpp"

namespace {

using namespace cuda_tests;

// A kernel of a map, or the pass that computes gradients.
struct kernel {
  std::string about;
  scalar::program program;
  op::cuda_form form;
  std::optional<op::cuda_gradient_form> pass = {};

  std::string text(const std::string& name) const {
    return pass ? op::cuda_gradient_text(program, *pass, name) : op::cuda_map_text(program, form, name);
  }
};

// Each program of some lists in one form, and some programs in every form.
std::vector<kernel> kernels_of(const std::vector<std::vector<named_program>>& lists) {
  std::vector<kernel> all;
  const auto add = [&](const named_program& p, const map_case& c) {
    map_run run(p.program, c.inputs, c.is_aligned);
    if (c.is_wide) run.widen();
    all.push_back({p.about + ", " + c.about, p.program, run.form()});
  };
  const auto add_pass = [&](const std::string& about, const scalar::program& p, const std::vector<shape>& inputs) {
    const gradient_run run(p, inputs);
    all.push_back({"the gradients of " + about, run.program(), run.form().walk, run.form()});
  };
  std::size_t turn = 0;
  for (const auto& list : lists)
    for (const named_program& p : list) {
      const auto cases = map_cases(p.program.inputs);
      add(p, cases[turn++ % cases.size()]);
    }
  for (const named_program& p : programs_in_forms())
    for (const map_case& c : map_cases(p.program.inputs)) add(p, c);
  for (const dtype type : {dtype::float32, dtype::float64}) {
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Minimum", "Maximum", "Pow"})
      add_pass(op + of_dtype(type), *laws::map_program(op, type), {{64, 32}, {32}});
    for (const auto& [about, inputs] : gradient_cases())
      add_pass("x y + z" + of_dtype(type) + ", " + about, product_and_sum(type), inputs);
  }
  return all;
}

std::string name_of(std::size_t kernel) {
  return "map" + std::to_string(kernel);
}

std::string unit_of(const std::vector<kernel>& kernels) {
  std::string text(scalar::cuda_prelude());
  text += op::cuda_sum_text(dtype::float32, "sum_of_floats") + op::cuda_sum_text(dtype::float64, "sum_of_doubles");
  for (std::size_t i = 0; i < kernels.size(); ++i) text += kernels[i].text(name_of(i));
  return text;
}

// The PTX of each kernel by its name, without functions that it calls.
std::map<std::string, std::string> split(const std::string& ptx) {
  const std::string entry = ".visible .entry ";
  std::map<std::string, std::string> kernels;
  for (auto at = ptx.find(entry); at != std::string::npos;) {
    const auto name = at + entry.size(), end = ptx.find("\n}\n", at);
    kernels[ptx.substr(name, ptx.find('(', name) - name)] = ptx.substr(at, end - at);
    at = ptx.find(entry, end);
  }
  return kernels;
}

// The number of places at which a pattern stands.
std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  return static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), {}));
}

bool has_angle(const scalar::program& p) {
  return std::any_of(p.code.begin(), p.code.end(),
                     [](auto& in) { return in.op == scalar::opcode::sin || in.op == scalar::opcode::cos; });
}

// The inputs that some result needs.
std::vector<bool> used_inputs(const scalar::program& p) {
  std::vector<bool> value(p.code.size()), input(p.inputs);
  for (const auto& in : p.code)
    for (int k = 0; k < scalar::facts(in.op).operands; ++k) value[in.operand(k)] = true;
  for (const scalar::result& r : p.results) value[r.value] = true;
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    const scalar::opcode op = p.code[i].op;
    if (op == scalar::opcode::input || op == scalar::opcode::input_mask) input[p.code[i].a] = value[i];
  }
  return input;
}

// The loads and stores of 16 bytes that a form promises.
struct accesses {
  std::size_t loads = 0, stores = 0;
  friend bool operator==(const accesses&, const accesses&) = default;
  friend std::ostream& operator<<(std::ostream& out, const accesses& a) {
    return out << a.loads << " loads, " << a.stores << " stores";
  }
};
accesses promised(const kernel& k) {
  const auto sizes = scalar::operand_sizes(k.program);
  const auto used = used_inputs(k.program);
  accesses all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (static_cast<std::size_t>(k.form.width) * sizes[i] != 16) continue;
    if (!k.form.advances_along(i, k.form.rank - 1)) continue;
    if (i >= used.size())
      ++all.stores;
    else if (used[i])
      ++all.loads;
  }
  return all;
}
accesses found_in(const std::string& ptx) {
  const std::string sixteen = R"([.]global[.]v(4[.][a-z]32|2[.][a-z]64) )";
  return {count(ptx, "ld" + sixteen), count(ptx, "st" + sixteen)};
}

void check(const kernel& k, const std::string& ptx) {
  INFO(k.about << "\n" << k.text("map") << ptx);
  CHECK(found_in(ptx) == promised(k));
  CHECK(count(ptx, R"(\b(atom|red)[.])") == 0);
  if (has_angle(k.program)) return;  // large angles are reduced by a table
  CHECK(count(ptx, "ld[.]global[.]nc") == 0);
  CHECK(count(ptx, "[.]local|__local_depot") == 0);
  const auto is_double = [](const scalar::result& r) { return r.type == dtype::float64; };
  if (k.program.arithmetic == dtype::float32 &&
      std::none_of(k.program.results.begin(), k.program.results.end(), is_double))
    CHECK(count(ptx, "[.]f64") == 0);
}

// The kernels that the assembler gives a stack, with what it says of them: of double, functions of real numbers may
// have one. `log` has a line with the name of each kernel and one with its stack behind it.
std::string with_stack(const std::string& log, const std::vector<kernel>& kernels) {
  static const std::regex facts(R"(Compiling entry function 'map(\d+)'[^]*?(\d+ bytes stack frame.*))");
  std::string found;
  for (auto at = std::sregex_iterator(log.begin(), log.end(), facts); at != std::sregex_iterator(); ++at) {
    const kernel& k = kernels[std::stoul((*at)[1])];
    if (has_angle(k.program) || k.program.arithmetic == dtype::float64) continue;
    if (!(*at)[2].str().starts_with("0 bytes")) found += k.about + ": " + (*at)[2].str() + "\n";
  }
  return found;
}

std::size_t most_registers(const std::string& log) {
  static const std::regex used(R"(Used (\d+) registers)");
  std::size_t most = 0;
  for (auto at = std::sregex_iterator(log.begin(), log.end(), used); at != std::sregex_iterator(); ++at)
    most = std::max<std::size_t>(most, std::stoul((*at)[1]));
  return most;
}

void check_all(const std::string& architecture, const std::vector<std::vector<named_program>>& lists) {
  const std::vector<kernel> kernels = kernels_of(lists);
  const auto unit = compile_for_gpu(unit_of(kernels), architecture);
  if (!unit) {
    WARN("skipped: this build has no NVRTC, so CUDA C is not compiled for " + architecture);
    return;
  }
  const auto found = split(unit->ptx);
  REQUIRE(found.size() == kernels.size() + 2);
  for (std::size_t i = 0; i < kernels.size(); ++i) check(kernels[i], found.at(name_of(i)));
  CHECK(with_stack(unit->log, kernels) == "");
  CHECK(most_registers(unit->log) <= 64);  // so that a multiprocessor has room for four blocks of 256 threads
  std::printf("%s: %zu kernels, %zu registers at most\n", architecture.c_str(), kernels.size(),
              most_registers(unit->log));
}

}  // namespace

TEST_CASE("for sm_90, kernels access 16 bytes where their form promises it, no local memory and 64 registers") {
  check_all("sm_90", {programs_of_catalogue(), fusions_of_library()});
}

TEST_CASE("for sm_80, kernels access 16 bytes where their form promises it, no local memory and 64 registers") {
  check_all("sm_80", {programs_of_catalogue(), fusions_of_library()});
}
