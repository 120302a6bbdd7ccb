// Graphs as text files.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include <support/caught.hpp>
#include <support/temporary_folder.hpp>

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion;
namespace tr = pinion::train;

std::string content(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

TEST_CASE("a graph as text has a field a line, as protobuf prints them") {
  graph g;
  const auto use = g.as_default();
  const device on{"/gpu:0"};
  auto x = placeholder<float>({unknown, 2}, "x");
  matmul(x, constant<float>({{1, 0}, {0, 1}}, "one"), {.transpose_b = true});
  const std::string text = tr::graph_text(tr::graph_message(g));
  CHECK(text.substr(0, text.find("node {", 1)) == R"(node {
  name: "x"
  op: "Placeholder"
  device: "/device:GPU:0"
  attr {
    key: "_output_shapes"
    value {
      list {
        shape {
          dim {
            size: -1
          }
          dim {
            size: 2
          }
        }
      }
    }
  }
  attr {
    key: "dtype"
    value {
      type: DT_FLOAT
    }
  }
  attr {
    key: "shape"
    value {
      shape {
        dim {
          size: -1
        }
        dim {
          size: 2
        }
      }
    }
  }
}
)");
  CHECK(text.find("  input: \"x\"\n  input: \"one\"\n") != text.npos);
  CHECK(text.find("      b: true\n") != text.npos);
  CHECK(text.find(R"(tensor_content: "\000\000\200?\000\000\000\000\000\000\000\000\000\000\200?")") != text.npos);
}

TEST_CASE("text in a graph is escaped as in C") {
  graph g;
  const auto use = g.as_default();
  constant(std::string("\"a\\b\"\n\x01\xc3\xa9"), "s");
  CHECK(tr::graph_text(tr::graph_message(g)).find(R"(string_val: "\"a\\b\"\n\001\303\251")") != std::string::npos);
}

TEST_CASE("a graph is written to a folder, which is made") {
  temporary_folder dir;
  graph g;
  const auto use = g.as_default();
  no_op("nothing");
  tr::write_graph(g, dir.path("a/b"));
  CHECK(content(dir.path("a/b/graph.pbtxt")) == "node {\n  name: \"nothing\"\n  op: \"NoOp\"\n}\n");
  CHECK(refusal([&] { tr::write_graph(g, dir.path("a/b/graph.pbtxt")); }, errc::not_found, "graph.pbtxt") == "");
}

TEST_CASE("the chief of a monitored session writes its graph beside the checkpoints") {
  temporary_folder dir;
  graph g;
  const auto use = g.as_default();
  auto step = tr::get_or_create_global_step();
  auto train = assign_add(step, 1);
  {
    tr::monitored_training_session sess{{.checkpoint_dir = dir.path()}};
    sess.run(train);
  }
  CHECK(content(dir.path("graph.pbtxt")).find("name: \"global_step\"\n  op: \"VariableV2\"") != std::string::npos);
  CHECK(tr::latest_checkpoint(dir.path()) == dir.path("model-1"));
}

}  // namespace
#endif
