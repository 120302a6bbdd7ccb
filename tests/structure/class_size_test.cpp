// A class can be held in the head: it has few functions and few members.
#include "declarations.hpp"
#include "house.hpp"

#include <algorithm>
#include <cstdio>
#include <regex>
#include <string>

#include <catch2/catch.hpp>

namespace {

struct class_size {
  int functions = 0, members = 0;
};

// The commas between the names of a declaration, not those of arguments.
int commas_of(const std::string& declaration) {
  int commas = 0, depth = 0;
  for (const char c : declaration) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    commas += c == ',' && depth == 0;
  }
  return commas;
}

// Adds a declaration of a class to its counts. Nested types, aliases and constants count for nothing.
void count(std::string declaration, class_size& size) {
  static const std::regex access{R"(\b(public|private|protected):)"}, parameters{R"(^\s*template\s*)"},
      constraint{R"(^\s*requires\s*\([^()]*(\([^()]*\)[^()]*)*\)\s*)"},
      no_member{R"(^\s*(class|struct|enum|union|using|friend|static_assert|static\b[^(]*$|$))"};
  declaration = house::without_angles(std::regex_replace(declaration, access, ""));
  declaration = std::regex_replace(std::regex_replace(declaration, parameters, ""), constraint, "");
  const std::string head = declaration.substr(0, declaration.find_first_of("{="));
  if (std::regex_search(head, no_member)) return;
  if (head.find('(') != std::string::npos || head.find("operator") != std::string::npos)
    ++size.functions;
  else
    size.members += 1 + commas_of(declaration);
}

// Counts what a class declares; its body is the text between its braces. What stands in inner braces is left out.
class_size size_of(const std::string& body) {
  static const std::regex type{R"(^\s*((public|private|protected):\s*)*(class|struct|enum|union)\b)"};
  class_size size;
  std::string declaration;
  int depth = 0;
  for (const char c : body) {
    if (c == '{' && depth++ == 0) declaration += c;
    if (c == '}') --depth;
    if (depth > 0 || c == '{') continue;
    if (c == '}') {
      declaration += c;
      const std::string head = house::without_angles(declaration.substr(0, declaration.find('{')));
      if (std::count(declaration.begin(), declaration.end(), '(') >
          std::count(declaration.begin(), declaration.end(), ')'))
        continue;  // the value of a parameter
      const bool is_function = head.find('(') < head.find('=');
      if (!is_function && !std::regex_search(head, type)) continue;  // a member with its value: the semicolon follows
    } else if (c != ';') {
      declaration += c;
      continue;
    }
    count(declaration, size);
    declaration.clear();
  }
  return size;
}

// The classes of a header, by name: those that stand in a namespace.
std::map<std::string, class_size> classes_of(const std::string& code) {
  static const std::regex opening{R"(\n(?:class|struct) (?:\[\[\w+\]\] )?(\w+)[^;{}()]*\{)"};
  std::map<std::string, class_size> all;
  for (std::sregex_iterator at(code.begin(), code.end(), opening), none; at != none; ++at) {
    const auto begin = static_cast<std::size_t>(at->position() + at->length());
    const auto end = code.find("\n};", begin);
    if (end != std::string::npos) all[(*at)[1]] = size_of(code.substr(begin, end - begin));
  }
  return all;
}

constexpr int most_functions = 30, most_members = 20;

// Those that are larger, and may not grow. A row goes when its class is small enough; none is added. The graph is what
// programs, scopes, placement and the wire share, each by a few functions of their own.
const std::map<std::string, class_size> larger_ones{
    {"graph/graph.hpp: graph", {36, 2}},
};

// Options, reports and tables are read by name, and may have as many members as there are things to say.
bool is_plain(const class_size& size) {
  return size.functions <= 1;
}

}  // namespace

TEST_CASE("a class has at most 30 functions and 20 members") {
  std::string offences;
  house::names larger;
  class_size largest;
  for (const auto& [path, header] : house::read(PINION_TEST_SOURCE_DIR "/include/pinion", {".hpp"}))
    for (const auto& [name, size] : classes_of("\n" + house::code_of(header))) {
      const auto known = larger_ones.find(path + ": " + name);
      const class_size most = known == larger_ones.end() ? class_size{most_functions, most_members} : known->second;
      const bool fits = size.functions <= most.functions && (size.members <= most.members || is_plain(size));
      if (size.functions > most_functions || (size.members > most_members && !is_plain(size)))
        larger.insert(path + ": " + name);
      if (!fits)
        offences += path + ": " + name + " has " + std::to_string(size.functions) + " functions and " +
                    std::to_string(size.members) + " members\n";
      largest.functions = std::max(largest.functions, size.functions);
      if (!is_plain(size)) largest.members = std::max(largest.members, size.members);
    }
  std::printf("the largest classes have %d functions and %d members\n", largest.functions, largest.members);
  CHECK(offences == "");
  for (const auto& [name, size] : larger_ones) {
    INFO(name << " is small enough, and needs no row");
    CHECK(larger.contains(name));
  }
}

TEST_CASE("functions and members of a class are told apart") {
  const auto classes = classes_of(R"(
class [[nodiscard]] shop : public place<int> {
 public:
  explicit shop(std::string name, part first = {}, int more = 0) : name_(std::move(name)), a_(more) {}
  ~shop() { close(); }
  using bread = std::function<void(int)>;
  enum kind { small, large };
  struct part {
    int a, b;
    void f();
  };
  template <class F>
  requires(sizeof(F) > 1) void each(const F& f) const {
    for (const auto& one : all_) f(one);
  }
  virtual int count() const = 0;
  friend bool operator==(const shop&, const shop&);
  bool operator<(const shop& other) const;

 private:
  static constexpr int most = 4;
  std::function<void(int, float)> told_;
  std::map<int, std::string> all_ = make<int>(4);
  int a_ = 0, b_ = 0;
  few_lines lines_{{.before = 0}, [](int x) { return x; }};
};
struct later;
)");
  REQUIRE(classes.size() == 1);
  CHECK(classes.at("shop").functions == 5);
  CHECK(classes.at("shop").members == 5);
}
