// Waiting for others by asking again and again.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <pinion/session.hpp>

// Returns once `holds()`. Says after a second who waits for whom; throws deadline_exceeded when it takes too long.
template <class Holds>
void wait_until(const Holds& holds, const std::string& who, const std::string& whom, std::chrono::seconds limit) {
  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  for (bool said = false; !holds(); std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (clock::now() - began > limit)
      throw pinion::error(pinion::errc::deadline_exceeded, fmt::format("waited {} s for {}", limit.count(), whom));
    if (clock::now() - began > std::chrono::seconds(1) && !said) {
      fmt::print(stderr, "{}: waiting for {}\n", who, whom);
      said = true;
    }
  }
}

// Has somebody initialised it?
template <class T>
bool is_initialised(pinion::session& sess, const pinion::variable_handle<T>& v) {
  try {
    sess.run(v);
    return true;
  } catch (const pinion::error& e) {
    if (e.code() == pinion::errc::failed_precondition) return false;
    throw;
  }
}
