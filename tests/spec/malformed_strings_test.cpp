// Device strings of all kinds of mistakes, beside TensorFlow's two parsers and the grammar, each written out here once
// more from its description.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/spec/device_spec.hpp>

#include "support/spec_table.hpp"

namespace {

using pinion::device_spec;
using spec_table::split;

// The fields of a device as TensorFlow keeps them, numbers as decimal digits.
struct fields {
  std::optional<std::string> job, replica, task, type, index;

  std::string text() const {
    const auto part = [](const char* key, const std::optional<std::string>& v) { return v ? key + *v : ""; };
    const std::string device = type ? "/device:" + *type + ":" + index.value_or("*") : "";
    return part("/job:", job) + part("/replica:", replica) + part("/task:", task) + device;
  }
};

// Python's int(): blanks around it, a sign, single underscores between digits.
std::optional<std::string> python_int(const std::string& text) {
  static const std::regex form("\\s*([+-]?)0*([0-9]+(_[0-9]+)*)\\s*");
  std::smatch found;
  if (!std::regex_match(text, found, form)) return std::nullopt;
  std::string digits = found[2];
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  return (found[1] == "-" && digits != "0" ? "-" : "") + digits;
}

// DeviceSpec.from_string of TensorFlow 1.15.
std::optional<fields> front_end(const std::string& text) {
  fields f;
  const auto number = [](const std::string& v, std::optional<std::string>& into) {
    into = python_int(v);
    return into.has_value();
  };
  for (const std::string& segment : split(text, "/")) {
    const auto part = split(segment, ":");
    std::string upper = part[0];
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    const bool short_form = part.size() <= 2 && (upper == "CPU" || upper == "GPU");
    if (part.size() == 2 && part[0] == "job") {
      f.job = part[1];
    } else if (part.size() == 2 && part[0] == "replica") {
      if (!number(part[1], f.replica)) return std::nullopt;
    } else if (part.size() == 2 && part[0] == "task") {
      if (!number(part[1], f.task)) return std::nullopt;
    } else if (short_form || (part.size() == 3 && part[0] == "device")) {
      if (f.type) return std::nullopt;
      const std::string& type = short_form ? upper : part[1];
      f.type = type == "cpu" || type == "gpu" ? (type == "cpu" ? "CPU" : "GPU") : type;
      if (part.size() > 1 && part.back() != "*" && !number(part.back(), f.index)) return std::nullopt;
    } else if (!part[0].empty()) {
      return std::nullopt;
    }
  }
  return f;
}

std::optional<std::uint64_t> as_uint64(const std::string& digits) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return failed == std::errc() ? std::optional(number) : std::nullopt;
}

// ParseFullName of TensorFlow 1.15: known prefixes are taken from the front until nothing is left.
std::optional<fields> runtime(std::string_view rest) {
  if (rest == "/") return fields{};
  fields f;
  const auto take = [&](std::string_view prefix) {
    if (rest.substr(0, prefix.size()) != prefix) return false;
    rest.remove_prefix(prefix.size());
    return true;
  };
  const auto value = [&](std::optional<std::string>& into, auto is_first, auto is_next) {
    into.reset();
    if (take("*")) return true;
    if (rest.empty() || !is_first(rest[0])) return false;
    for (into = ""; !rest.empty() && is_next(rest[0]); rest.remove_prefix(1)) *into += rest[0];
    return true;
  };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto number = [&](std::optional<std::string>& into) {
    if (!value(into, digit, digit)) return false;
    if (!into) return true;
    const auto read = as_uint64(*into);
    if (read) into = std::to_string(static_cast<std::int32_t>(*read));  // which keeps the lower 32 bits
    return read.has_value();
  };
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  while (!rest.empty()) {
    bool good = false;
    if (take("/job:"))
      good = value(f.job, letter, word);
    else if (take("/replica:"))
      good = number(f.replica);
    else if (take("/task:"))
      good = number(f.task);
    else if (take("/device:"))
      good = value(f.type, letter, word) && (f.index.reset(), !take(":") || number(f.index));
    else if (take("/cpu:") || take("/CPU:"))
      good = (f.type = "CPU", number(f.index));
    else if (take("/gpu:") || take("/GPU:"))
      good = (f.type = "GPU", number(f.index));
    if (!good) return std::nullopt;
  }
  return f;
}

bool fits(const std::string& number) {
  return std::strtod(number.c_str(), nullptr) <= 2147483647.;
}

// The grammar of pinion's device strings.
bool in_grammar(const std::string& text) {
  static const std::regex form(
      "job:(\\*|[A-Za-z][A-Za-z0-9_-]{0,62})|(?:replica|task):(\\*|[0-9]+)|"
      "(device:\\*(?::\\*)?|device:[A-Za-z][A-Za-z0-9_]{0,30}(?::(?:\\*|([0-9]+)))?|(?:[cC]|[gG])[pP][uU](?::(?:\\*|(["
      "0-9]+)))?)");
  int types = 0;
  for (const std::string& segment : split(text, "/")) {
    std::smatch found;
    if (segment.empty()) continue;
    if (!std::regex_match(segment, found, form)) return false;
    types += found[3].matched;
    for (const int number : {2, 4, 5})
      if (found[number].matched && found[number] != "*" && !fits(found[number])) return false;
  }
  return types <= 1;
}

// Strings that are nearly device strings: segments, right and wrong, with a few characters changed.
class generator {
 public:
  std::string operator()() {
    std::string text;
    for (int n = below(4) + 1; n > 0; --n) text += any(joints) + segment();
    text += below(6) ? "" : any(joints);
    for (int n = below(4) - 1; n > 0 && !text.empty(); --n) spoil(text);
    return text;
  }

 private:
  using texts = std::vector<std::string>;
  const texts joints{"/", "/", "/", "/", "", "//"},
      sound{"job:ps",     "job:a-b",      "job:*",      "replica:0",    "replica:*", "task:3",
            "task:*",     "device:GPU:1", "device:GPU", "device:gpu:*", "device:*",  "device:*:*",
            "device:*:0", "cpu:0",        "Cpu:1",      "GPU:*",        "gpu"},
      keys{"job", "replica", "task", "device", "cpu", "GPU", "Cpu", "gPu", "Task", "JOB", "tpu", "", "bar"},
      values{"*",      "0",   "3",   "007", "-1",   "+2",  "99999999999", "2147483647", "2147483648",
             "worker", "ps",  "a-b", "a_1", "1a",   "GPU", "cpu",         "XLA_GPU",    "*0",
             "",       "x.y", " 1",  "1_0", "GPU ", "_x",  "é",           "0x1",        std::string(64, 'j')};
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(bits_); }
  const std::string& any(const texts& of) { return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))]; }
  std::string segment() {
    if (below(3)) return any(sound);
    std::string text = any(keys);
    for (int n = below(3); n > 0; --n) text += ":" + any(values);
    return text;
  }
  void spoil(std::string& text) {
    const std::string marks = "/:*_-+ .019aGpz";
    const auto at = static_cast<std::size_t>(below(static_cast<int>(text.size())));
    const char c = marks[static_cast<std::size_t>(below(static_cast<int>(marks.size())))];
    if (const int how = below(3); how == 0)
      text.erase(at, 1);
    else if (how == 1)
      text.insert(at, 1, c);
    else
      text[at] = c;
  }
  std::mt19937 bits_{20};
};

std::optional<device_spec> read(const std::string& text) {
  try {
    return pinion::parse_device(text);
  } catch (const pinion::error& e) {
    if (e.code() != pinion::errc::invalid_argument) throw;
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("the parsers written out here agree with every row of the table") {
  const auto outcome = [](const std::optional<fields>& f) {
    return f ? f->text().empty() ? "<empty>" : f->text() : "ERROR";
  };
  for (const auto& row : spec_table::parse_rows(spec_table::folder())) {
    INFO("line " << row.line << ": '" << row.input << "'");
    CHECK(outcome(front_end(row.input)) == row.front_end);
    CHECK(outcome(runtime(row.input)) == row.runtime);
    CHECK(in_grammar(row.input) == (row.pinion != "ERROR"));
  }
}

TEST_CASE("the parsers written out here read numbers as TensorFlow's do") {
  const auto task = [](const std::optional<fields>& f) { return f ? f->text() : "ERROR"; };
  CHECK(task(runtime("/task:007")) == "/task:7");
  CHECK(task(front_end("/task:007")) == "/task:7");
  CHECK(task(runtime("/task:4294967297")) == "/task:1");
  CHECK(task(runtime("/task:99999999999999999999")) == "ERROR");
  CHECK(task(runtime("/device:GPU:00")) == "/device:GPU:0");
}

TEST_CASE("of malformed strings those that the grammar takes are read, and no others") {
  generator make;
  int taken = 0, by_neither_of_tensorflow = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = make();
    INFO("'" << text << "'");
    const bool reads = read(text).has_value();
    CHECK(reads == in_grammar(text));
    taken += reads;
    by_neither_of_tensorflow += reads && !front_end(text) && !runtime(text);
  }
  INFO(taken << " taken, " << by_neither_of_tensorflow << " by neither of TensorFlow's parsers");
  CHECK(taken > 300);
}

// A string that only the grammar takes mixes the two: its segments are each one parser's own.
TEST_CASE("each segment of what is read is one that a parser of TensorFlow takes, or a job with a dash") {
  generator make;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = make();
    if (!read(text)) continue;
    for (const std::string& segment : split(text, "/")) {
      INFO("'" << segment << "' of '" << text << "'");
      CHECK((front_end(segment) || runtime("/" + segment)));
    }
  }
}

TEST_CASE("what both parsers of TensorFlow read alike is read so here, or refused") {
  generator make;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = make();
    const auto a = front_end(text), b = runtime(text);
    const auto mine = read(text);
    if (!a || !b || !mine || a->text() != b->text()) continue;
    INFO("'" << text << "'");
    std::string same = to_string(*mine);
    std::transform(same.begin(), same.end(), same.begin(), [](unsigned char c) { return std::toupper(c); });
    std::string theirs = to_string(pinion::parse_device(a->text()));
    std::transform(theirs.begin(), theirs.end(), theirs.begin(), [](unsigned char c) { return std::toupper(c); });
    CHECK(same == theirs);
  }
}

TEST_CASE("an index without a type is refused, the star of both is unset, and numbers end with int32") {
  for (const char* bad : {"/device:*:0", "device:*:7", "/job:ps/device:*:0", "/device:*:2147483648", "/cpu:2147483648",
                          "/device:GPU:2147483648", "/replica:2147483648", "/device:*:x", "/device:*:"})
    CHECK_FALSE(read(bad));
  CHECK(read("/device:*:*") == device_spec{});
  CHECK(read("/device:*") == device_spec{});
  CHECK(read("/cpu:2147483647")->index() == 2147483647);
}
