// Bodies of <pinion/distributed/client/session_port.hpp>.
#pragma once

#include <string>

#include <pinion/distributed/client/session_port.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void expect_fetches(const std::vector<output_type>& fetched, const std::vector<any_tensor>& values) {
  if (values.size() != fetched.size())
    throw error(errc::data_loss, "the master sent " + std::to_string(values.size()) +
                                     " results of a step that fetches " + std::to_string(fetched.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const any_tensor& is = values[i];
    const output_type& type = fetched[i];
    if (!is.empty() && is.dtype() == type.dtype && fits(is.shape(), type.shape)) continue;
    throw error(errc::data_loss,
                "the master sent " +
                    (is.empty() ? "nothing" : std::string(to_string(is.dtype())) + " " + to_string(is.shape())) +
                    " as result " + std::to_string(i) + ", which is " + std::string(to_string(type.dtype)) + " " +
                    to_string(type.shape));
  }
}

}}}  // namespace pinion::v0::distributed
