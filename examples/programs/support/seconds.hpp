// The range of an option that is a time in seconds.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

// Refuses what is not between the two, NaN too, which CLI::Range lets pass.
inline CLI::Validator seconds_between(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        double value = 0;
        const bool is_good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return is_good ? std::string()
                       : "'" + text + "' is no number of seconds from " + CLI::detail::to_string(least) + " to " +
                             CLI::detail::to_string(most);
      },
      "");
}
