// Bodies of <pinion/op/kernel_table.hpp>: the kernels of ops that compute, make or move elements.
#pragma once

#include <pinion/op/band/cpu.hpp>
#include <pinion/op/bits/cpu.hpp>
#include <pinion/op/catalogue.hpp>
#include <pinion/op/convert/cpu.hpp>
#include <pinion/op/distribution/cpu.hpp>
#include <pinion/op/dynamic/cpu.hpp>
#include <pinion/op/elementwise/cpu.hpp>
#include <pinion/op/gather/cpu.hpp>
#include <pinion/op/kernel_table.hpp>
#include <pinion/op/layout/cpu.hpp>
#include <pinion/op/nn/cpu.hpp>
#include <pinion/op/norm/cpu.hpp>
#include <pinion/op/order/cpu.hpp>
#include <pinion/op/random/cpu.hpp>
#include <pinion/op/reduce/cpu.hpp>
#include <pinion/op/reduce/map_reduction.hpp>
#include <pinion/op/scatter/cpu.hpp>
#include <pinion/op/search/cpu.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/op/slice/mirror.hpp>
#include <pinion/op/source/cpu.hpp>
#include <pinion/op/strided/cpu.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void add_kernels_of_elements(kernel_table& to) {
  add_kernels<ops_of_elements>(to);
}

}}}  // namespace pinion::v0::op
