// The options of both programs that name credentials.
#pragma once

#include <CLI/CLI.hpp>

#include <pinion/base/security_options.hpp>

inline void add_credentials(CLI::App& app, pinion::security_options& into) {
  const std::string group = "Credentials";
  app.add_option("--key-file", into.key_file,
                 "File of the cluster's key, of mode 600; without it PINION_KEY or PINION_KEY_FILE tells the key")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--certificate", into.certificate, "File of this side's TLS certificate, PEM")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--private-key", into.private_key, "File of its private key, of mode 600")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--authorities", into.authorities, "File of the certificates of those who sign for peers")
      ->type_name("FILE")
      ->group(group);
}

// Ends the reading of options: 0 after --help and --version, 2 where an option is wrong, which is told.
inline int exit_code_of(const CLI::App& app, const CLI::ParseError& e) {
  return app.exit(e) == 0 ? 0 : 2;
}
