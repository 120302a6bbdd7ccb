// A client of HTTP, in a unit of its own: cpp-httplib takes long to compile.
#pragma once

#include <string>

// The answer of a server; status 0 where there was none.
struct http_reply {
  int status = 0;
  std::string type, text;
};
// Asks the server at "host:port" for a path.
http_reply http_get(const std::string& address, const std::string& path);
