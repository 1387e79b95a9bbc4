// A fuzz target for ONNX models. A model is imported and run by RunFrontHalf.
#include <span>

#include "graph/onnx/import.h"
#include "tests/fuzz_input/finding.h"
#include "tests/fuzz_input/front_half.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const tunec::Result<tunec::Graph> graph = tunec::ImportOnnxBytes(bytes, "input.onnx", {});
  if (graph) {
    tunec::fuzz::RunFrontHalf(*graph);
  } else {
    tunec::fuzz::RequireTheirFault(graph.error(), "importing");
  }
  return 0;
}
