// expect: an op lists at most ten attributes
// An op of one's own that lists more attributes than a list holds.
#include <pinion/session.hpp>

namespace pn = pinion;

struct wordy {
  static constexpr std::string_view name = "Wordy";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::attribute_list attrs{pn::attr::flag("a"), pn::attr::flag("b"), pn::attr::flag("c"),
                                            pn::attr::flag("d"), pn::attr::flag("e"), pn::attr::flag("f"),
                                            pn::attr::flag("g"), pn::attr::flag("h"), pn::attr::flag("i"),
#ifndef ACCEPT
                                            pn::attr::flag("j"),
#endif
                                            pn::attr::flag("k")};
  static constexpr std::string_view no_gradient = "it is only for tests";
  static void infer(pn::shape_context& c) {
    c.output(c.dtype(0), c.shape(0));
  }
};
