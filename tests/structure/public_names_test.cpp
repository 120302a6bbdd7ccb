// The names that users can write are listed: a name that is gone, or that comes by another header, is a broken program.
#include "declarations.hpp"
#include "house.hpp"

#include <catch2/catch.hpp>

namespace {

const house::headers tree = house::read(PINION_TEST_SOURCE_DIR "/include/pinion", {".hpp"});

// The namespaces whose names users write.
const house::names written{"", "::attr", "::data", "::dtypes", "::nn", "::sim", "::train", "::train::summary"};

// The names with their namespaces that an umbrella header brings: "train::saver".
house::names brought_by(const std::string& umbrella) {
  house::names all;
  for (const std::string& path : house::closure(tree, umbrella)) {
    const auto header = tree.find(path);
    if (header == tree.end()) continue;
    for (const auto& [space, code] : house::by_namespace(house::code_of(header->second)))
      if (const std::string below = space.substr(std::min<std::size_t>(space.size(), 10));
          space.starts_with("pinion::v0") && written.contains(below))
        for (const std::string& name : house::declared_in(code))
          if (!name.starts_with("PINION_")) all.insert((below + "::" + name).substr(2));
  }
  return all;
}

std::string list_of(const std::string& umbrella) {
  return house::text_of(PINION_TEST_SOURCE_DIR "/tests/structure/names_of_" + umbrella + ".cpp");
}

}  // namespace

TEST_CASE("each public name that an umbrella header brings is listed, and the list compiles with that header alone") {
  std::string listed;
  for (const char* umbrella : {"graph", "session", "distributed", "train"}) {
    const house::names brought = brought_by(umbrella + std::string(".hpp"));
    CHECK(brought.size() > 200);
    listed += list_of(umbrella);  // a header brings what those before it do
    std::string missing;
    for (const std::string& name : brought)
      if (listed.find("using pinion::" + name + ";") == listed.npos) missing += "using pinion::" + name + ";\n";
    INFO(umbrella);
    CHECK(missing == "");
  }
}

TEST_CASE("declarations are told from what stands in them") {
  CHECK(house::declared_in("template <class T>\nrequires(std::is_same_v<T, int>)\nexpr<T> f(const g& x = {}) }\n"
                           "inline constexpr int most = 3;\nstruct s }\n;\nusing t = int;\n"
                           "template <>\nstruct s<int> };\nclass far;\nenum class e : int };\n"
                           "template <class T>\nconcept c = true;\ngraph::graph(int a) }\nbool operator<(s, s) }\n") ==
        house::names{"f", "most", "s", "t", "far", "e", "c"});
}
