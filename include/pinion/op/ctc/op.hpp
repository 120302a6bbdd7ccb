// Connectionist temporal classification: labels of a sequence whose places in time are not known.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// (labels int32 or int64 [batch, most], logits [time, batch, classes]), then label lengths and logit lengths, int32 or
// int64 [batch], where "label_lengths" and "logit_lengths" say that they are there -> the loss of each row, [batch],
// and its gradient by the logits, [time, batch, classes]. "blank" is the class that stands for no label; a negative one
// counts from the last. A label outside the classes, the blank as a label, and a length that the tensors do not have,
// fail the step. The loss of labels that do not fit is infinite, or, by "zero_infinity", 0; their gradient is 0.
struct ctc_loss {
  static constexpr std::string_view name = "CTCLoss";
  static constexpr input_count inputs{2, 4};
  static constexpr attribute_list attrs{attr::integer("blank"), attr::flag("zero_infinity").optional(),
                                        attr::flag("label_lengths").optional(), attr::flag("logit_lengths").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
  static double work(const work_context& c);
};

// (dloss [batch], the second output of ctc_loss [time, batch, classes]) -> the gradient of the logits: each row times
// its dloss.
struct ctc_loss_gradient {
  static constexpr std::string_view name = "CTCLossGrad";
  static constexpr input_count inputs = 2;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static constexpr std::string_view no_gradient =
      "the gradient of ctc_loss comes with the loss, and is not differentiated again";
  static void infer(shape_context& c);
};

// (logits [time, batch, classes]), and lengths, int32 or int64 [batch] -> the labels of each row, int64 [batch, time],
// with -1 behind the last one; their number, int64 [batch]; and the sum of the greatest logits of all its steps,
// negative, [batch, 1]. The labels are the classes of the greatest logits, of which the first counts where several are
// equal, without blanks, and, by "merge_repeated", without a class that is that of the step before.
struct ctc_greedy_decoder {
  static constexpr std::string_view name = "CTCGreedyDecoder";
  static constexpr input_count inputs{1, 2};
  static constexpr attribute_list attrs{attr::integer("blank"), attr::flag("merge_repeated").optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static constexpr std::string_view no_gradient = "labels do not change with logits little by little";
  static dtype key(const node& n);
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/ctc/op.ipp>
#endif
