// Moving averages of what is trained, which often predict better than its last values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/train/checkpoint/saver.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/optimizers/slots.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

// Throws not_found: there is no average of that variable.
[[noreturn]] void refuse_average(const std::string& variable);

}  // namespace detail

// Keeps an exponential average of each variable, in the variable W/NAME beside it, which begins as W does:
//
//   average -= (1 - decay) (average - w)
//
// With num_updates = n, the decay is at most (1 + n) / (10 + n), so that early values are soon forgotten. TensorFlow:
// tf.train.ExponentialMovingAverage. The averages are global variables that are not trained; checkpoints have them. A
// value; its copies share the averages.
//
//   tr::weight_averages averages{.decay = .9999};
//   auto train = averages.apply(tr::adamw{{}}.minimize(loss, {.global_step = step}));
//   pn::tensor<float> smooth = sess.run(averages.average(W));
//
// An evaluator that restores from the training's checkpoints reads averages where the training has variables:
//
//   tr::saver{{.names = averages.variables_to_restore()}}.restore(sess, tr::latest_checkpoint("DIR"));
struct weight_averages {
  // The part of an average that remains from one step to the next, in [0, 1).
  double decay = .999;
  // The number of steps so far, such as the global step; empty: the decay is the same in all steps.
  variable_handle<std::int64_t> num_updates = {};
  // The averages are called VARIABLE/NAME.
  std::string name = "ExponentialMovingAverage";
  // The averages that this and its copies have made. It is given to nobody.
  std::shared_ptr<slot_table> made = make_slot_table();

  // Builds an operation that runs `after`, such as an optimizer's update, and then moves the averages of the given
  // variables, or of all trainable variables of its graph. Throws invalid_argument unless decay is in [0, 1), and for a
  // variable that is not floating-point, or whose shape is not fully known.
  operation apply(const operation& after, const std::vector<operation>& variables = {},
                  source_location where = source_location::current()) const;

  // The average of a variable: a variable like others. Throws not_found if apply() was not given that variable.
  template <element T>
  variable_handle<T> average(const variable_handle<T>& variable) const {
    graph& g = variable.owner();
    const node_id found = find_slot(*made, g, variable.id(g), "average");
    if (found == no_node) detail::refuse_average(variable.name());
    return handle_of<T>(g, found);
  }
  // The name of a variable's average, made or not: "W/ExponentialMovingAverage".
  std::string average_name(const any_variable& variable) const { return variable.name() + "/" + name; }

  // The variables of the default graph under the names that they have for an evaluator: a trainable variable under the
  // name of its average, any other global variable under its own. Averages that this has made are not among them. Parts
  // of a partitioned variable are one tensor. It is what `names` of a saver's options takes.
  std::map<std::string, saved_as> variables_to_restore() const;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/weight_averages.ipp>
#endif
