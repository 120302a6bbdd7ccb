// Declarations of headers, told from their text: it is formatted, and has no surprises.
#pragma once

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "house.hpp"

namespace house {

// A line without its comment and the contents of its strings.
inline std::string code_of(const std::string& line) {
  static const std::regex quoted{R"("(\\.|[^"\\])*"|'(\\.|[^'\\])')"}, comment{"//.*"};
  return std::regex_replace(std::regex_replace(line, quoted, "0"), comment, "");
}

// The lines of a header without comments, strings and directives of the preprocessor.
inline std::string code_of(const header& h) {
  std::string text;
  bool directive = false;
  for (const std::string& line : h.lines) {
    directive |= line.starts_with("#");
    if (!directive) text += code_of(line) + "\n";
    directive &= line.ends_with("\\");
  }
  return text;
}

// The code that stands directly in each namespace, by its path: "pinion::v0::op". Bodies are left out of it.
inline std::map<std::string, std::string> by_namespace(const std::string& code) {
  static const std::regex opens{R"((?:inline )?namespace ((?:\w|::)+)\s*$)"};
  std::map<std::string, std::string> result;
  std::vector<std::string> paths{""};
  std::string text;  // since the last end of a statement
  int within = 0;    // braces that are no namespaces
  for (const char c : code) {
    std::smatch match;
    if (c == '{' && within == 0 && std::regex_search(text, match, opens)) {
      paths.push_back(paths.back() + (paths.size() > 1 ? "::" : "") + match.str(1));
      text.clear();
    } else if (c == '}' && within == 0) {
      result[paths.back()] += text;
      text.clear();
      paths.pop_back();
    } else {
      if (c == '{') ++within;
      if (c == '}') --within;
      if (within == 0) text += c;
      if (within > 0 || (c != ';' && c != '}')) continue;
      result[paths.back()] += text;
      text.clear();
    }
  }
  return result;
}

// A statement without what stands in angles, which nest.
inline std::string without_angles(std::string code) {
  static const std::regex innermost{R"(<[^<>()]*>|<[^<>]*>)"}, operators{"operator[<>=!]+"},
      signs{"->|<=>|<<|>>=|[<>]="};
  code = std::regex_replace(std::regex_replace(code, operators, "operator"), signs, " ");
  for (std::string before; before != code;) {
    before = code;
    code = std::regex_replace(code, innermost, "");
  }
  return code;
}

// The names of types, functions and objects that the code of a namespace declares; specialisations and operators are
// not among them.
inline names declared_in(const std::string& code) {
  // parentheses may nest once
  static const std::regex heads{
      R"(^\s*(template\s*|requires\s*(\(([^()]|\([^()]*\))*\)|!?[\w:]+)(\s*(&&|\|\|)\s*(\([^()]*\)|!?[\w:]+))*\s*)+)"},
      marks{R"(\[\[[^\]]*\]\]|__attribute__\s*\(\([^()]*(\([^()]*\))?\)\)|decltype\s*\([^()]*(\([^()]*\)[^()]*)*\))"},
      type{R"(^\s*(?:class|struct|enum class|enum|union)\s+(\w+))"}, alias{R"(^\s*(?:using|concept)\s+(\w+)\s*=)"},
      object{R"(((?:\w+::)*~?\w+)\s*([(=};\[]))"}, special{R"(^\s*(using|static_assert|extern|friend|[),}:&|]))"};
  names all;
  std::string statement;
  const auto end = [&] {
    const std::string whole = std::regex_replace(statement, marks, "");
    statement.clear();
    const std::string text = std::regex_replace(without_angles(whole), heads, "");
    std::smatch found;
    if (std::regex_search(text, found, type) || std::regex_search(text, found, alias)) {
      if (whole.find(found.str(1) + "<") == whole.npos) all.insert(found[1]);
    } else if (!std::regex_search(text, special) && text.find("operator") == text.npos &&
               std::regex_search(text, found, object) && found.str(1).find(':') == std::string::npos) {
      all.insert(found[1]);
    }
  };
  for (const char c : code) {
    statement += c;
    if (c == ';' || c == '}') end();
  }
  return all;
}

}  // namespace house
