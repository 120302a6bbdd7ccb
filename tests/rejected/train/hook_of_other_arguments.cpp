// expect: after_run of a hook takes (train::run_context&, std::span<const pinion::any_tensor>)
// A member that would never be called.
#include <pinion/train/hooks/hook.hpp>

struct watcher {
  void begin() {}
#ifdef ACCEPT
  void after_run(pinion::train::run_context&, std::span<const pinion::any_tensor>) {}
#else
  void after_run(pinion::train::run_context&, const pinion::tensor<float>&) {}
#endif
};

pinion::train::any_hook hook() {
  return watcher{};
}
