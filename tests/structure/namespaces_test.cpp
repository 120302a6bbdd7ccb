// Which namespace a header declares in: that of its room, or pinion, where users find what they write.
#include "declarations.hpp"
#include "house.hpp"

#include <catch2/catch.hpp>

namespace {

const house::headers tree = house::read(PINION_TEST_SOURCE_DIR "/include/pinion");

bool declares(const std::string& code) {
  static const std::regex forward{R"((template\s*<[^;]*>\s*)?(class|struct|enum class)\s+\w+;)"};
  return std::regex_replace(code, forward, "").find_first_not_of(" \n") != std::string::npos;
}

// The namespaces below pinion::v0 in which a header declares something: "op", or "" for pinion itself.
house::names namespaces_of(const house::header& h) {
  house::names all;
  for (const auto& [path, code] : house::by_namespace(house::code_of(h)))
    if (path.starts_with("pinion::v0") && declares(code))
      all.insert(path.substr(std::min<std::size_t>(path.size(), 12)));
  return all;
}

// A room's namespace is its wing's; `device` is a type, which users write.
std::string home_of(const std::string& path) {
  return house::wing(path) == "device" ? "devices" : house::wing(path);
}

// Namespaces that stand in other rooms, by the beginning of the header's path, and why they do.
struct exemption {
  std::string path, name, reason;
};
const std::vector<exemption> exemptions{
    {"graph/op_names.hpp", "op_names", "graph is a type, which users write"},
    {"op/", "dsl", "functions of ops take and make expressions, with the means of dsl"},
    {"place/place.hpp", "dsl", "the tag is a property of expressions"},
    {"autodiff/functions.hpp", "dsl", "gradients are spelled with expressions"},
    {"nn/partitioned_variable", "dsl", "a partitioned variable is an operand"},
    {"op/", "loops", "the tags of op hide functions of vectors"},
    {"op/variable/rules.hpp", "rules", "the tags of op hide functions of numbers"},
    {"device/cuda/", "cuda", "GPUs of the machine stand apart from what all devices share"},
    {"scalar/lane.hpp", "cuda", "functions of vectors would hide those of numbers"},
    {"op/", "cuda", "kernels that nvcc compiles know nothing of op"},
    {"device/accelerator", "sim", "users write pn::sim::gpu()"},
    {"device/gpu_options", "sim", "what a session sees of simulated accelerators"},
    {"placement/cost/sim_machine", "sim", "users write pn::sim::machine"},
    {"distributed/wire/program", "scalar", "Cereal looks in the namespace of the type"},
    {"distributed/wire/step", "runtime", "Cereal looks in the namespace of the type"},
    {"distributed/wire/messages.hpp", "rpc", "templates are held where they were declared"},
    {"tensor/rows.hpp", "rows", "tensor is a type, which users write"},
    {"base/dtype.hpp", "dtypes", "users write pn::dtypes::floating"},
    {"opkit/attribute_list.hpp", "attr", "users write pn::attr::flag(\"reverse\")"},
    {"spec/device_field", "device_field", "parsers of one field each share their names"},
    {"spec/names.hpp", "ascii", "characters without a locale have the names of <cctype>"},
};

std::string outermost(const std::string& name) {
  return name.substr(0, name.find("::"));
}

bool is_at_home(const std::string& path, const std::string& name) {
  const std::string outer = outermost(name);
  return outer.empty() || outer == "detail" || outer == home_of(path);
}

}  // namespace

TEST_CASE("a header declares in the namespace of its room or in pinion, or is exempt with a reason") {
  std::string strangers;
  std::set<std::size_t> seen;
  for (const auto& [path, header] : tree) {
    for (const std::string& name : namespaces_of(header)) {
      if (is_at_home(path, name)) continue;
      const auto found = std::find_if(exemptions.begin(), exemptions.end(), [&, at = path](const exemption& g) {
        return at.starts_with(g.path) && g.name == outermost(name);
      });
      if (found == exemptions.end())
        strangers += path + " declares in " + name + "\n";
      else
        seen.insert(static_cast<std::size_t>(found - exemptions.begin()));
    }
  }
  CHECK(strangers == "");
  for (std::size_t i = 0; i < exemptions.size(); ++i) CHECK((seen.contains(i) ? "" : exemptions[i].path) == "");
}

TEST_CASE("namespaces are opened in the form that code browsers read") {
  std::string offences;
  for (const auto& [path, header] : tree)
    for (const std::string& line : header.lines)
      if (line.starts_with("namespace pinion") && !line.starts_with("namespace pinion { inline namespace v0 {"))
        offences += path + ": " + line + "\n";
  CHECK(offences == "");
}

TEST_CASE("no namespace has the name of a type in pinion") {
  static const std::regex type{R"(\b(?:class|struct|enum class|using|concept)\s+(\w+))"};
  house::names namespaces, types;
  for (const auto& [path, header] : tree)
    for (const auto& [name, code] : house::by_namespace(house::code_of(header))) {
      namespaces.insert(name.substr(name.rfind(':') + 1));
      if (name != "pinion::v0") continue;
      for (auto m = std::sregex_iterator(code.begin(), code.end(), type); m != std::sregex_iterator(); ++m)
        types.insert((*m)[1]);
    }
  CHECK(types.contains("session"));
  for (const std::string& name : namespaces) CHECK((types.contains(name) ? name : "") == "");
}

TEST_CASE("declarations are told from forward ones, and bodies from namespaces") {
  const house::header h{{"#define A \\", "  namespace x { \\", "  }", "namespace pinion { inline namespace v0 {",
                         "namespace op {", "template <class T>", "struct far;", "}", "namespace near {  // {",
                         "struct s { int a() { return '}'; } };", "}", "}}"},
                        {},
                        {},
                        {},
                        {}};
  CHECK(namespaces_of(h) == house::names{"near"});
}
