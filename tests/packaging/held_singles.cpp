// A build whose library holds the kernels of single ops alone (PINION_HELD_KERNELS=singles): units compile the others.
#include <pinion/op/elementwise/held_programs.hpp>

namespace {

namespace dsl = pinion::dsl;
namespace f = pinion::scalar::functor;
using x = dsl::number_argument;
using sum = dsl::mapped<f::add, float, float, x, x>;

static_assert(dsl::held_by_library<sum>);
static_assert(!dsl::held_by_library<dsl::mapped<f::relu, float, float, sum>>);
static_assert(std::is_same_v<dsl::held_fusions<double>, dsl::program_list<>>);

}  // namespace
