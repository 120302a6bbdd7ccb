// pinion_suite FOLDER: runs programs that come as lines of JSON, with arrays in .npy files of the folder. The suites of
// other libraries beside it ask it what pinion computes.
//
//   {"nodes": [{"feed": "x.npy"}, {"call": "exp", "in": [0]}, {"call": "Sum", "in": [1], "options": {"axes": [0]}}],
//    "fetch": [2], "gradient": {"of": 2, "by": [0]}}
//
// A node is a fed array, whose "shape" may be told as less than it is ([-1, 3], or null), or a call of a function of
// pinion or of an op of its catalogue. A number names a node, and [n, i] its output i. "along": [1] in "gradient" asks
// for "second" in the answer, too: the gradient of the sum of the first one's products with these nodes. The answer:
//
//   {"values": ["y0.npy"], "gradient": ["g0.npy"]}      null for a gradient by what the result does not depend on
//   {"error": "the sentence", "code": "unimplemented"}
#include "functions.hpp"

#include <pinion/autodiff/gradients.hpp>
#include <pinion/files/npy.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/session.hpp>

#include <filesystem>
#include <iostream>
#include <map>
#include <optional>

namespace suites { namespace {

namespace pn = pinion;

// ---- nodes

pn::dtype dtype_named(const std::string& name) {
  for (unsigned i = 1; i < pn::detail::dtype_count; ++i)
    if (to_string(static_cast<pn::dtype>(i)) == name) return static_cast<pn::dtype>(i);
  throw pn::error(pn::errc::invalid_argument, "there is no dtype '" + name + "'");
}

pn::shape shape_of(const json& extents) {
  return pn::shape(std::span<const std::int64_t>(extents.get<pn::integers>()));
}

// The attribute that a rule describes, of the value that stands for it in the text.
pn::attribute attribute_of(const pn::attribute_rule& rule, const json& value) {
  using kind = pn::attribute_kind;
  switch (rule.kind) {
    case kind::flag: return value.get<bool>();
    case kind::integer: return value.get<std::int64_t>();
    case kind::real: return value.get<double>();
    case kind::number:
      return value.is_number_integer() ? pn::attribute(value.get<std::int64_t>()) : value.get<double>();
    case kind::text: return value.get<std::string>();
    case kind::dtype: return dtype_named(value.get<std::string>());
    case kind::shape: return shape_of(value);
    case kind::list: return value.get<pn::integers>();
    default: break;
  }
  throw pn::error(pn::errc::unimplemented, "attribute '" + std::string(rule.name) + "' has no form in text");
}

pn::attributes attributes_of(const pn::definition& op, const json& options) {
  pn::attributes attrs;
  for (const auto& [name, value] : options.items()) {
    const pn::attribute_rule* rule = op.attrs ? op.attrs->find(name) : nullptr;
    if (!rule) throw pn::error(pn::errc::invalid_argument, "the op has no attribute '" + name + "'");
    attrs.set(name, attribute_of(*rule, value));
  }
  return attrs;
}

values node_of(pn::graph& g, const std::string& op, const call& c) {
  std::vector<pn::output> inputs;
  for (const any_expr& x : c.operands) inputs.push_back(x.endpoint(g));
  const pn::node_id made = pn::build(
      g, {.op = op, .base_name = op, .inputs = inputs, .attrs = attributes_of(pn::definition_of(op), c.options)});
  values outputs;
  for (std::size_t i = 0; i < g[made].outputs.size(); ++i) outputs.push_back(any_expr(g, {made, static_cast<int>(i)}));
  return outputs;
}

const std::map<std::string_view, function>& functions() {
  static const auto all = [] {
    std::map<std::string_view, function> made;
    for (const auto& table : {functions_of_elements(), functions_of_tensors()})
      for (const function& f : table) made.emplace(f.name, f);
    return made;
  }();
  return all;
}

any_expr applied(std::string_view name, const call& c) {
  return functions().at(name).apply(c);
}

// ---- programs

class program {
 public:
  program(const std::filesystem::path& folder, const json& text) : folder_(folder) {
    for (const json& node : text.at("nodes")) nodes_.push_back(node.contains("feed") ? fed(node) : called(node));
    for (const json& end : text.at("fetch")) fetches_.push_back(output(end));
    if (text.contains("gradient")) differentiate(text["gradient"]);
  }

  json run() {
    pn::session sess{{.graph = &graph_, .inter_op_threads = 1, .intra_op_threads = 1}};
    json answer{{"values", write("y", sess.run({.feeds = feeds_, .fetches = fetches_}))}};
    if (!gradients_.empty()) answer["gradient"] = write_there(sess, "g", gradients_);
    if (!second_.empty()) answer["second"] = write_there(sess, "h", second_);
    return answer;
  }

 private:
  any_expr output(const json& end) const {
    if (!end.is_array()) return nodes_.at(end.get<std::size_t>()).at(0);
    return nodes_.at(end.at(0).get<std::size_t>()).at(end.at(1).get<std::size_t>());
  }
  values fed(const json& node) {
    const pn::any_tensor value = pn::files::read_npy(folder_ / node["feed"].get<std::string>());
    pn::shape known = value.shape();
    if (node.contains("shape")) known = node["shape"].is_null() ? pn::shape::any() : shape_of(node["shape"]);
    const pn::node_id made = pn::build(
        graph_,
        {.op = pn::op::placeholder::name, .base_name = "x", .attrs = {{"dtype", value.dtype()}, {"shape", known}}});
    const any_expr x(graph_, {made, 0});
    feeds_.emplace_back(x, value);
    return {x};
  }
  values called(const json& node) {
    call c{{}, node.value("options", json::object())};
    for (const json& end : node.at("in")) c.operands.push_back(output(end));
    const std::string name = node.at("call");
    return functions().contains(name) ? values{applied(name, c)} : node_of(graph_, name, c);
  }
  void differentiate(const json& request) {
    std::vector<pn::output> by;
    for (const json& end : request.at("by")) by.push_back(output(end).endpoint(graph_));
    gradients_ = gradients(output(request.at("of")), by);
    if (!request.contains("along")) return;
    any_expr total;
    for (std::size_t i = 0; i < by.size(); ++i) {
      if (!gradients_[i]) continue;
      const any_expr part = applied("product_sum", {{*gradients_[i], output(request["along"].at(i))}});
      total = total.empty() ? part : applied("add", {{total, part}});
    }
    second_ = total.empty() ? gradients_ : gradients(total, by);
  }
  std::vector<std::optional<any_expr>> gradients(const any_expr& y, const std::vector<pn::output>& by) {
    std::vector<std::optional<any_expr>> all(by.size());
    const auto found = pn::autodiff::differentiate(graph_, {y.endpoint(graph_)}, by);
    for (std::size_t i = 0; i < by.size(); ++i)
      if (found[i]) all[i] = any_expr(graph_, pn::autodiff::to_dense(graph_, *found[i], by[i]));
    return all;
  }
  // The names of files with those that are there.
  json write_there(pn::session& sess, const std::string& prefix, const std::vector<std::optional<any_expr>>& ends) {
    std::vector<any_expr> there;
    for (const auto& end : ends)
      if (end) there.push_back(*end);
    const json files = there.empty() ? json::array() : write(prefix, sess.run({.feeds = feeds_, .fetches = there}));
    json names = json::array();
    for (std::size_t i = 0, k = 0; i < ends.size(); ++i) names.push_back(ends[i] ? files[k++] : json());
    return names;
  }
  json write(const std::string& prefix, const std::vector<pn::any_tensor>& results) const {
    json files = json::array();
    for (const pn::any_tensor& result : results) {
      files.push_back(prefix + std::to_string(files.size()) + ".npy");
      pn::files::write_npy(folder_ / files.back().get<std::string>(), result);
    }
    return files;
  }

  std::filesystem::path folder_;
  pn::graph graph_;
  pn::default_scope use_ = graph_.as_default();
  std::vector<values> nodes_;
  std::vector<pn::feed> feeds_;
  std::vector<any_expr> fetches_;
  std::vector<std::optional<any_expr>> gradients_, second_;
};

json answer_to(const std::filesystem::path& folder, const std::string& line) {
  try {
    return program(folder, json::parse(line)).run();
  } catch (const pn::error& e) {
    return {{"error", e.what()}, {"code", std::string(to_string(e.code()))}};
  } catch (const std::exception& e) {  // the text is none that the suite understands
    return {{"error", e.what()}, {"code", "request"}};
  }
}

}}  // namespace suites

int main(int count, char** arguments) {
  if (count != 2) return 2;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << suites::answer_to(arguments[1], line).dump(-1, ' ', true, suites::json::error_handler_t::replace)
              << std::endl;
  return 0;
}
