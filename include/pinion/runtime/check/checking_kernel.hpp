// A kernel whose results are looked at, for steps that check values.
#pragma once

#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/runtime/check/node_values.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Runs a kernel and fails with bad_value() of what it has yielded. It holds the inputs meanwhile, so the kernel neither
// takes over their memory nor writes a variable in place. On a device with a stream it waits: the values are copied to
// the host, and the inputs too where a result is not finite. Refers to the graph and the task of its setup.
class checking_kernel final : public kernel {
 public:
  // Returns the kernel itself where the node yields no floating-point number, and writes none to a variable.
  static std::shared_ptr<kernel> around(std::shared_ptr<kernel> inner, const kernel_setup& setup);

  checking_kernel(std::shared_ptr<kernel> inner, const kernel_setup& setup);

  void run(kernel_context& c) override;
  void start(kernel_context& c, ended done) override;
  bool expensive() const override { return inner_->expensive(); }
  bool blocking() const override { return on_stream_ || inner_->blocking(); }
  void announce(std::span<const unsigned char> wanted) override { inner_->announce(wanted); }

 private:
  using values_ref = std::shared_ptr<node_values>;

  static bool has_results(const kernel_setup& setup);
  values_ref before(const kernel_context& c) const;
  void add_results(node_values& v, const kernel_context& c) const;
  // Lets the values go before it returns: where the node has ended, the memory of the run may be used again.
  outcome<> taken_and_judged(node_values& taken) const;
  // Judges a run that has ended, once its values are on the host.
  void judge_on_host(devices::device& from, const values_ref& v, ended done) const;
  // Copies values to the host, one after the other, in place.
  static void bring(devices::device& from, std::shared_ptr<std::vector<any_tensor>> values, std::size_t at, ended done);

  const std::shared_ptr<kernel> inner_;
  const graph_view graph_;
  const pinion::node& node_;
  const bool on_stream_;
  std::vector<std::shared_ptr<state::variable>> variables_;  // by input; null: no variable of floats
  std::size_t written_ = 0;                                  // the number of first inputs that it writes
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/check/checking_kernel.ipp>
#endif
