// The words of a command line.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bench {

// "--mode=ssp" and the like. A word without "=" has the value "1".
class words {
 public:
  words(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
      const std::string word = arguments[i];
      const auto equals = word.find('=');
      values_[word.substr(0, equals)] = equals == word.npos ? "1" : word.substr(equals + 1);
    }
  }
  // The first word that is none of these; "" where all are.
  std::string other_than(const std::vector<std::string>& known) const {
    for (const auto& [name, value] : values_)
      if (std::find(known.begin(), known.end(), name) == known.end()) return name;
    return "";
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  std::string get(const std::string& name, const std::string& otherwise = "") const {
    const auto at = values_.find(name);
    return at == values_.end() ? otherwise : at->second;
  }
  double number(const std::string& name, double otherwise) const {
    return has(name) ? std::stod(get(name)) : otherwise;
  }
  int count(const std::string& name, int otherwise) const { return has(name) ? std::stoi(get(name)) : otherwise; }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace bench
