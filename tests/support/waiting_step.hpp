// A step that waits at an empty queue until it is cancelled.
#pragma once

#include <chrono>
#include <thread>

#include <pinion/session.hpp>

#include "caught.hpp"

// Made in the default graph, on the device of the guards that are open. A variable tells that it has begun.
struct waiting_step {
  pinion::variable_handle<int> begun = pinion::variable(0, {.name = "begun"});
  pinion::fifo_queue<int> q{{.capacity = 2, .shapes = {{}}}};
  pinion::operation takes = [this] {
    const pinion::control_dependencies after{pinion::operation(pinion::assign_add(begun, 1))};
    return pinion::group(q.dequeue());
  }();
  pinion::operation put = q.enqueue(7);
  pinion::expr<int> size = q.size();

  // What it ends with where its session cancels its steps once `watcher`, which may be the same, has seen it begin.
  pinion::error cancelled(pinion::session& sess, pinion::session& watcher, const pinion::error& why) {
    sess.run(begun.initializer());
    pinion::error e(pinion::errc::internal, "");
    std::thread runner([&] { e = caught([&] { sess.run(takes); }); });
    const bool began = has_begun(watcher);
    began ? sess.cancel_steps(why) : sess.close();
    runner.join();
    return began ? e : pinion::error(pinion::errc::internal, "the step never began");
  }

 private:
  bool has_begun(pinion::session& watcher) const {
    const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < last) {
      if (int(watcher.run(begun)) == 1) return true;
      std::this_thread::yield();
    }
    return false;
  }
};
