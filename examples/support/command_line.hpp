// The options of a program. CLI11 reads them in a unit of its own: to compile its header takes longer than to compile
// one of these programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct whole_numbers {
  int least, most;
};

class command_line {
 public:
  explicit command_line(const char* purpose);
  ~command_line();

  // The variable keeps its value where the option is not given; --help tells it.
  void add(const char* name, std::string& value, const char* help);
  void add(const char* name, std::int64_t& value, const char* help);
  void add(const char* name, std::size_t& value, const char* help);
  void add(const char* name, int& value, const char* help);
  void add(const char* name, int& value, const char* help, whole_numbers range);
  void add(const char* name, std::string& value, const char* help, const std::vector<std::string>& choices);
  void add_flag(const char* name, bool& value, const char* help);
  // For the program itself; --help does not tell of them. Several values have commas between them.
  void add_hidden(const char* name, bool& value);
  void add_hidden(const char* name, int& value);
  void add_hidden(const char* name, std::string& value);
  void add_hidden(const char* name, std::vector<std::string>& values);

  // The status to end with at once: after --help, or where an option is wrong, which is told.
  std::optional<int> parse(int argc, char** argv);

 private:
  struct app;
  const std::unique_ptr<app> app_;
};
