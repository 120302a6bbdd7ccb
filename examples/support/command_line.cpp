#include "command_line.hpp"

#include <CLI/CLI.hpp>

struct command_line::app : CLI::App {
  using CLI::App::App;
};

command_line::command_line(const char* purpose) : app_(std::make_unique<app>(purpose)) {
  app_->option_defaults()->always_capture_default();
}
command_line::~command_line() = default;

void command_line::add(const char* name, std::string& value, const char* help) {
  app_->add_option(name, value, help);
}
void command_line::add(const char* name, std::int64_t& value, const char* help) {
  app_->add_option(name, value, help);
}
void command_line::add(const char* name, std::size_t& value, const char* help) {
  app_->add_option(name, value, help);
}
void command_line::add(const char* name, int& value, const char* help) {
  app_->add_option(name, value, help);
}
void command_line::add(const char* name, int& value, const char* help, whole_numbers range) {
  app_->add_option(name, value, help)->check(CLI::Range(range.least, range.most));
}
void command_line::add(const char* name, std::string& value, const char* help,
                       const std::vector<std::string>& choices) {
  app_->add_option(name, value, help)->check(CLI::IsMember(choices));
}
void command_line::add_flag(const char* name, bool& value, const char* help) {
  app_->add_flag(name, value, help);
}

void command_line::add_hidden(const char* name, bool& value) {
  app_->add_flag(name, value)->group("");
}
void command_line::add_hidden(const char* name, int& value) {
  app_->add_option(name, value)->group("");
}
void command_line::add_hidden(const char* name, std::string& value) {
  app_->add_option(name, value)->group("");
}
void command_line::add_hidden(const char* name, std::vector<std::string>& values) {
  app_->add_option(name, values)->delimiter(',')->group("");
}

std::optional<int> command_line::parse(int argc, char** argv) try {
  app_->parse(argc, argv);
  return std::nullopt;
} catch (const CLI::ParseError& e) {
  return app_->exit(e) == 0 ? 0 : 2;
}
