#include "grpc_echo.hpp"

#include <stdexcept>
#include <string>

#include <grpcpp/grpcpp.h>

#include "echo.grpc.pb.h"

namespace bench {
namespace {

class echo_service final : public peers::echo::Service {
  grpc::Status call(grpc::ServerContext*, const peers::nothing*, peers::nothing*) override { return grpc::Status::OK; }
};

}  // namespace

int serve_by_grpc() {
  static echo_service service;
  static std::unique_ptr<grpc::Server> server;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  server = builder.BuildAndStart();
  if (!server) throw std::runtime_error("gRPC does not listen");
  return port;
}

struct grpc_caller::stub {
  std::unique_ptr<peers::echo::Stub> of;
};

grpc_caller::grpc_caller(int port)
    : stub_(new stub{peers::echo::NewStub(
          grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()))}) {}

grpc_caller::~grpc_caller() = default;

void grpc_caller::call() {
  grpc::ClientContext context;
  peers::nothing answer;
  const grpc::Status how = stub_->of->call(&context, {}, &answer);
  if (!how.ok()) throw std::runtime_error("gRPC: " + how.error_message());
}

}  // namespace bench
