// A test of the ONNX models in the folder TUNEC_ONNX_MODELS (see README.md). It prints a line per
// model: a failure, or results such as the number of nodes and the largest relative error.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "graph/onnx/import.h"
#include "graph/reference.h"
#include "tests/networks/load_npz.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A model and the path of its data, which is a .npz file or a folder with test_data_set_0.
struct Case {
  std::string name;
  fs::path model;
  fs::path data;
};

std::vector<Case> FindCases(const fs::path& root) {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".onnx") continue;
    fs::path data = entry.path();
    data.replace_extension(".npz");
    std::string name = entry.path().stem().string();
    if (name == "model") {
      const fs::path folder = entry.path().parent_path();
      name = folder.filename().string();
      data = fs::exists(folder / "data.npz") ? folder / "data.npz" : folder;
    }
    cases.push_back({name, entry.path(), data});
  }
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Reads a file with a TensorProto, by importing a model that returns it as a constant.
Result<Array> LoadPb(const fs::path& path) {
  onnx::TensorProto tensor;
  if (!tensor.ParseFromString(ReadAll(path))) return Fail(ErrorCode::kParse, "not a tensor");
  tensor.set_name("y");
  onnx::ModelProto model;
  model.add_opset_import()->set_version(17);
  *model.mutable_graph()->add_initializer() = tensor;
  model.mutable_graph()->add_output()->set_name("y");
  const std::string bytes = model.SerializeAsString();
  TUNEC_ASSIGN(const Graph graph, ImportOnnxBytes(std::as_bytes(std::span(bytes)), "pb", {}));
  return *graph.ConstantOf(graph.outputs().front());
}

/// Returns the arrays of a .npz file by name, or those of a folder by the graph's names.
Result<std::map<std::string, Array>> LoadData(const Graph& graph, const fs::path& data) {
  if (!fs::is_directory(data)) return LoadNpz(data);
  std::map<std::string, Array> arrays;
  const fs::path set = data / "test_data_set_0";
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    TUNEC_ASSIGN(arrays[graph.value(graph.inputs()[i]).name],
                 LoadPb(set / fmt::format("input_{}.pb", i)));
  }
  for (size_t i = 0; i < graph.output_names().size(); ++i) {
    TUNEC_ASSIGN(arrays[graph.output_names()[i]], LoadPb(set / fmt::format("output_{}.pb", i)));
  }
  return arrays;
}

Result<double> LargestError(const Graph& graph, const fs::path& data) {
  TUNEC_ASSIGN(const auto arrays, LoadData(graph, data));
  TUNEC_ASSIGN(const auto inputs, InputsByName(graph, arrays));
  TUNEC_ASSIGN(const auto outputs, RunReference(graph, inputs));
  double error = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array& expected = arrays.at(graph.output_names()[i]);
    if (expected.type() != outputs[i].type()) {
      return Fail(ErrorCode::kWrongResult, "output {} is {}, expected {}", i,
                  Name(outputs[i].type()), Name(expected.type()));
    }
    error = std::max(error, RelativeError(outputs[i], expected));
  }
  return error;
}

/// Returns the environment variable, or an empty string.
std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Prints the model's line. Returns false if the verification or the run fails, if an output is
/// wrong, or if the import fails for another reason than an unsupported model.
bool Report(const Case& test) {
  const auto start = Clock::now();
  const auto graph = ImportOnnx(test.model, {});
  const double import_seconds = SecondsSince(start);
  if (!graph) {
    fmt::print("{:60} {} {}\n", test.name,
               graph.error().code == ErrorCode::kUnsupported ? "UNSUPPORTED" : "REFUSED",
               graph.error().message);
    return graph.error().code == ErrorCode::kUnsupported;
  }
  const auto verified = Verify(*graph);
  if (!verified) {
    fmt::print("{:60} INVALID {}\n", test.name, verified.error().Format());
    return false;
  }
  if (!Environment("TUNEC_ONNX_IMPORT_ONLY").empty()) {
    fmt::print("{:60} {:5} nodes  import {:.3f} s\n", test.name, graph->nodes().size(),
               import_seconds);
    return true;
  }
  const auto run = Clock::now();
  const auto error = LargestError(*graph, test.data);
  if (!error) {
    fmt::print("{:60} FAILED {}\n", test.name, error.error().Format());
    return false;
  }
  fmt::print("{:60} {:5} nodes  import {:.3f} s  run {:.1f} s  error {:.1e}{}\n", test.name,
             graph->nodes().size(), import_seconds, SecondsSince(run), *error,
             *error < 1e-4 ? "" : "  WRONG");
  std::fflush(stdout);
  return *error < 1e-4;
}

TEST(OnnxModels, ReferenceAgreesWithTheirOutputs) {
  const std::string models = Environment("TUNEC_ONNX_MODELS");
  if (models.empty()) GTEST_SKIP() << "TUNEC_ONNX_MODELS is not set";
  std::set<std::string> only;
  std::istringstream names(Environment("TUNEC_ONNX_ONLY"));
  for (std::string name; names >> name;) only.insert(name);
  for (const Case& test : FindCases(models)) {
    if (!only.empty() && !only.contains(test.name)) continue;
    EXPECT_TRUE(Report(test)) << test.name;
  }
}

}  // namespace
}  // namespace tunec
