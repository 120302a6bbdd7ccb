// pinion_status: what the tasks of a cluster are, have and do, as tables or JSON, once or again and again.
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <pinion/distributed.hpp>

#include "json.hpp"
#include "options.hpp"
#include "page.hpp"
#include "stop_request.hpp"
#include "terminal.hpp"

namespace {

using status::terminal;

std::chrono::milliseconds span_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::vector<std::string> lines_of(const pinion::cluster_report& all, const status::options& o) {
  if (o.json) return {status::json_of(all, !o.watch)};
  const status::page_form form{
      .width = terminal::width(), .colours = terminal::has_colours(), .rows = o.all ? std::size_t{0} : 10};
  return status::page(all, form).lines();
}

std::vector<std::string> report(const status::options& o) {
  return lines_of(pinion::inspect_cluster(o.target, o.security, span_of(o.timeout)), o);
}

// Shows reports until it is asked to stop. A target that does not answer may come again.
void watch(const status::options& o) {
  const stop_request stop;
  terminal screen(!o.json);
  for (pollfd asked{stop.descriptor(), POLLIN, 0};;) {
    try {
      screen.show(report(o));
    } catch (const pinion::error& e) {
      if (e.code() != pinion::errc::unavailable) throw;
      if (o.json)
        std::fprintf(stderr, "pinion_status: %s\n", e.what());
      else
        screen.show({e.what()});
    }
    if (::poll(&asked, 1, static_cast<int>(span_of(o.interval).count())) != 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  status::options o;
  if (const auto over = status::read(argc, argv, o)) return *over;
  if (o.watch)
    watch(o);
  else
    terminal(false).show(report(o));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "pinion_status: %s\n", e.what());
  return 1;
}
