// Tests libtunec.so in a process in which another copy of libprotobuf has registered ONNX's
// messages. That copy writes a model, then libtunec.so compiles it. Both must work afterwards.
// Usage: test_second_protobuf LIBRARY MODEL
#include <dlfcn.h>
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

onnx::ModelProto ReluModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Relu");
  node.add_input("x");
  node.add_output("y");
  for (onnx::ValueInfoProto* value : {graph.add_input(), graph.add_output()}) {
    value->set_name(value == &graph.input(0) ? "x" : "y");
    auto& tensor = *value->mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto_DataType_FLOAT);
    tensor.mutable_shape()->add_dim()->set_dim_value(3);
  }
  return model;
}

bool Compiles(void* library, const std::string& path) {
  const auto compile =
      reinterpret_cast<int (*)(const char*, const char*, void**)>(dlsym(library, "tunec_compile"));
  const auto release = reinterpret_cast<void (*)(void*)>(dlsym(library, "tunec_release"));
  const auto message = reinterpret_cast<const char* (*)()>(dlsym(library, "tunec_error_message"));
  void* model = nullptr;
  const int status = compile(path.c_str(), R"({"db": "", "threads": 1})", &model);
  if (status != 0) fmt::print(stderr, "{}: {}\n", path, message());
  release(model);
  return status == 0;
}

int Run(const char* library_path, const std::string& model_path) {
  const std::string bytes = ReluModel().SerializeAsString();
  std::ofstream(model_path, std::ios::binary) << bytes;
  for (int round = 0; round < 2; ++round) {
    // The library's symbols are global, as in a program that is linked with the library.
    void* library = dlopen(library_path, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      fmt::print(stderr, "{}\n", dlerror());
      return 1;
    }
    if (!Compiles(library, model_path)) return 1;
    onnx::ModelProto again;
    if (!again.ParseFromString(bytes) || again.graph().node(0).op_type() != "Relu") return 1;
    if (again.GetDescriptor()->file()->name() != "onnx/onnx-ml.proto") return 1;
    dlclose(library);
  }
  std::remove(model_path.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 3 ? Run(argv[1], argv[2]) : 2; }
