// Runs of elementwise kernels in CUDA C: the operands, the form and the launch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/scalar/cuda_text.hpp>
#include <pinion/scalar/operands.hpp>

#include "cuda/every_program.hpp"

namespace cuda_tests {

// A program over operands of some shapes.
class map_run {
 public:
  // `is_aligned`: the operands begin at a multiple of 16 bytes; else one element behind it.
  map_run(const scalar::program& p, const std::vector<shape>& inputs, bool is_aligned = true)
      : p_(p), space_(space_of(inputs)), shapes_(inputs), walk_(space_, with_results(p, space_, inputs)) {
    const std::vector<dtype> types = scalar::input_types(p);
    for (std::size_t k = 0; k < inputs.size(); ++k) make(types[k], inputs[k], is_aligned);
    for (const scalar::result& r : p.results) make(r.type, space_, is_aligned);
    form_ = op::cuda_form_of(p_, walk_, addresses());
  }

  const shape& space() const { return space_; }
  const op::cuda_form& form() const { return form_; }
  void widen() { form_.is_wide = true; }

  std::byte* address(std::size_t k) const { return operands_[k].memory.byte_data() + operands_[k].skipped; }
  std::vector<double> numbers(std::size_t k) const {
    return visit_plain(operands_[k].memory.dtype(), [&]<class T>() {
      const T* const first = reinterpret_cast<const T*>(address(k));
      return std::vector<double>(first, first + operands_[k].count);
    });
  }
  void fill(std::size_t k, const std::vector<double>& values) {
    visit_plain(operands_[k].memory.dtype(), [&]<class T>() {
      T* const first = reinterpret_cast<T*>(address(k));
      for (std::int64_t e = 0; e < operands_[k].count; ++e)
        first[e] = static_cast<T>(values[static_cast<std::size_t>(e)]);
    });
  }
  // Small whole numbers, which all dtypes hold and no operation rounds.
  void count_up(std::size_t k) {
    std::vector<double> values;
    for (std::int64_t e = 0; e < operands_[k].count; ++e) values.push_back(static_cast<double>(e % 7));
    fill(k, values);
  }
  // An operand's memory, and the bytes in it before the first element.
  const any_tensor& memory(std::size_t k) const { return operands_[k].memory; }
  std::size_t skipped(std::size_t k) const { return operands_[k].skipped; }
  std::size_t operands() const { return operands_.size(); }
  const broadcast_walk& walk() const { return walk_; }
  // Puts operand `to` into the memory of operand `from`.
  void share(std::size_t from, std::size_t to) { operands_[to] = operands_[from]; }

  std::string text(const std::string& name) const { return op::cuda_map_text(p_, form_, name); }
  op::cuda_launch launch() const { return op::cuda_map_launch(p_, walk_, form_, addresses()); }

  // The first element that differs from the program's plain result, in words; "" if there is none.
  std::string first_wrong() const {
    for (std::size_t k = 0; k < p_.results.size(); ++k) {
      const auto got = numbers(p_.inputs + k);
      for (std::int64_t e = 0; e < space_.count(); ++e) {
        std::vector<double> at;
        for (std::size_t i = 0; i < p_.inputs; ++i)
          at.push_back(numbers(i)[laws::broadcast_index(space_, shapes_[i], e)]);
        const double wanted = laws::evaluator(p_, at).result(k).value, found = got[static_cast<std::size_t>(e)];
        if (found != wanted)
          return "element " + std::to_string(e) + " is " + std::to_string(found) + ", not " + std::to_string(wanted);
      }
    }
    return "";
  }

 private:
  static shape space_of(const std::vector<shape>& inputs) {
    shape all{};
    for (const shape& s : inputs) {
      shape wider;
      broadcast(all, s, wider);
      all = wider;
    }
    return all;
  }
  static std::vector<shape> with_results(const scalar::program& p, const shape& space, std::vector<shape> inputs) {
    inputs.insert(inputs.end(), p.results.size(), space);
    return inputs;
  }
  void make(dtype type, const shape& extent, bool is_aligned) {
    const std::int64_t count = extent.count();
    operands_.push_back({any_tensor(type, {count + 1}), is_aligned ? 0 : size_of(type), count});
  }
  std::vector<const void*> addresses() const {
    std::vector<const void*> all;
    for (std::size_t k = 0; k < operands_.size(); ++k) all.push_back(address(k));
    return all;
  }

  struct operand {
    any_tensor memory;
    std::size_t skipped;  // the bytes before the first element
    std::int64_t count;
  };

  scalar::program p_;
  shape space_;
  std::vector<shape> shapes_;
  broadcast_walk walk_;
  std::vector<operand> operands_;
  op::cuda_form form_;
};

// Shapes of inputs that lead to a form.
struct map_case {
  std::string about;
  std::vector<shape> inputs;
  bool is_aligned = true, is_wide = false;
};

// The cases of a program. Inputs beyond the second have the shape of the space.
inline std::vector<map_case> map_cases(std::size_t inputs) {
  const auto of = [&](const shape& space, const shape& first, const shape& second) {
    std::vector<shape> all{first, second};
    all.resize(inputs, space);
    return all;
  };
  const shape row{1003}, matrix{37, 32}, odd{12, 37}, cube{7, 5, 16}, deep{3, 4, 5, 6};
  return {{"flat", of(row, row, row)},
          {"flat, a scalar", of(row, row, {})},
          {"flat, not aligned", of(row, row, row), false},
          {"flat, wide indices", of(row, row, row), true, true},
          {"one element", of({}, {}, {})},
          {"a bias over rows", of(matrix, matrix, {32})},
          {"a bias over rows, not aligned", of(matrix, matrix, {32}), false},
          {"a bias over rows, wide indices", of(matrix, matrix, {32}), true, true},
          {"a bias over odd rows", of(odd, odd, {37})},
          {"a column", of(matrix, matrix, {37, 1})},
          {"a column and a row", of(matrix, {37, 1}, {32})},
          {"a middle axis", of(cube, {7, 1, 16}, {5, 1})},
          {"a middle axis, wide indices", of(cube, {7, 1, 16}, {5, 1}), true, true},
          {"four axes", of(deep, {3, 1, 5, 1}, {4, 1, 6})}};
}

// Programs for which each form is tested: of one, two and three inputs, of each dtype, of masks, to another dtype.
inline std::vector<named_program> programs_in_forms() {
  program_list list;
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
    list.add("Add" + of_dtype(type), *laws::map_program("Add", type));
  list.add("Less of double", *laws::map_program("Less", dtype::float64));
  list.add("Select of float", *laws::map_program("Select", dtype::float32));
  list.add("a cast of float to double", *laws::map_program("Cast", dtype::float32, dtype::float64));
  list.add("LogicalAnd", *laws::map_program("LogicalAnd", dtype::boolean));
  return list.take();
}

}  // namespace cuda_tests
