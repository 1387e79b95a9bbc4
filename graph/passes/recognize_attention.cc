#include "graph/passes/recognize_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "graph/passes/constant_masks.h"
#include "graph/passes/eliminate_dead_nodes.h"
#include "graph/passes/largest_magnitude.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

using Axes = std::vector<int64_t>;

// A fraction of the largest number of a float type. A sum of two masks below this fraction is taken
// to stay finite, even with a score added.
constexpr double kFarFromOverflow = 0.03;

struct Mask {
  ValueId value;
  bool over_split = false;  // broadcasts to Attention::split
};

/// The parts of a matched attention. The values belong to the graph that was matched.
struct Attention {
  static constexpr std::ptrdiff_t kOfHead = 3;  // number of score axes that are not batch axes
  ValueId q, k, v;
  bool transpose_q = false, transpose_k = false, transpose_v = false;
  double scale = 1;
  double softcap = 0;
  std::optional<Mask> mask;
  std::optional<Mask> added_mask;  // added to `mask`; both masks are floats
  bool negate_mask = false;        // `mask` is a bool mask that is true for hidden scores
  // The scores' shape between two reshapes: one splits the batch axes, the other merges them again.
  std::optional<Axes> split;
  std::optional<Band> band;         // a mask that hides exactly the scores outside the band
  std::optional<double> hidden;     // number that replaces a hidden score
  bool added = false;               // `mask` is added; a selecting mask before it must hide
                                    // scores by -inf
  double least_hidden = -INFINITY;  // greatest number that the band's mask adds to a hidden score
};

std::vector<int> CountUses(const Graph& graph) {
  std::vector<int> uses(graph.values().size());
  for (const Node& node : graph.nodes())
    for (const ValueId input : node.inputs)
      if (input.valid()) ++uses[input.index];
  for (const ValueId output : graph.outputs()) ++uses[output.index];
  return uses;
}

// The two factors of a product with, or a quotient by, a float constant of one element: the other
// operand, and the number by which that operand is multiplied.
struct ScaledValue {
  ValueId value;
  double factor = 1;
};
std::optional<ScaledValue> AsScaled(const Graph& graph, ValueId value) {
  const Node& node = graph.producer(value);
  if (node.op != Op::kMul && node.op != Op::kDiv) return {};
  for (const size_t i : {1, 0}) {
    if (node.op == Op::kDiv && i == 0) break;
    const std::optional<double> number = NumberOf(graph, node.inputs[i]);
    const ValueId other = node.inputs[1 - i];
    if (!number || graph.value(other).type != graph.value(value).type) continue;
    return ScaledValue{other, node.op == Op::kMul ? *number : 1 / *number};
  }
  return {};
}

// Returns the shape that a value which broadcasts to `scores` has after the batch is split as in
// the shape `split`. Returns nothing for a dynamic shape. Also returns nothing unless the batch
// axes of the value are all those of the scores, all of extent 1, or all absent.
std::optional<Axes> SplitShape(const ValueType& type, const ValueType& scores, const Axes& split) {
  if (!type.IsFixed()) return {};
  Axes shape = type.Shape();
  const Axes all = scores.Shape();
  if (shape.size() <= Attention::kOfHead) return shape;
  const auto batch = shape.end() - Attention::kOfHead;
  Axes result(split.size(), 1);
  std::copy(batch, shape.end(), result.end() - Attention::kOfHead);
  if (std::all_of(shape.begin(), batch, [](int64_t extent) { return extent == 1; })) return result;
  if (shape.size() != all.size() || !std::equal(shape.begin(), batch, all.begin())) return {};
  std::copy(split.begin(), split.end() - Attention::kOfHead, result.begin());
  return result;
}

/// A matcher that walks from the product with `v` back to the product of `q` and `k`. If `uses` is
/// null, the matcher assumes that the values in between have no other readers.
class Matcher {
 public:
  /// Constructs a matcher. `lowest` is the greatest number by which an added mask of a band may
  /// hide a score.
  Matcher(const Graph& graph, const PassOptions& options, const std::vector<int>* uses,
          double lowest)
      : graph_(graph),
        uses_(uses),
        lowest_(lowest),
        fast_(options.rules == FloatRules::kFast),
        fewest_queries_(options.machine.fewest_queries) {}

  std::optional<Attention> Match(const Node& product, const std::vector<ValueId>& inputs) {
    if (product.op != Op::kMatmul || product.Int("transpose_a") != 0) return {};
    const Node* softmax = Only(inputs[0], Op::kSoftmax);
    if (softmax == nullptr) return {};
    const size_t rank = TypeOf(inputs[0]).dims.size();
    if (rank < 2 || softmax->Int("axis") != static_cast<int64_t>(rank) - 1) return {};
    found_.v = inputs[1];
    found_.transpose_v = product.Int("transpose_b") != 0;
    if (!MatchScores(softmax->inputs[0]) || !HasShapes()) return {};
    return found_;
  }

 private:
  const ValueType& TypeOf(ValueId value) const { return graph_.value(value).type; }

  bool IsUsedOnce(ValueId value) const { return uses_ == nullptr || (*uses_)[value.index] == 1; }

  // Returns the node that computes the value. Returns null if the node's operator is not `op`, or
  // if the value has more than one use. A graph output is a use.
  const Node* Only(ValueId value, Op op) const {
    const Node& node = graph_.producer(value);
    return node.op == op && IsUsedOnce(value) ? &node : nullptr;
  }

  bool MatchScores(ValueId value) {
    const ValueType scores = TypeOf(value);
    bool masked = true;
    while (masked) {
      masked = TakeAddedMask(value) || TakeSelectedMask(value) || TakeReshape(value, scores);
    }
    TakeSoftcap(value);
    while (TakeScale(value)) {
    }
    const Node* product = Only(value, Op::kMatmul);
    if (product == nullptr || in_split_ || !MasksFit(scores)) return false;
    found_.q = product->inputs[0];
    found_.k = product->inputs[1];
    found_.transpose_q = product->Int("transpose_a") != 0;
    found_.transpose_k = product->Int("transpose_b") == 0;
    return true;
  }

  bool TakeScale(ValueId& value) {
    if (!IsUsedOnce(value)) return false;
    const std::optional<ScaledValue> scaled = AsScaled(graph_, value);
    if (!scaled) return false;
    value = scaled->value;
    found_.scale *= scaled->factor;
    return true;
  }

  // Matches tanh(x * a) * c for positive a and c, records the softcap and the scale, and sets
  // `value` to x. Otherwise changes nothing.
  void TakeSoftcap(ValueId& value) {
    const std::optional<ScaledValue> outer = AsScaled(graph_, value);
    if (!outer || !IsUsedOnce(value) || !(outer->factor > 0)) return;
    const Node* tanh = Only(outer->value, Op::kTanh);
    if (tanh == nullptr || !IsUsedOnce(tanh->inputs[0])) return;
    const std::optional<ScaledValue> inner = AsScaled(graph_, tanh->inputs[0]);
    if (!inner || !(inner->factor > 0)) return;
    // A usual softcap has a = 1 / c. Otherwise a * c becomes part of the scale.
    found_.softcap = outer->factor;
    found_.scale *= inner->factor * outer->factor;
    value = inner->value;
  }

  // Records a mask in `found_`. Returns false if the mask cannot be combined with the recorded
  // masks. Besides the mask of one band, one bool mask or up to two float masks are possible. All
  // masks of bands and bool masks must hide scores by the same number.
  bool RecordMask(ValueId mask, bool negate, double hidden, const ValueType& scores) {
    const std::optional<Band> band = ExactBandOf(mask, negate, scores);
    const bool selects = TypeOf(mask).type == DataType::kBool;
    if (selects || band) {
      if (found_.hidden.value_or(hidden) != hidden) return false;
      // A hidden score to which a mask is then added no longer has the hidden number.
      if (hidden != -INFINITY && found_.added) return false;
      found_.hidden = hidden;
    }
    if (band && !found_.band) {
      found_.band = band;
      if (!selects) found_.least_hidden = band->hidden;
      return true;
    }
    if (found_.mask) return RecordMaskSum(mask, selects);
    found_.added = !selects;
    found_.mask = Mask{mask, in_split_};
    found_.negate_mask = negate;
    return true;
  }

  // Returns the band of visible scores if the mask hides exactly the others.
  std::optional<Band> ExactBandOf(ValueId mask, bool negate, const ValueType& scores) const {
    const size_t rank = scores.dims.size();
    if (rank < 2) return {};
    const std::optional<MaskNumbers> numbers =
        MaskNumbersOf(graph_, mask, negate, scores.dims[rank - 2], scores.dims[rank - 1]);
    std::optional<Band> band = numbers ? BandOf(*numbers, lowest_) : std::nullopt;
    return band && band->is_exact ? band : std::nullopt;
  }

  // Records a second float mask, which will be added to the first. Returns false if one of the
  // masks is a bool mask or if there are two masks already. Also returns false if the sum of the
  // masks is not proven to stay finite, unless the rules are kFast.
  bool RecordMaskSum(ValueId mask, bool selects) {
    if (selects || !found_.added || found_.added_mask) return false;
    const double sum =
        LargestMagnitude(graph_, mask) + LargestMagnitude(graph_, found_.mask->value);
    const double largest = LargestFinite(TypeOf(mask).type);
    if (!fast_ && !(sum < kFarFromOverflow * largest)) return false;
    found_.added_mask = Mask{mask, in_split_};
    return true;
  }

  // Matches one reshape of reshape(mask(reshape(x))), where x has the shape of the scores. Between
  // the two reshapes the scores have the shape `found_.split`, and masks broadcast to this shape.
  bool TakeReshape(ValueId& value, const ValueType& scores) {
    const Node* reshape = Only(value, Op::kReshape);
    if (reshape == nullptr || !LeadsToProduct(value)) return false;
    const ValueType& from = TypeOf(reshape->inputs[0]);
    if (in_split_ ? from != scores : found_.split || !IsSplitOf(from, scores)) return false;
    if (!in_split_) found_.split = from.Shape();
    in_split_ = !in_split_;
    value = reshape->inputs[0];
    return true;
  }

  static bool IsSplitOf(const ValueType& split, const ValueType& scores) {
    if (!split.IsFixed() || !scores.IsFixed()) return false;
    const size_t of_head = Attention::kOfHead;
    return split.dims.size() >= of_head && scores.dims.size() >= of_head &&
           std::equal(split.dims.end() - of_head, split.dims.end(), scores.dims.end() - of_head);
  }

  // Returns whether each mask outside the split can be reshaped to it: the mask has all batch axes
  // of the scores, or is broadcast over the batch.
  bool MasksFit(const ValueType& scores) const {
    if (!found_.split) return true;
    return std::ranges::all_of(std::array{found_.mask, found_.added_mask}, [&](const auto& mask) {
      return !mask || mask->over_split || SplitShape(TypeOf(mask->value), scores, *found_.split);
    });
  }

  bool TakeAddedMask(ValueId& value) {
    const Node* add = Only(value, Op::kAdd);
    if (add == nullptr) return false;
    for (const size_t i : {0, 1}) {
      const ValueId scores = add->inputs[i];
      if (!LeadsToProduct(scores) || TypeOf(scores) != TypeOf(value)) continue;
      if (!RecordMask(add->inputs[1 - i], /*negate=*/false, -INFINITY, TypeOf(value))) return false;
      value = scores;
      return true;
    }
    return false;
  }

  bool TakeSelectedMask(ValueId& value) {
    const Node* where = Only(value, Op::kWhere);
    if (where == nullptr) return false;
    for (const size_t i : {1, 2}) {
      const ValueId scores = where->inputs[i];
      const std::optional<double> other = NumberOf(graph_, where->inputs[3 - i]);
      if (!other || !LeadsToProduct(scores)) continue;
      if (TypeOf(scores) != TypeOf(value)) return false;
      if (!RecordMask(where->inputs[0], i == 2, *other, TypeOf(value))) return false;
      value = scores;
      return true;
    }
    return false;
  }

  // Returns whether a short chain of where, add, mul, div, tanh and reshape leads from the value
  // back to a matmul. Each value of the chain must have one use. The scores operand of a mask's
  // node has such a chain.
  bool LeadsToProduct(ValueId value) const {
    constexpr int kMostSteps = 12;
    for (int step = 0; step < kMostSteps && IsUsedOnce(value); ++step) {
      const Node& node = graph_.producer(value);
      if (node.op == Op::kMatmul) return true;
      size_t next = 0;
      if (node.op == Op::kWhere) {
        next = NumberOf(graph_, node.inputs[1]) ? 2 : 1;
      } else if (node.op == Op::kAdd || node.op == Op::kMul) {
        next =
            TypeOf(node.inputs[0]) == TypeOf(value) && !graph_.ConstantOf(node.inputs[0]) ? 0 : 1;
      } else if (node.op != Op::kDiv && node.op != Op::kTanh && node.op != Op::kReshape) {
        return false;
      }
      value = node.inputs[next];
    }
    return false;
  }

  std::vector<Dim> Dims(ValueId value, bool transposed) const {
    std::vector<Dim> dims = TypeOf(value).dims;
    if (transposed && dims.size() > 1) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return dims;
  }

  // Returns whether q, k and v have a float type, enough queries, and the batches and heads of one
  // attention. The two products alone would also accept operands that broadcast in other ways.
  bool HasShapes() const {
    const std::vector<Dim> q = Dims(found_.q, found_.transpose_q);
    const std::vector<Dim> k = Dims(found_.k, found_.transpose_k);
    const std::vector<Dim> v = Dims(found_.v, found_.transpose_v);
    const size_t rank = q.size();
    if (rank < 2 || k.size() != rank || v.size() != rank) return false;
    if (q[rank - 2].IsConstant() && q[rank - 2].Value() < fewest_queries_) return false;
    for (size_t d = 0; d + 2 < rank; ++d) {
      if (k[d] != v[d]) return false;
      if (q[d] != k[d] && !(d + 3 == rank && k[d] == Dim(1))) return false;
    }
    return IsFloat(TypeOf(found_.q).type);
  }

  const Graph& graph_;
  const std::vector<int>* uses_;
  double lowest_;
  bool fast_;
  bool in_split_ = false;  // between the two reshapes
  int64_t fewest_queries_;
  Attention found_;
};

// Returns whether exp of each hidden score is proven to be 0 relative to the visible scores of its
// row. The mask of a band adds `number` to a hidden score if `added`, and replaces the score
// otherwise. Returns false if there is another mask, or if a row may have no visible score.
bool Vanishes(const Graph& graph, const Attention& found, double number, bool added) {
  const std::vector<Dim>& q = graph.value(found.q).type.dims;
  const std::vector<Dim>& k = graph.value(found.k).type.dims;
  const Dim& depth = q[q.size() - (found.transpose_q ? 2 : 1)];
  const Dim& queries = q[q.size() - (found.transpose_q ? 1 : 2)];
  const Dim& keys = k[k.size() - (found.transpose_k ? 1 : 2)];
  if (found.mask || !found.band || !EveryRowSees(*found.band, queries, keys)) return false;
  const double score = LargestScore(graph, found.q, found.k, depth, found.scale, found.softcap);
  return number + (added ? score : 0) <= -score + kVanishes;
}

// Returns the attention whose last product is `product`; nothing if no attention matches. The
// number of a band's mask may be so low that it has the effect of -inf. The proof needs a bound of
// the scores, which is known only after a first match.
std::optional<Attention> MatchAttention(const Graph& graph, const PassOptions& options,
                                        const std::vector<int>* uses, const Node& product,
                                        const std::vector<ValueId>& inputs) {
  const bool fast = options.rules == FloatRules::kFast;
  const auto match = [&](double lowest) {
    return Matcher(graph, options, uses, lowest).Match(product, inputs);
  };
  std::optional<Attention> found = match(fast ? kAsGoodAsMinusInfinity : kVanishes);
  const bool proven = !found || fast || found->least_hidden == -INFINITY ||
                      Vanishes(graph, *found, found->least_hidden, /*added=*/true);
  if (!proven || !found) found = match(-INFINITY);
  if (found && found->hidden && *found->hidden != -INFINITY &&
      Vanishes(graph, *found, *found->hidden, /*added=*/false)) {
    found->hidden = -INFINITY;
  }
  return found;
}

Result<ValueId> SwapLastTwo(GraphBuilder& builder, ValueId value) {
  Axes perm(builder.TypeOf(value).dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return builder.Add(Op::kTranspose, {value}, {{"perm", perm}});
}

// Returns the value without its constant factor, and multiplies `scale` by the factor. The factor
// may be applied below transposes and reshapes, which are then added again. Returns `value` itself
// if it has no constant factor.
Result<ValueId> TakeScale(GraphBuilder& builder, ValueId value, double& scale) {
  std::vector<ValueId> views;
  ValueId at = value;
  while (builder.graph().producer(at).op == Op::kTranspose ||
         builder.graph().producer(at).op == Op::kReshape) {
    views.push_back(at);
    at = builder.graph().producer(at).inputs[0];
  }
  const std::optional<ScaledValue> scaled = AsScaled(builder.graph(), at);
  if (!scaled) return value;
  scale *= scaled->factor;
  at = scaled->value;
  while (!views.empty()) {
    const Node& view = builder.graph().producer(views.back());
    const Op op = view.op;
    const Attributes attributes = view.attributes;
    views.pop_back();
    TUNEC_ASSIGN(at, builder.Add(op, {at}, attributes));
  }
  return at;
}

// Returns k or v before its heads were repeated. Repeated heads are a reshape of an expand from [*,
// H/g, 1, T, D] to [*, H/g, g, T, D]. Returns any other value itself.
Result<ValueId> TakeRepeat(GraphBuilder& builder, ValueId value) {
  const Graph& graph = builder.graph();
  const Node& reshape = graph.producer(value);
  if (reshape.op != Op::kReshape) return value;
  const Node& expand = graph.producer(reshape.inputs[0]);
  if (expand.op != Op::kExpand) return value;
  const ValueType& from = graph.value(expand.inputs[0]).type;
  const ValueType& to = graph.value(reshape.inputs[0]).type;
  const ValueType& flat = graph.value(value).type;
  if (!from.IsFixed() || !to.IsFixed() || !flat.IsFixed()) return value;
  const size_t rank = flat.dims.size();
  if (rank < 3 || to.dims.size() != rank + 1 || from.dims.size() != rank + 1) return value;
  Axes heads = from.Shape();
  if (heads[rank - 2] != 1) return value;
  Axes repeated = heads;
  repeated[rank - 2] = to.Shape()[rank - 2];
  Axes merged = repeated;
  merged[rank - 3] *= merged[rank - 2];
  merged.erase(merged.begin() + static_cast<ptrdiff_t>(rank) - 2);
  if (repeated != to.Shape() || merged != flat.Shape()) return value;
  heads.erase(heads.begin() + static_cast<ptrdiff_t>(rank) - 2);
  return builder.Add(Op::kReshape, {expand.inputs[0]}, {{"shape", heads}});
}

bool HasSameHeads(const GraphBuilder& builder, ValueId k, ValueId v) {
  const std::vector<Dim>& a = builder.TypeOf(k).dims;
  const std::vector<Dim>& b = builder.TypeOf(v).dims;
  return a.size() < 3 || a[a.size() - 3] == b[b.size() - 3];
}

// Adds a reshape of q, k or v to the batch axes of `split`.
Result<ValueId> SplitBatch(GraphBuilder& builder, ValueId value, const Axes& split) {
  const Axes own = builder.TypeOf(value).Shape();
  Axes shape(split.begin(), split.end() - Attention::kOfHead);
  shape.insert(shape.end(), own.end() - Attention::kOfHead, own.end());
  return builder.Add(Op::kReshape, {value}, {{"shape", shape}});
}

Result<ValueId> MaskOf(GraphBuilder& builder, const Attention& found, const Mask& mask,
                       const ValueType& scores) {
  if (!found.split || mask.over_split) return mask.value;
  const Axes shape = *SplitShape(builder.TypeOf(mask.value), scores, *found.split);
  if (shape == builder.TypeOf(mask.value).Shape()) return mask.value;
  return builder.Add(Op::kReshape, {mask.value}, {{"shape", shape}});
}

// Adds the node, with a simpler mask if there is one.
Result<ValueId> AddWithBestMask(GraphBuilder& builder, const Node& attention,
                                const PassOptions& options) {
  TUNEC_ASSIGN(const std::optional<ValueId> simpler,
               AddWithSimplerMask(builder, attention, options));
  if (simpler) return *simpler;
  return builder.Add(Op::kAttention, attention.inputs, attention.attributes, attention.name,
                     attention.where);
}

Result<ValueId> AddAttention(GraphBuilder& builder, const Attention& found, const Node& node,
                             const ValueType& scores, const Axes& shape,
                             const PassOptions& options) {
  double scale = found.scale;
  const auto operand = [&](ValueId value, bool transpose) -> Result<ValueId> {
    if (!transpose) return value;
    return SwapLastTwo(builder, value);
  };
  TUNEC_ASSIGN(ValueId q, operand(found.q, found.transpose_q));
  TUNEC_ASSIGN(ValueId k, operand(found.k, found.transpose_k));
  TUNEC_ASSIGN(const ValueId v, operand(found.v, found.transpose_v));
  TUNEC_ASSIGN(q, TakeScale(builder, q, scale));
  TUNEC_ASSIGN(k, TakeScale(builder, k, scale));
  // Grouped heads require that k and v are repeated equally.
  TUNEC_ASSIGN(const ValueId k_heads, TakeRepeat(builder, k));
  TUNEC_ASSIGN(const ValueId v_heads, TakeRepeat(builder, v));
  const bool grouped = HasSameHeads(builder, k_heads, v_heads);
  std::vector<ValueId> operands = {q, grouped ? k_heads : k, grouped ? v_heads : v};
  if (found.split) {
    for (ValueId& value : operands) {
      TUNEC_ASSIGN(value, SplitBatch(builder, value, *found.split));
    }
  }
  if (found.mask) {
    TUNEC_ASSIGN(ValueId mask, MaskOf(builder, found, *found.mask, scores));
    if (found.added_mask) {
      TUNEC_ASSIGN(const ValueId other, MaskOf(builder, found, *found.added_mask, scores));
      TUNEC_ASSIGN(mask, builder.Add(Op::kAdd, {mask, other}));
    }
    if (found.negate_mask) {
      TUNEC_ASSIGN(mask, builder.Add(Op::kNot, {mask}));
    }
    operands.push_back(mask);
  }
  Attributes attributes = {{"scale", scale}, {"softcap", found.softcap}};
  if (found.hidden && *found.hidden != -INFINITY) attributes["hidden"] = *found.hidden;
  if (found.band) {
    attributes["causal"] = int64_t{1};
    attributes["causal_offset"] = found.band->last;
    if (found.band->window != 0) attributes["window"] = found.band->window;
  }
  Node attention{
      .op = Op::kAttention, .inputs = std::move(operands), .attributes = std::move(attributes)};
  if (!found.split) {
    attention.name = node.name;
    attention.where = node.where;
    return AddWithBestMask(builder, attention, options);
  }
  TUNEC_ASSIGN(const ValueId y, AddWithBestMask(builder, attention, options));
  return builder.Add(Op::kReshape, {y}, {{"shape", shape}}, node.name, node.where);
}

bool HasMask(const Node& node) {
  constexpr size_t kMask = 3;
  return node.op == Op::kAttention && node.inputs.size() > kMask && node.inputs[kMask].valid();
}

}  // namespace

Result<Graph> RecognizeAttention(const Graph& graph, const PassOptions& options) {
  const std::vector<int> uses = CountUses(graph);
  const auto may_change = [&](const Node& node) {
    return HasMask(node) || MatchAttention(graph, options, &uses, node, node.inputs);
  };
  if (std::ranges::none_of(graph.nodes(), may_change)) return graph;
  bool changed = false;
  const auto replace = [&](const Node& node, const std::vector<ValueId>& inputs,
                           GraphBuilder& builder) -> Result<std::vector<ValueId>> {
    std::vector<ValueId> unchanged;
    if (HasMask(node)) {
      Node attention = node;
      attention.inputs = inputs;
      TUNEC_ASSIGN(const std::optional<ValueId> simpler,
                   AddWithSimplerMask(builder, attention, options));
      changed |= simpler.has_value();
      return simpler ? std::vector{*simpler} : unchanged;
    }
    if (!MatchAttention(graph, options, &uses, node, node.inputs)) return unchanged;
    const std::optional<Attention> found =
        MatchAttention(builder.graph(), options, nullptr, node, inputs);
    if (!found) return unchanged;
    changed = true;
    const Axes shape = found->split ? graph.value(node.outputs[0]).type.Shape() : Axes();
    const ValueType& scores = graph.value(node.inputs[0]).type;
    TUNEC_ASSIGN(const ValueId value, AddAttention(builder, *found, node, scores, shape, options));
    return std::vector<ValueId>{value};
  };
  TUNEC_ASSIGN(Graph next, Rebuild(graph, replace));
  if (!changed) return graph;
  return EliminateDeadNodes(next, options);
}

}  // namespace tunec
