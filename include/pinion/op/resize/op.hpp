// Images [n, height, width, channels] in another size, and the gradients of this.
//
// Attribute "size" is {height, width} of the result. A row of the result lies at some place among the rows of the
// image, a fraction maybe, and a column likewise; places.hpp has the formulas. Attribute "align_corners" puts the first
// and last rows of both onto each other, "half_pixel_centers" the edges of both; without them a row is at its number
// times the ratio of heights.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

struct resizing {
  static constexpr attribute_list attrs{attr::integers("size").between(1, 1 << 24),
                                        attr::flag("align_corners").optional(),
                                        attr::flag("half_pixel_centers").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static constexpr bool bears_changing_inputs = true;

  // The shape of the result, as far as it is known. Throws invalid_argument for images that have no rows or columns,
  // and for attributes that do not go together.
  static shape resized(const attributes& attrs, const shape& images);
  // Throws invalid_argument where dy is not shaped as the images are once resized.
  static void expect_gradient(const attributes& attrs, const shape& dy, const shape& images);
};

// images -> for each place of the result, the pixel of the images that is nearest.
struct resize_nearest_neighbor : resizing {
  static constexpr std::string_view name = "ResizeNearestNeighbor";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

// images -> for each place of the result, the mean of the four pixels around it, by their distances.
struct resize_bilinear : resizing {
  static constexpr std::string_view name = "ResizeBilinear";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

// (dy, images) -> the gradients by images, of which only the shape is read. They are linear in dy, and their own
// gradients are the resizing again.
struct resizing_gradient : resizing {
  static constexpr input_count inputs = 2;
  static constexpr int reads = 1;
  static void infer(shape_context& c);
};
struct resize_nearest_neighbor_grad : resizing_gradient {
  static constexpr std::string_view name = "ResizeNearestNeighborGrad";
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};
struct resize_bilinear_grad : resizing_gradient {
  static constexpr std::string_view name = "ResizeBilinearGrad";
  static double work(const work_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/resize/op.ipp>
#endif
