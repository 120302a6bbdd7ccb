// Laws of kernels, over every op of the catalogue: shapes, values, devices, threads.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/elementwise_nodes.hpp>

#include "laws/kernel_laws.hpp"

using namespace laws;

TEST_CASE("every op of the catalogue has a sample, for every dtype that its kernels are declared for") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    INFO(Op::name);
    CHECK(!samples_of(Op::name).empty());
    for (dtype key : types_of(Op::kernels.cpu)) {
      if (!makes_sense(Op::name, key) || key == dtype::invalid) continue;
      int found = 0;
      for (const sample& s : samples_of(Op::name)) {
        graph g;
        const node_id id = build_call(g, call_of(Op::name, s, key));
        const definition& def = definition_of(Op::name);
        found += def.key(g[id]) == key || Op::name == std::string_view("NoOp");
      }
      INFO(to_string(key));
      CHECK(found > 0);
    }
    ledger::get().count("a sample for every op and declared dtype", Op::name,
                        static_cast<int>(samples_of(Op::name).size()));
  });
}

TEST_CASE("a kernel yields the dtype and the shape that the shape function said, however much it knew") {
  for_each_case([](std::string_view op, const sample& s, dtype key) {
    if (!runs_alone(op)) return;
    const call c = call_of(op, s, key);
    const auto got = run(c);
    for (knowledge k : {knowledge::all, knowledge::rank, knowledge::nothing}) {
      INFO(title(op, s, key) << ", knowledge " << static_cast<int>(k));
      graph g;
      const auto& said = g[build_call(g, c, k)].outputs;
      for (std::size_t o = 0; o < said.size(); ++o) {
        if (said[o].reference) continue;
        CHECK(said[o].dtype == got[o].dtype());
        INFO(to_string(said[o].shape) << " said, " << to_string(got[o].shape()) << " yielded");
        CHECK(fits(got[o].shape(), said[o].shape));
        if (k == knowledge::all && !yields_by_elements(op)) CHECK(said[o].shape == got[o].shape());
      }
      ledger::get().count("(a) shape function = kernel, shapes known or not", op);
    }
  });
}

namespace {

// The types of a node's inputs with symbols in place of extents, and the numbers that the symbols stand for.
struct symbolic_inputs {
  std::vector<output_type> types = {};
  std::vector<std::int64_t> meant = {};

  // `shared`: equal extents have one symbol. Else each has one of its own, since different symbols may be equal, too.
  symbolic_inputs(const graph& g, const node& n, bool shared) {
    for (const output& in : n.inputs) {
      output_type& type = types.emplace_back(g.type_of(in));
      for (int axis = 0; axis < type.shape.rank(); ++axis) type.shape.set(axis, symbol_of(type.shape[axis], shared));
    }
  }
  // What an inferred extent says; nothing: it is unknown.
  std::optional<std::int64_t> number(std::int64_t extent) const {
    if (extent == unknown) return std::nullopt;
    return extent > shape::first_symbol ? extent : meant.at(static_cast<std::size_t>(shape::first_symbol - extent));
  }

 private:
  std::int64_t symbol_of(std::int64_t extent, bool shared) {
    auto at = shared ? std::find(meant.begin(), meant.end(), extent) : meant.end();
    if (at == meant.end()) at = meant.insert(at, extent);
    return shape::first_symbol - (at - meant.begin());
  }
};

// What a shape function says of an op whose inputs have symbols for extents; nothing: it says nothing.
std::vector<output_type> inferred(const node& n, const symbolic_inputs& from) {
  std::vector<output_type> outputs;
  shape_context context(n, from.types, outputs);
  if (!outcome_of([&] { definition_of(n.op).infer(context); })) outputs.clear();
  return outputs;
}

}  // namespace

TEST_CASE("what a shape function says of extents that nobody knows yet is what the kernel yields") {
  for_each_case([](std::string_view op, const sample& s, dtype key) {
    const call c = call_of(op, s, key);
    graph g;
    const node& n = g[build_call(g, c)];
    const bool is_of_state = std::any_of(n.inputs.begin(), n.inputs.end(), [&](const output& in) {
      return g.type_of(in).reference || g.type_of(in).resource;
    });
    if (!runs_alone(op) || is_of_state || op::detail::is_elementwise(n)) return;  // those are joined elsewhere
    const auto got = run(c);
    for (const bool shared : {true, false}) {
      const symbolic_inputs from(g, n, shared);
      const auto said = inferred(n, from);
      for (std::size_t o = 0; o < said.size(); ++o) {
        INFO(title(op, s, key) << ", output " << o << ": " << to_string(got[o].shape()));
        if (said[o].reference || said[o].resource || !said[o].shape.has_rank()) continue;
        REQUIRE(said[o].shape.rank() == got[o].shape().rank());
        for (int axis = 0; axis < said[o].shape.rank(); ++axis)
          if (const auto number = from.number(said[o].shape[axis])) CHECK(*number == got[o].shape()[axis]);
      }
    }
    ledger::get().count("(a) shape function over symbols = kernel", op);
  });
}

TEST_CASE("a kernel computes what plain loops over doubles compute") {
  for_each_case([](std::string_view op, const sample& s, dtype key) {
    if (!runs_alone(op)) return;
    const auto check = [&](const std::vector<any_tensor>& inputs, std::string_view kind) {
      const call c = call_of(op, s, key, inputs);
      const auto want = reference(c);
      if (!want) return;
      INFO(title(op, s, key) << ", " << kind << " values");
      CHECK(fault_of(c, run(c), *want) == "");
      ledger::get().count("(b) kernel = plain reference, random, special, empty", op);
    };
    check(random_values(s, key), "random");
    const auto numbers = s.numbers.value_or(key);
    if (!is_floating(numbers) || op == "ProdGrad" || op == "Cast")
      return;  // a cast of what does not fit is unspecified
    const auto rounds = special_values(s, numbers);
    for (std::size_t r = 0; r < rounds.size() - (adds_up(op) ? 2 : 0); ++r) check(rounds[r], "special");
  });
}

TEST_CASE("a seeded random tensor begins with every smaller one") {
  for (std::string_view op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"})
    for (dtype key : types_of(definition_of(op).kernels.cpu)) {
      const auto small = run(call_of(op, samples_of(op, 3, 5)[0], key)),
                 large = run(call_of(op, samples_of(op, 30, 50)[0], key));
      INFO(op << " of " << to_string(key));
      CHECK(std::memcmp(small[0].raw(), large[0].raw(), small[0].bytes()) == 0);
      CHECK(small[0].dtype() == key);
      ledger::get().count("(b) random values are functions of seed and position", op);
    }
}

TEST_CASE("a simulated GPU computes the bits of the CPU, for every dtype declared for GPUs") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    for (const sample& s : samples_of(Op::name))
      for (dtype key : types_of(Op::kernels.gpu)) {
        if (!makes_sense(Op::name, key) || !runs_alone(Op::name) || key == dtype::string || key == dtype::invalid ||
            s.numbers == dtype::string)
          continue;
        const call c = call_of(Op::name, s, key);
        INFO(title(Op::name, s, key));
        const auto cpu = run(c), gpu = run(c, place::sim_gpu);
        REQUIRE(cpu.size() == gpu.size());
        for (std::size_t o = 0; o < cpu.size(); ++o) CHECK(same_bits(cpu[o], gpu[o]));
        ledger::get().count("(e) simulated GPU = CPU, bit for bit", Op::name);
      }
  });
}

TEST_CASE("a kernel that is not declared is refused with a sentence") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    for (place where : {place::cpu, place::sim_gpu}) {
      const auto device = make_device(where);
      const dtype_set declared = where == place::cpu ? Op::kernels.cpu : Op::kernels.gpu;
      for (dtype key : types_of(dtypes::all)) {
        if (declared.has(key)) continue;
        const sample s = samples_of(Op::name)[0];
        INFO(title(Op::name, s, key) << " on " << device->type());
        graph g;
        local_resources resources;
        task_services services{&resources, nullptr};
        try {
          const node_id id = build_call(g, call_of(Op::name, s, key));
          if (definition_of(Op::name).key(g[id]) != key) continue;  // of an op whose kernel is chosen otherwise
          make_kernel_for({g, g[id], *device, services});
          FAIL_CHECK("made");
        } catch (const error& e) {
          INFO(e.what());
          const bool at_once = e.code() == errc::invalid_argument && e.node() == "node";
          const bool later =
              e.code() == errc::unimplemented &&
              e.sentence().find(std::string(Op::name) + " has no " + std::string(to_string(key)) + " kernel on ") == 0;
          CHECK((at_once || later));
          ledger::get().count("(e) undeclared kernels are refused with a sentence", Op::name);
        }
      }
    }
  });
}

TEST_CASE("functions of real numbers are refused to integers") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if constexpr (mapped_op<Op>) {
      for (dtype key : {dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
        if (makes_sense(Op::name, key)) continue;
        INFO(Op::name << " of " << to_string(key));
        graph g;
        CHECK_THROWS_WITH(build_call(g, call_of(Op::name, samples_of(Op::name)[0], key)), Catch::Contains("pn::cast"));
        ledger::get().count("(g) real functions are refused to integers", Op::name);
      }
    }
  });
}

TEST_CASE("one, two and four threads compute the same bits") {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if (!runs_alone(Op::name) || Op::name == std::string_view("ProdGrad")) return;
    const auto samples = samples_of(Op::name, 310, 257);
    const std::size_t count = std::min<std::size_t>(samples.size(), mapped_op<Op> ? 2 : 3);
    for (std::size_t i = 0; i < count; ++i)
      for (dtype key : {dtype::float32, dtype::float64, dtype::int64}) {
        if (!Op::kernels.cpu.has(key) || !makes_sense(Op::name, key) || (mapped_op<Op> && key == dtype::float64))
          continue;
        const call c = call_of(Op::name, samples[i], key);
        INFO(title(Op::name, samples[i], key));
        const auto one = run(c);
        for (int helpers : {1, 3}) {
          const auto more = run(c, place::cpu, helpers);
          for (std::size_t o = 0; o < one.size(); ++o) CHECK(same_bits(one[o], more[o]));
        }
        ledger::get().count("(f) the same bits for 1, 2 and 4 threads", Op::name);
      }
  });
}
