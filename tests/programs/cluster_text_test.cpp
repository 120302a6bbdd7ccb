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
  CHECK(read_cluster("ps=a:1;worker:3=b:2,c:3").cluster ==
        cluster_spec{{"ps", {"a:1"}}, {"worker", {{3, "b:2"}, {4, "c:3"}}}});
  CHECK(read_cluster("worker:3=[::1]:2").cluster == cluster_spec{{"worker", {{3, "[::1]:2"}}}});
  CHECK(read_cluster(R"({"ps": {"5": "a:1"}})").cluster == cluster_spec{{"ps", {{5, "a:1"}}}});
  const cluster_text all =
      read_cluster(R"({"cluster": {"ps": ["a:1"], "worker": ["b:2", "c:3"]}, "task": {"type": "worker", "index": 1}})");
  CHECK(all.cluster == two_jobs);
  CHECK(all.job == "worker");
  CHECK(all.task == 1);
  CHECK_FALSE(read_cluster("ps=a:1").task);
}

TEST_CASE("a text that is no cluster is refused with a sentence") {
  for (const char* text :
       {"", ";", "ps", "ps=", "ps=a", "ps=a:1;ps=b:2", "ps:x=a:1", "ps:1:2=a:1", ":1=a:1", "{", "{\"ps\": 3}",
        "{\"ps\": [3]}", "{\"ps\": {\"x\": \"a:1\"}}", "{\"ps\": {\"99999999999\": \"a:1\"}}", "[]",
        "{\"cluster\": []}", "{\"cluster\": {\"ps\": [\"a:1\"]}, \"task\": {}}"}) {
    INFO(text);
    CHECK(caught([&] { read_cluster(text); }).code() == errc::invalid_argument);
  }
  CHECK_THAT(failure([] { read_cluster("ps"); }),
             Catch::Contains("'ps' is not of the form job=host:port; a cluster is written as"));
}

TEST_CASE("a file that is no cluster is refused by its name, and nothing of what is in it is told") {
  const temporary_file file;
  for (const char* secret : {"tops3cret", "tops3cret=1", "{\"tops3cret\": 1", "a=b:1;tops3cret"}) {
    file.write(secret);
    const std::string said = failure([&] { read_cluster("@" + file.path); });
    CHECK_THAT(said,
               Catch::StartsWith("invalid_argument: the file '" + file.path + "' is no cluster, or has a fault: "));
    CHECK_THAT(said, !Catch::Contains("tops3cret"));
  }
}

TEST_CASE("a task's index is a number, or a text of one, as for TensorFlow") {
  const auto with_index = [](const std::string& index) {
    return R"({"cluster": {"worker": ["b:2"]}, "task": {"type": "worker", "index": )" + index + "}}";
  };
  CHECK(read_cluster(with_index("0")).task == 0);
  CHECK(read_cluster(with_index("\"0\"")).task == 0);
  for (const char* const wrong : {"4294967297", "1.9", "true", "-1", "null", "\"\"", "\"one\""}) {
    INFO(wrong);
    CHECK_THAT(failure([&] { read_cluster(with_index(wrong)); }),
               Catch::Contains("the task's index is " + std::string(wrong) + ", and not a number like 0"));
  }
}

TEST_CASE("a text as deep as it likes is refused, and so is one that tells no cluster, or no whole task") {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  const auto with_task = [](const std::string& task) {
    return R"({"cluster": {"worker": ["b:2"]}, "task": )" + task + "}";
  };
  const auto refused = [](const std::string& text, const std::string& part) {
    CHECK_THAT(failure([&] { read_cluster(text); }), Catch::StartsWith("invalid_argument") && Catch::Contains(part));
  };
  refused(with_task(R"({"type": "worker", "index": )" + deep + "}"), "the task's index is an array");
  refused(R"({"worker": )" + deep + "}", "is no cluster");
  refused(R"({"task": {"type": "worker", "index": 0}})", "it tells a task, and no cluster");
  for (const char* task : {"null", "{}", "[]", R"({"type": "worker"})", R"({"type": 3, "index": 0})"})
    refused(with_task(task), "its task is not of the form");
}

TEST_CASE("a cluster may begin with a byte order mark, and be Kubeflow's sparse one; a name twice is refused") {
  CHECK(read_cluster("\xEF\xBB\xBF" + to_string(two_jobs)).cluster == two_jobs);
  const auto sparse = read_cluster(
      R"({"sparseCluster": {"ps": ["a:1"], "worker": {"3": "b:2"}}, "task": {"type": "worker", "index": 3}})");
  CHECK(sparse.cluster == cluster_spec{{"ps", {"a:1"}}, {"worker", {{3, "b:2"}}}});
  CHECK(sparse.task == 3);
  CHECK_THAT(failure([] { read_cluster(R"({"ps": ["a:1"], "ps": ["b:2"]})"); }), Catch::Contains("it has 'ps' twice"));
}

TEST_CASE("the evaluator is told that it is no task of the cluster") {
  CHECK_THAT(
      failure([] { read_cluster(R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "evaluator", "index": 0}})"); }),
      Catch::Contains("its task is the evaluator, which is none of the cluster's and runs no server"));
}

TEST_CASE("a cluster is read from a file") {
  const temporary_file file;
  file.write(to_string(two_jobs) + "\n");
  CHECK(read_cluster("@" + file.path).cluster == two_jobs);
  CHECK(caught([] { read_cluster("@/no/such/file"); }).code() == errc::not_found);
}

}  // namespace
