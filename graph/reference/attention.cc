// The reference execution of the operator attention, which infer_attention.cc defines. Each thread
// computes one row of scores at a time.
#include <algorithm>
#include <cmath>

#include "graph/reference/run.h"

namespace tunec::reference {
namespace {

struct Sizes {
  int64_t heads = 1, group = 1;  // number of heads of q over all batches; heads of q per head of k
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
};

Sizes SizesOf(const RunContext& context) {
  const std::vector<int64_t>& q = context.input(0).shape();
  const std::vector<int64_t>& k = context.input(1).shape();
  const size_t rank = q.size();
  Sizes sizes{.heads = Product(q, 0, rank - 2),
              .queries = q[rank - 2],
              .keys = k[rank - 2],
              .depth = q[rank - 1],
              .width = context.input(2).shape()[rank - 1]};
  if (rank > 2 && k[rank - 3] > 0) sizes.group = q[rank - 3] / k[rank - 3];
  return sizes;
}

/// The mask operand of an attention, or no mask. An element is added to a score, or selects whether
/// the score is visible.
class Mask {
 public:
  explicit Mask(const RunContext& context) {
    if (!context.HasOperand(3)) return;
    const Array& mask = context.input(3);
    values_ = LoadAll<double>(mask);
    selects_ = mask.type() == DataType::kBool;
    hidden_ = context.node.Float("hidden");
    shape_ = context.input(0).shape();
    shape_.back() = context.input(1).shape()[shape_.size() - 2];
    const size_t skip = shape_.size() - mask.shape().size();
    const std::vector<int64_t> own = StridesOf(mask.shape());
    strides_.assign(shape_.size(), 0);
    for (size_t d = skip; d < shape_.size(); ++d)
      strides_[d] = mask.shape()[d - skip] == 1 ? 0 : own[d - skip];
  }

  void ApplyTo(std::vector<double>& scores, int64_t head, int64_t query) const {
    if (values_.empty()) return;
    const size_t rank = shape_.size();
    int64_t start = query * strides_[rank - 2];
    for (size_t d = rank - 2; d-- > 0; head /= shape_[d]) start += head % shape_[d] * strides_[d];
    for (size_t j = 0; j < scores.size(); ++j) {
      const double value = values_[start + static_cast<int64_t>(j) * strides_[rank - 1]];
      scores[j] = !selects_ ? scores[j] + value : value != 0 ? scores[j] : hidden_;
    }
  }

 private:
  std::vector<double> values_;
  bool selects_ = false;
  double hidden_ = -INFINITY;
  std::vector<int64_t> shape_;    // shape of the scores
  std::vector<int64_t> strides_;  // strides of the mask along the dimensions of the scores
};

struct Rows {
  const Node& node;
  Sizes sizes;
  Mask mask;
  std::vector<double> q, k, v;

  void Score(int64_t head, int64_t query, std::vector<double>& scores) const {
    const double* left = q.data() + (head * sizes.queries + query) * sizes.depth;
    const double* right = k.data() + head / sizes.group * sizes.keys * sizes.depth;
    const double scale = node.Float("scale");
    const double cap = node.Float("softcap");
    for (int64_t j = 0; j < sizes.keys; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < sizes.depth; ++c) sum += left[c] * right[j * sizes.depth + c];
      sum *= scale;
      scores[j] = cap > 0 ? cap * std::tanh(sum / cap) : sum;
    }
    mask.ApplyTo(scores, head, query);
    if (node.Int("causal") == 0) return;
    const int64_t last = query + node.Int("causal_offset");
    const int64_t window = node.Int("window");
    for (int64_t j = 0; j < sizes.keys; ++j)
      if (j > last || (window > 0 && j <= last - window)) scores[j] = node.Float("hidden");
  }

  void Run(int64_t head, int64_t query, std::vector<double>& scores, double* y) const {
    Score(head, query, scores);
    const double largest = *std::ranges::max_element(scores);
    const bool empty = std::ranges::all_of(scores, [](double s) { return s == -INFINITY; });
    if (empty && node.String("empty_rows") == "zero") return;
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    const double* right = v.data() + head / sizes.group * sizes.keys * sizes.width;
    for (int64_t j = 0; j < sizes.keys; ++j)
      for (int64_t e = 0; e < sizes.width; ++e)
        y[e] += scores[j] / sum * right[j * sizes.width + e];
  }
};

}  // namespace

Outputs RunAttention(const RunContext& context) {
  const Sizes sizes = SizesOf(context);
  Array result = context.MakeOutput();
  if (result.size() == 0 || sizes.keys == 0) return std::vector<Array>{std::move(result)};
  const Rows rows{.node = context.node,
                  .sizes = sizes,
                  .mask = Mask(context),
                  .q = LoadAll<double>(context.input(0)),
                  .k = LoadAll<double>(context.input(1)),
                  .v = LoadAll<double>(context.input(2))};
  std::vector<double> y(static_cast<size_t>(result.size()), 0);
  ParallelFor(sizes.heads * sizes.queries, sizes.keys * (sizes.depth + sizes.width + 20),
              [&](int64_t begin, int64_t end) {
                std::vector<double> scores(static_cast<size_t>(sizes.keys));
                for (int64_t row = begin; row < end; ++row)
                  rows.Run(row / sizes.queries, row % sizes.queries, scores,
                           y.data() + row * sizes.width);
              });
  Store(y.data(), 0, result.size(), result);
  return std::vector<Array>{std::move(result)};
}

}  // namespace tunec::reference
