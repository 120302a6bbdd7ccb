// The part of pinion::compiled that holds the interpreter of scalar programs.
#include <pinion/scalar/interpreter.hpp>

namespace pinion { inline namespace v0 { namespace scalar { namespace detail {

template tile_function<float> tile_function_of<float>(opcode, int);
template tile_function<double> tile_function_of<double>(opcode, int);
template tile_function<std::int32_t> tile_function_of<std::int32_t>(opcode, int);
template tile_function<std::int64_t> tile_function_of<std::int64_t>(opcode, int);
template tile_function<std::uint8_t> tile_function_of<std::uint8_t>(opcode, int);

}}}}  // namespace pinion::v0::scalar::detail
