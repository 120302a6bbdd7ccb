// A unary call of gRPC with nothing in it, to measure a round trip beside: the usual server, whose calls run in threads
// of gRPC, and a blocking caller. Where gRPC is not there, both do nothing.
#pragma once

#include <memory>

namespace bench {

#if BENCH_HAS_GRPC

inline constexpr bool has_grpc = true;

// Serves on 127.0.0.1 until the process ends. Returns the port.
int serve_by_grpc();

class grpc_caller {
 public:
  // The port is of 127.0.0.1.
  explicit grpc_caller(int port);
  ~grpc_caller();
  // Throws std::runtime_error where it fails.
  void call();

 private:
  struct stub;
  std::unique_ptr<stub> stub_;
};

#else

inline constexpr bool has_grpc = false;

inline int serve_by_grpc() {
  return 0;
}
struct grpc_caller {
  explicit grpc_caller(int) {}
  void call() {}
};

#endif

}  // namespace bench
