// Clusters as a command line, a file or the environment tells them.
#include <catch2/catch.hpp>

#include <string>

#include <support/caught.hpp>
#include <support/cluster_text.hpp>  // of the programs
#include <support/temporary_file.hpp>

namespace {

using namespace pinion;

const cluster_spec two_jobs{{"ps", {"a:1"}}, {"worker", {"b:2", "c:3"}}};

TEST_CASE("a cluster is read from words, and from JSON as TensorFlow has it") {
  CHECK(read_cluster("ps=a:1;worker=b:2,c:3").cluster == two_jobs);
  CHECK(read_cluster("  ps = a:1 ;\n worker = b:2 , c:3 ;\n").cluster == two_jobs);
  CHECK(read_cluster(to_string(two_jobs)).cluster == two_jobs);
  CHECK(read_cluster(R"({"ps": {"5": "a:1"}})").cluster == cluster_spec{{"ps", {{5, "a:1"}}}});
  const cluster_text all =
      read_cluster(R"({"cluster": {"ps": ["a:1"], "worker": ["b:2", "c:3"]}, "task": {"type": "worker", "index": 1}})");
  CHECK(all.cluster == two_jobs);
  CHECK(all.job == "worker");
  CHECK(all.task == 1);
  CHECK_FALSE(read_cluster("ps=a:1").task);
}

TEST_CASE("a text that is no cluster is refused with a sentence") {
  for (const char* text : {"", ";", "ps", "ps=", "ps=a", "ps=a:1;ps=b:2", "{", "{\"ps\": 3}", "{\"ps\": [3]}",
                           "{\"ps\": {\"x\": \"a:1\"}}", "{\"ps\": {\"99999999999\": \"a:1\"}}", "[]",
                           "{\"cluster\": []}", "{\"cluster\": {\"ps\": [\"a:1\"]}, \"task\": {}}"}) {
    INFO(text);
    CHECK(caught([&] { read_cluster(text); }).code() == errc::invalid_argument);
  }
  CHECK_THAT(failure([] { read_cluster("ps"); }),
             Catch::Contains("'ps' is not of the form job=host:port; a cluster is written as"));
}

TEST_CASE("a cluster is read from a file") {
  const temporary_file file;
  file.write(to_string(two_jobs) + "\n");
  CHECK(read_cluster("@" + file.path).cluster == two_jobs);
  CHECK(caught([] { read_cluster("@/no/such/file"); }).code() == errc::not_found);
}

}  // namespace
