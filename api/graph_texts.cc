#include "api/graph_texts.h"

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "api/given_weights.h"
#include "compiler/compiler.h"
#include "support/suggest.h"

namespace tunec {
namespace {

/// An owner of the caller's tunec_graph_source. The function At calls `text_at`, in one thread at a
/// time. The destructor calls `release` if not null. All copies of a SizedSource share one object.
class GraphTextSource {
 public:
  explicit GraphTextSource(const tunec_graph_source& source) : source_(source) {}
  GraphTextSource(const GraphTextSource&) = delete;
  GraphTextSource& operator=(const GraphTextSource&) = delete;
  ~GraphTextSource() {
    if (source_.release != nullptr) source_.release(source_.user);
  }

  Result<Graph> At(const Sizes& sizes) {
    const std::lock_guard one_at_a_time(mutex_);
    tunec_graph_text text = {};
    const int status = source_.text_at(source_.user, sizes.data(), &text);
    if (status == TUNEC_CANCELLED)
      return Fail(ErrorCode::kCancelled, "the graph for sizes {} was cancelled",
                  fmt::join(sizes, ", "));
    if (status != TUNEC_OK || text.text == nullptr)
      return Fail(ErrorCode::kUnsupported, "there is no graph for sizes {}",
                  fmt::join(sizes, ", "));
    TUNEC_ASSIGN(const auto weights,
                 GivenWeights::Make(text.num_weights, text.names, text.tensors));
    return LoadGraphText({text.text, text.num_bytes}, weights, {});
  }

 private:
  const tunec_graph_source source_;
  std::mutex mutex_;
};

Status CheckSource(const tunec_graph_source& source) {
  if (source.text_at == nullptr) return Fail(ErrorCode::kInvalidArgument, "text_at is null");
  if (source.num_dimensions < 1 || source.dimensions == nullptr || source.example == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the source has no dimensions");
  for (size_t d = 0; d < source.num_dimensions; ++d) {
    if (source.dimensions[d] == nullptr || source.example[d] < 1)
      return Fail(ErrorCode::kInvalidArgument, "dimension {} has no name or no size", d);
  }
  if (source.num_axes < 1 || source.axes == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the source has no open axes");
  return {};
}

}  // namespace

Result<SizedSource> SourceOfTexts(const tunec_graph_source& source) {
  const auto texts = std::make_shared<GraphTextSource>(source);
  TUNEC_RETURN_IF_ERROR(CheckSource(source));
  SizedSource result;
  result.dimensions.assign(source.dimensions, source.dimensions + source.num_dimensions);
  result.example.assign(source.example, source.example + source.num_dimensions);
  result.follows_rules = source.follows_rules != 0;
  result.graph_at = [texts](const Sizes& sizes) { return texts->At(sizes); };
  TUNEC_ASSIGN(const Graph example, result.graph_at(result.example));
  for (size_t i = 0; i < source.num_axes; ++i) {
    const tunec_open_axis& axis = source.axes[i];
    const bool exists = axis.dimension < source.num_dimensions &&
                        axis.input < example.inputs().size() &&
                        axis.axis < example.value(example.inputs()[axis.input]).type.dims.size();
    if (!exists) return Fail(ErrorCode::kInvalidArgument, "open axis {} does not exist", i);
    result.open.push_back({static_cast<int>(axis.input), static_cast<int>(axis.axis),
                           result.dimensions[axis.dimension]});
  }
  return result;
}

Status CheckDims(const SizedSource& source, const ModelOptions& options) {
  for (const auto& [name, sizes] : options.dims) {
    if (source.IndexOf(name) < source.dimensions.size()) continue;
    const std::vector<std::string_view> known(source.dimensions.begin(), source.dimensions.end());
    return Fail(
        ErrorCode::kInvalidArgument,
        "sizes are given for the dimension '{}', which the model does not have; it has {}{}", name,
        fmt::join(source.dimensions, ", "), DidYouMean(name, known));
  }
  return {};
}

}  // namespace tunec
