// The names of tasks in certificates.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/rpc/security/certificate.hpp>

namespace {

using namespace pinion::rpc::detail;

TEST_CASE(
    "C6: a certificate that names a field twice is for no task, and a name that has one twice is covered by none") {
  const std::string worker = "/job:worker/replica:0/task:0";
  CHECK(covers("/job:worker/task:0", worker));
  CHECK(covers("/job:worker", worker));
  CHECK_FALSE(covers("/job:ps/job:worker/task:0", worker));
  CHECK_FALSE(covers("/job:worker/task:0", "/job:ps/job:worker/replica:0/task:0"));
  CHECK_FALSE(covers("/job:worker/task:0", "/job:ps/replica:0/task:0/job:worker"));
  CHECK_FALSE(covers("/job:worker/task:0", "/job:worker/replica:0/task:0/task:1"));
  CHECK_FALSE(covers("/job:worker/task:0", "/job:worker/replica:0/task:0/x"));
  CHECK_FALSE(covers("/job:worker/task:0", "worker"));
}

}  // namespace
