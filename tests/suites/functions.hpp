// The functions of pinion by their names, for programs that come as text. Ops of the catalogue need no row here.
#pragma once

#include <pinion/graph.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace suites {

using nlohmann::json;
using pinion::any_expr;
using values = std::vector<any_expr>;

// A call of a function: its operands, and its options by name.
struct call {
  values operands;
  json options = json::object();

  const any_expr& operator[](std::size_t i) const {
    if (i >= operands.size())
      throw pinion::error(pinion::errc::invalid_argument, "there is no operand " + std::to_string(i));
    return operands[i];
  }
  // Operand i as an expression of T. Throws invalid_argument where it has another dtype.
  template <class T>
  pinion::expr<T> as(std::size_t i) const {
    if ((*this)[i].dtype() == pinion::dtype_of<T>) return pinion::dsl::as_typed<pinion::expr<T>>(operands[i]);
    throw pinion::error(pinion::errc::invalid_argument, "operand " + std::to_string(i) + " has dtype " +
                                                            std::string(to_string(operands[i].dtype())) + ", not " +
                                                            std::string(to_string(pinion::dtype_of<T>)));
  }
  template <class T>
  T option(const char* name) const {
    return options.at(name).get<T>();
  }
  template <class T>
  T option(const char* name, T fallback) const {
    return options.value(name, fallback);
  }
  // The option "axes": a list, or all axes where it is missing.
  pinion::axis_list axes() const {
    pinion::axis_list axes;
    if (!options.contains("axes")) return axes;
    axes.all = false;
    axes.axes = option<pinion::integers>("axes");
    return axes;
  }
};

// Calls f<T>() for the dtype of operand i, which is one of T. Throws invalid_argument where it is none of them.
template <class... T, class F>
any_expr typed(const call& c, std::size_t i, F f) {
  any_expr made;
  const auto tried = [&]<class U>() {
    if (c[i].dtype() != pinion::dtype_of<U>) return false;
    made = f.template operator()<U>();
    return true;
  };
  if ((tried.template operator()<T>() || ...)) return made;
  throw pinion::error(pinion::errc::invalid_argument,
                      "the function takes no " + std::string(to_string(c[i].dtype())) + " here");
}

template <class F>
any_expr floating(const call& c, F f, std::size_t i = 0) {
  return typed<float, double>(c, i, f);
}
template <class F>
any_expr numbers(const call& c, F f, std::size_t i = 0) {
  return typed<float, double, int, std::int64_t>(c, i, f);
}
template <class F>
any_expr plain(const call& c, F f, std::size_t i = 0) {
  return typed<float, double, int, std::int64_t, bool>(c, i, f);
}

struct function {
  std::string_view name;
  any_expr (*apply)(const call& c);
};

std::span<const function> functions_of_elements();
std::span<const function> functions_of_tensors();

}  // namespace suites
