#include "http.hpp"

#if PINION_TEST_HAS_HTTPLIB
#include <httplib.h>

http_reply http_get(const std::string& address, const std::string& path) {
  httplib::Client to("http://" + address);
  to.set_read_timeout(20, 0);
  const auto result = to.Get(path);
  if (!result) return {};
  return {result->status, result->get_header_value("Content-Type"), result->body};
}
#endif
