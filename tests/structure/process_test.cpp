// What outlives the calls that use it: the objects of a process, and the few variables that cannot be such.
#include "house.hpp"

#include <catch2/catch.hpp>

namespace {

const house::headers tree = house::read(PINION_TEST_SOURCE_DIR "/include/pinion");

// The first groups of all matches in lines of code, each as "path: group".
house::names found(const std::regex& what) {
  static const std::regex comment{R"(\s*//.*)"};
  house::names all;
  for (const auto& [path, header] : tree) {
    for (const std::string& line : header.lines)
      if (std::smatch match; !std::regex_match(line, comment) && std::regex_search(line, match, what))
        all.insert(path + ": " + match.str(1));
  }
  return all;
}

}  // namespace

TEST_CASE("a process has these objects, one of each, which nothing destroys") {
  CHECK(found(std::regex{R"(\bof_(?:this|each)_process<([\w:]+)>\(\))"}) ==
        house::names{
            "base/calls_until_exit.hpp: calls",                     // calls into a library, which exit() waits for
            "base/head_start.hpp: state",                           // work that was started before it is needed
            "base/heap.ipp: detail::heap_marks",                    // a block in each heap
            "base/host_memory.ipp: slab_table",                     // memory that other processes may be shown
            "base/log.ipp: detail::log_state",                      // who takes the lines of the log
            "base/process.ipp: detail::fork_count",                 // how often it was forked off
            "base/said_wait.hpp: said_waits",                       // how often a long wait is told of
            "base/stop_signal.ipp: stop_signals",                   // who is told of SIGTERM
            "device/cuda/card.ipp: detail::first_process",          // that CUDA does not leave by fork()
            "device/cuda/compiler.ipp: compiler",                   // NVRTC
            "device/cuda/device.ipp: detail::told_problems",        // that a driver is too old
            "device/cuda/kernel_store.ipp: detail::kernel_stores",  // kernels made of text
            "device/cuda/memory.ipp: shared_pinned",                // the host's memory that GPUs copy
            "device/guarded_memory.ipp: sim_memory",                // memory that the host cannot touch
            "device/pool_allocator.ipp: shared",                    // the memory of all CPU devices
            "distributed/master/local_masters.ipp: local_masters",  // the masters that sessions call directly
            "distributed/server/server.ipp: servers_left_to_themselves",
            "distributed/wire/values.ipp: host",                      // the memory of received tensors
            "distributed/wire/values.ipp: lasting_names",             // the texts of received places
            "files/output_file.ipp: detail::temporary_names",         // numbers in names of files
            "op/conv/cudnn.hpp: cudnn_library",                       // cuDNN
            "op/kernels.ipp: cuda_kernels",                           // the CUDA kernels of ops, by name
            "op/matmul/cublas.hpp: cublas_library",                   // kernels that cuBLASLt chose
            "op/matmul/gemm.hpp: blas_callers",                       // that a BLAS lets in one by one
            "opkit/refusals.ipp: detail::noted_refusals",             // nodes that a library refused
            "placement/op_knowledge.ipp: detail::library_knowledge",  // the kernels of ops
            "rpc/security/key.ipp: detail::stretched_keys",           // what shared keys became
            "rpc/tcp_network.ipp: detail::shared_network",            // the network's thread, while it is used
            "rpc/tls_stream.ipp: detail::tls_bio_method",             // OpenSSL's way to the bytes of streams
            "runtime/backend.ipp: detail::entered_scheme",            // the way to sessions of other tasks
            "runtime/running_steps.ipp: thread_count",                // numbers of threads that ran a step
            "tensor/buffer.ipp: shared",                              // the heap of the host
            "tensor/lent.ipp: lent_buffers",                          // the home of buffers in lent memory
            "tensor/page_locked.ipp: detail::page_locked_memory",     // where page-locked memory comes from
            "train/checkpoint/saver.ipp: detail::lists_in_use",       // savers change the lists of folders one by one
            "train/summary/event_file_writer.ipp: event_file_names",  // numbers in names of files
        });
}

TEST_CASE("other variables live as long as a thread or the process for these reasons alone") {
  const std::regex variable{
      R"(^\s*(?:\[\[[\w:]+\]\] |__attribute__\S+ )?(?:static |inline |thread_local )+(?!const\b|constexpr\b|inline\b|namespace\b)[\w:<>,&* ]*[ &*](\w+)(?: =|\{|;))"};
  const house::names of_threads{
      "base/cancellable_work.ipp: innermost",  // what may cancel its work
      "base/inline_run.ipp: innermost",        // what it puts by
      "device/cuda/card.ipp: mine",            // the GPU that it has entered
      "device/cuda/stream.ipp: mine",          // the stream that records what it launches
      "device/pool_allocator.ipp: is",         // its blocks are gone
      "device/pool_allocator.ipp: mine",       // its blocks
      "dsl/trace.ipp: innermost",              // the body that is being traced
      "graph/scope_state.ipp: mine",           // its default graph
      "graph/scope_state.ipp: state",          // its open scopes
      "runtime/step/executor.ipp: depth",      // how deep kernels have called each other
      "runtime/step/executor.ipp: late",
      "scalar/interpreter.ipp: memory",  // its values, while a program is interpreted
      "scalar/interpreter.ipp: room",
  };
  const house::names of_signal_handlers{
      "base/stop_signal.hpp: asked_",
      "base/stop_signal.hpp: asked_at_",
      "base/stop_signal.hpp: process_",
      "base/stop_signal.hpp: wakes_",
  };
  const house::names lists_joined_before_main{
      "dsl/own_op.hpp: self",
      "op/elementwise/cuda_ahead.cuh: k",
      "op/elementwise/cuda_ahead.hpp: added_ahead_kernels",
      "opkit/registry.hpp: registered_ops",
      "scalar/compiled.hpp: added_kernels",
      "scalar/compiled.hpp: k",
  };
  house::names allowed{
      "base/calls_until_exit.hpp: is_watched_",  // that exit() of the main thread waits for calls of a library
      "base/config.hpp: pinion_compiled_mode",   // by which the linker tells the modes of units
      "base/config.hpp: pinion_units_of_header_only_and_compiled_mode_do_not_link",
      "base/each_process.hpp: latest",  // the objects above, of which the child of a fork() has others
      "base/process.hpp: made",         // the objects above
      "base/process.hpp: one",
      "base/process.ipp: count",  // how many of them are being made, for which fork() waits
      "base/process.ipp: gate",
      "base/process.ipp: is_watched",
  };
  for (const auto* more : {&of_threads, &of_signal_handlers, &lists_joined_before_main})
    allowed.insert(more->begin(), more->end());
  CHECK(found(variable) == allowed);
}
