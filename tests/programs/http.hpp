// A client of HTTP.
#pragma once

#include <string>

#include "stranger.hpp"

// The answer of a server; status 0 where there was none.
struct http_reply {
  int status = 0;
  std::string type, text;
};

// Asks the server at "host:port" for a path, and reads its answer to the end of the connection.
inline http_reply http_get(const std::string& address, const std::string& path) {
  const stranger to(address);
  if (!to.connected() || !to.say("GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n")) return {};
  const std::string said = to.hear(), name = "Content-Type: ";
  const auto end = said.find("\r\n\r\n"), type = said.find(name) + name.size();
  if (!said.starts_with("HTTP/1.1 ") || end == said.npos) return {};
  return {std::stoi(said.substr(9, 3)), said.substr(type, said.find("\r\n", type) - type), said.substr(end + 4)};
}
