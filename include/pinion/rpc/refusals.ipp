// Bodies of <pinion/rpc/refusals.hpp>.
#pragma once

#include <utility>

#include <pinion/base/harmless.hpp>
#include <pinion/base/log.hpp>
#include <pinion/rpc/refusals.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL refusals::refusals(std::string task, sink to)
    : lines_(
          {.before = "refused "}, to ? std::move(to) : [task = std::move(task)](const std::string& text) {
            write_log(log_level::warning, task, text);
          }) {}

PINION_DECL void refusals::add(const std::string& peer, const error& why, time_point now) {
  const std::string text = peer + ": " + harmless(why.sentence(), longest);
  lines_.add(peer, "refused " + text, text, now);
}

}}}  // namespace pinion::v0::rpc
