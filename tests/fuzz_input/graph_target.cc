// A fuzz target for texts of graphs. A graph is read, printed, read again, and run by RunFrontHalf.
#include "graph/text/graph_text.h"
#include "tests/fuzz_input/finding.h"
#include "tests/fuzz_input/front_half.h"

namespace tunec::fuzz {
namespace {

/// A source of random weights of bounded size. A large allocation must not count as a finding.
class SmallWeights : public WeightSource {
 public:
  Result<Array> Reserve(const WeightRequest& request) const override {
    const int64_t elements = ElementCount(request.shape);
    constexpr int64_t kMost = 1 << 20;
    if (elements >= 0 && elements <= kMost) return random_.Reserve(request);
    return Fail(ErrorCode::kResourceLimit, "weight {} is too large to be tried", request.name);
  }
  void Fill(const WeightRequest& request, Array& array) const override {
    random_.Fill(request, array);
  }

 private:
  RandomWeights random_{1};
};

void CheckText(const Graph& graph, const WeightSource& weights) {
  const std::string text = Print(graph);
  const Result<Graph> again = ParseGraph(text, "printed.graph", weights);
  RequireOk(again, "a graph's text parses");
  if (Print(*again) != text) Finding("a graph's text reads back", text);
}

}  // namespace
}  // namespace tunec::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tunec::fuzz::SmallWeights weights;
  const tunec::Result<tunec::Graph> graph = tunec::ParseGraph(text, "input.graph", weights);
  if (!graph) {
    tunec::fuzz::RequireTheirFault(graph.error(), "reading");
    return 0;
  }
  tunec::fuzz::CheckText(*graph, weights);
  tunec::fuzz::RunFrontHalf(*graph);
  return 0;
}
