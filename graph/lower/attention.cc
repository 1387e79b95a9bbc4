// Lowering of attention: two products with a softmax between them, by blocks of rows of scores.
//
// The rows (queries) are split into blocks, the columns (keys) into KV blocks ("chunks" in the
// code). The chunks are processed in order. Each row's greatest score so far, sum of exponentials
// and output are carried from chunk to chunk. The sum and the output are relative to the greatest
// score (online softmax; Milakov and Gimelshein 2018, Dao et al. 2022). With q scaled, x the masked
// scores of a block in one chunk:
//
//   top    = max over the chunk of x          m[c] = max(m[c-1], top)
//   p      = exp(x - m[c])                    a    = exp(m[c-1] - m[c])
//   sum[c] = sum over the chunk of p          l    = l * a + sum
//   w      = p v                              o    = o * a + w
//   y      = o / l
//
// With one chunk nothing is carried: m = top, l = sum, o = w. The plain definition (kDirect) is one
// block with one chunk. x and p are indexed by block and chunk. A tile of x or p is read only for
// its own block and chunk, so a schedule can store one tile of each.
//
// If every score so far is -inf, m counts as 0. Then the exponentials are 0 and not NaN, and later
// chunks stay correct. A row in which all scores are -inf ends as 0 / 0, or as 0 if the attribute
// empty_rows is "zero".
//
// Rows beyond the last are computed from zeros and never written, so that all blocks are complete.
// If `skips_` is set, chunks that a causal mask hides from all rows of a block are not in the
// domain. If `ends_` is set, a block's columns after the last visible one are not in the domain
// either. The number of a block's visible columns is then rounded up to a multiple of
// kColumnsTogether, so that the first product has complete tiles. If `begins_` is set, chunks and
// columns before the first visible one of a windowed mask are not in the domain. The first column
// is rounded down in the same way. A block's first chunk is then not chunk 0 in general.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kColumnsTogether = 16;

struct Extents {
  std::vector<int64_t> batch;
  int64_t heads = 1;  // heads of k and v
  int64_t group = 1;  // heads of q for each head of k
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
};

Extents ExtentsOf(const std::vector<int64_t>& q, const std::vector<int64_t>& k,
                  const std::vector<int64_t>& v) {
  const size_t rank = q.size();
  Extents extents{.batch = {},
                  .queries = q[rank - 2],
                  .keys = k[rank - 2],
                  .depth = q[rank - 1],
                  .width = v[rank - 1]};
  if (rank == 2) return extents;
  extents.batch.assign(q.begin(), q.end() - 3);
  extents.heads = k[rank - 3];
  extents.group = extents.heads == 0 ? 1 : q[rank - 3] / extents.heads;
  return extents;
}

// Returns whether a causal mask sets the scores of hidden columns to -inf.
bool HidesColumns(const Node& node) {
  return node.Int("causal") != 0 && node.Float("hidden") == -kInfinity;
}

// Bits for the iterators that a statement may have besides batch, heads and the block of rows.
enum Axis { kChunk = 1, kKey = 2, kRow = 4, kWidth = 8, kDepth = 16 };

class AttentionBuilder {
 public:
  AttentionBuilder(LowerContext& context, const Node& node)
      : context_(context),
        node_(node),
        q_(context.OperandInput(node, 0)),
        k_(context.OperandInput(node, 1)),
        v_(context.OperandInput(node, 2)),
        extents_(ExtentsOf(q_.shape, k_.shape, v_.shape)),
        type_(AccumulatorType(context.OutputType(node))) {
    if (context.HasInput(node, 3)) mask_ = context.ReusableInput(node, 3);
    const bool cut = context.variant() == Variant::kStreaming;
    rows_ = std::max<int64_t>(1, cut ? context.streaming_sizes().rows : extents_.queries);
    chunk_ = cut ? std::min(context.streaming_sizes().chunk, extents_.keys) : extents_.keys;
    blocks_ = CeilDivide(extents_.queries, rows_);
    chunks_ = CeilDivide(extents_.keys, chunk_);
    // If the causal offset is very negative, all chunks of keys are hidden from the first block of
    // queries. Skipping all of them would leave the block without a result.
    const bool has_first = rows_ - 1 + node.Int("causal_offset") >= 0;
    skips_ = HidesColumns(node) && has_first;
    ends_ = skips_ && cut && context.streaming_sizes().ends;
    // If the window ends before the last block's rows, a block has no visible column.
    const bool has_last = (blocks_ - 1) * rows_ + FirstVisible() < extents_.keys;
    begins_ = ends_ && node.Int("window") > 0 && has_last;
  }

  Lazy Build() {
    ScaleQueries();
    Scores();
    Maximum();
    Exponentials();
    Sum();
    Output();
    return Outcome();
  }

 private:
  // A point of the iteration space: an expression for each iterator, 0 for an iterator that the
  // statement does not have.
  struct Point {
    Index batch = {};  // indices of the batch, the head of k, and the head of q in its group
    IndexExpr block = 0, chunk = 0, key = 0, row = 0, width = 0, depth = 0;
  };
  // A statement under construction, with the point that its iterators address.
  struct Site : Point {
    StatementBuilder builder;
  };

  Site NewSite(int axes, IteratorKind along_keys = IteratorKind::kParallel) {
    Site site{{}, context_.NewStatement()};
    StatementBuilder& builder = site.builder;
    const auto parallel = [&](const std::string& name, int64_t extent) {
      return builder.AddIterator(name, extent, IteratorKind::kParallel);
    };
    for (size_t d = 0; d < extents_.batch.size(); ++d)
      site.batch.push_back(parallel("b" + std::to_string(d), extents_.batch[d]));
    site.batch.push_back(parallel("h", extents_.heads));
    site.batch.push_back(parallel("g", extents_.group));
    site.block = parallel("qb", blocks_);
    if (axes & kChunk) site.chunk = builder.AddIterator("c", chunks_, IteratorKind::kSequential);
    if (axes & kKey && along_keys == IteratorKind::kParallel) site.key = parallel("t", chunk_);
    if (axes & kRow) site.row = parallel("r", rows_);
    if (axes & kWidth) site.width = parallel("e", extents_.width);
    if (axes & kKey && along_keys == IteratorKind::kReduction)
      site.key = builder.AddReduction("t", chunk_);
    if (axes & kDepth)
      site.depth = builder.AddIterator(
          "k", extents_.depth, axes & kKey ? IteratorKind::kReduction : IteratorKind::kParallel);
    if (axes & kKey) builder.Require(IndexExpr(extents_.keys - 1) - Key(site));
    if (axes & kKey && ends_) builder.Require(LastColumn(site) - Key(site));
    if (axes & kKey && begins_) builder.Require(Key(site) - FirstColumn(site));
    if (axes & kChunk && skips_)
      builder.Require(site.block * rows_ + (rows_ - 1 + node_.Int("causal_offset")) -
                      site.chunk * chunk_);
    if (axes & kChunk && begins_) builder.Require(InChunkAfter(site, site.chunk));
    return site;
  }

  IndexExpr Query(const Point& site) const { return site.block * rows_ + site.row; }
  IndexExpr Key(const Point& site) const { return site.chunk * chunk_ + site.key; }
  // Returns a block's inclusive column bound for `ends_`. The bound can exceed the last key.
  IndexExpr LastColumn(const Point& site) const {
    const int64_t visible = rows_ + node_.Int("causal_offset");
    return site.block * rows_ + (CeilDivide(visible, kColumnsTogether) * kColumnsTogether - 1);
  }

  // Returns the first column of a windowed mask that row 0 sees.
  int64_t FirstVisible() const { return node_.Int("causal_offset") - node_.Int("window") + 1; }
  // Returns a block's first column for `begins_`. The column can be negative.
  IndexExpr FirstColumn(const Point& site) const {
    return site.block * rows_ + FloorDivide(FirstVisible(), kColumnsTogether) * kColumnsTogether;
  }
  // Returns a number that is negative if all columns of the chunk precede FirstColumn.
  IndexExpr InChunkAfter(const Point& site, const IndexExpr& chunk) const {
    return chunk * chunk_ + (chunk_ - 1) - FirstColumn(site);
  }
  // Returns the conditions for an earlier chunk in the block.
  std::vector<IndexExpr> HasPrevious(const Point& site) const {
    std::vector<IndexExpr> conditions = {site.chunk - 1};
    if (begins_) conditions.push_back(InChunkAfter(site, site.chunk - 1));
    return conditions;
  }

  // Returns the index of q, the mask or y from the site's batch and head and from two more indices.
  Index Full(const Point& site, const IndexExpr& row, const IndexExpr& column) const {
    const size_t heads = site.batch.size() - 2;
    Index index(site.batch.begin(), site.batch.begin() + static_cast<ptrdiff_t>(heads));
    if (q_.shape.size() > 2)
      index.push_back(site.batch[heads] * extents_.group + site.batch[heads + 1]);
    index.push_back(row);
    index.push_back(column);
    return index;
  }
  // Returns the index of k or v.
  Index Shared(const Point& site, const IndexExpr& row, const IndexExpr& column) const {
    Index index = Full(site, row, column);
    if (q_.shape.size() > 2) index[index.size() - 3] = site.batch[site.batch.size() - 2];
    return index;
  }

  // Adds a workspace tensor over batch, heads, blocks and the given axes.
  TensorId Add(const std::string& name, int axes) {
    std::vector<int64_t> shape = extents_.batch;
    shape.insert(shape.end(), {extents_.heads, extents_.group, blocks_});
    if (axes & kChunk) shape.push_back(chunks_);
    if (axes & kKey) shape.push_back(chunk_);
    if (axes & kRow) shape.push_back(rows_);
    if (axes & kWidth) shape.push_back(extents_.width);
    if (axes & kDepth) shape.push_back(extents_.depth);
    return context_.AddWorkspace(name, type_, std::move(shape));
  }
  static Index At(const Point& site, int axes) {
    Index index = site.batch;
    index.push_back(site.block);
    if (axes & kChunk) index.push_back(site.chunk);
    if (axes & kKey) index.push_back(site.key);
    if (axes & kRow) index.push_back(site.row);
    if (axes & kWidth) index.push_back(site.width);
    if (axes & kDepth) index.push_back(site.depth);
    return index;
  }
  Expr Read(Site& site, TensorId tensor, int axes) const {
    return site.builder.ReadTensor(tensor, At(site, axes));
  }
  // Returns the value of the previous chunk, or `outside` for the first chunk.
  Expr ReadPrevious(Site& site, TensorId tensor, int axes, double outside) const {
    Point before = static_cast<const Point&>(site);
    before.chunk -= 1;
    return site.builder.EvaluateGuarded(HasPrevious(site), outside, [&] {
      return site.builder.ReadTensor(tensor, At(before, axes));
    });
  }
  void Emit(Site site, TensorId tensor, int axes, const Expr& value,
            std::optional<Reducer> reducer = {}) {
    const Index index = At(site, axes);
    context_.Emit(
        std::move(site.builder)
            .Build(context_.tensor(tensor).name, Write{tensor, index}, value, std::move(reducer)));
  }
  Expr Number(double value) const { return Expr::Constant(value, type_); }

  void ScaleQueries() {
    queries_ = Add("q", kRow | kDepth);
    Site site = NewSite(kRow | kDepth);
    const IndexExpr query = Query(site);
    const Expr element = site.builder.EvaluateGuarded(
        {IndexExpr(extents_.queries - 1) - query}, 0,
        [&] { return q_.At(site.builder, Full(site, query, site.depth)); });
    const double scale = node_.Float("scale");
    const Expr wide = Expr::Cast(element, type_);
    Emit(std::move(site), queries_, kRow | kDepth, scale == 1 ? wide : wide * Number(scale));
  }

  void Scores() {
    constexpr int kAxes = kChunk | kKey | kRow;
    const TensorId products = Add("s", kAxes);
    Site site = NewSite(kAxes | kDepth);
    const Expr left = Read(site, queries_, kRow | kDepth);
    const Expr right = Expr::Cast(k_.At(site.builder, Shared(site, Key(site), site.depth)), type_);
    Emit(std::move(site), products, kAxes, left * right, Reducer::Sum(type_));

    scores_ = Add("x", kAxes);
    Site masked = NewSite(kAxes);
    Expr score = Masked(masked, Capped(Read(masked, products, kAxes)));
    Emit(std::move(masked), scores_, kAxes, score);
  }

  Expr Capped(const Expr& score) const {
    const double cap = node_.Float("softcap");
    if (cap == 0) return score;
    return Unary(ScalarOp::kTanh, score / Number(cap)) * Number(cap);
  }

  Expr Masked(Site& site, Expr score) const {
    const IndexExpr query = Query(site);
    if (mask_) {
      const Expr mask = site.builder.EvaluateGuarded(
          {IndexExpr(extents_.queries - 1) - query}, 0,
          [&] { return mask_->Broadcast(site.builder, Full(site, query, Key(site))); });
      score = mask.type() == DataType::kBool
                  ? Expr::Select(mask, score, Number(node_.Float("hidden")))
                  : score + Expr::Cast(mask, type_);
    }
    if (node_.Int("causal") == 0) return score;
    std::vector<IndexExpr> visible = {query + node_.Int("causal_offset") - Key(site)};
    if (node_.Int("window") > 0) visible.push_back(Key(site) - query - FirstVisible());
    std::erase_if(visible, [&](const IndexExpr& e) { return !site.builder.CanFail(e); });
    if (visible.empty()) return score;
    return Expr::Select(Expr::Holds(std::move(visible)), score, Number(node_.Float("hidden")));
  }

  void Maximum() {
    constexpr int kAxes = kChunk | kRow;
    const TensorId top = Add(chunks_ == 1 ? "m" : "top", kAxes);
    Site site = NewSite(kAxes | kKey, IteratorKind::kReduction);
    const Expr score = Read(site, scores_, kAxes | kKey);
    Emit(std::move(site), top, kAxes, score, Reducer::Max(type_));
    maximum_ = top;
    if (chunks_ == 1) return;
    maximum_ = Add("m", kAxes);
    Site carried = NewSite(kAxes);
    const Expr own = Read(carried, top, kAxes);
    Expr greatest = Max(own, ReadPrevious(carried, maximum_, kAxes, -kInfinity));
    Emit(std::move(carried), maximum_, kAxes, greatest);
  }

  // Returns the greatest score of a row up to this chunk, or 0 if the greatest score is -inf.
  Expr Reference(Site& site) const {
    const Expr greatest = Read(site, maximum_, kChunk | kRow);
    return Expr::Select(Expr::Apply(ScalarOp::kLt, {Number(-kInfinity), greatest}), greatest,
                        Number(0));
  }

  void Exponentials() {
    constexpr int kAxes = kChunk | kKey | kRow;
    weights_ = Add("p", kAxes);
    Site site = NewSite(kAxes);
    const Expr score = Read(site, scores_, kAxes);
    const Expr weight = Unary(ScalarOp::kExp, score - Reference(site));
    Emit(std::move(site), weights_, kAxes, weight);
    if (chunks_ == 1) return;
    decay_ = Add("a", kChunk | kRow);
    Site carried = NewSite(kChunk | kRow);
    const Expr reference = Reference(carried);
    const Expr before = ReadPrevious(carried, maximum_, kChunk | kRow, -kInfinity);
    Emit(std::move(carried), decay_, kChunk | kRow, Unary(ScalarOp::kExp, before - reference));
  }

  // Adds a carried tensor: tensor = tensor * a + the chunk's value; the first chunk starts from 0.
  TensorId Carry(const std::string& name, TensorId own, int axes) {
    const TensorId total = Add(name, axes);
    Site site = NewSite(axes | kChunk);
    const Expr added = Read(site, own, axes | kChunk);
    const Expr decay = Read(site, decay_, kChunk | kRow);
    const Expr before = site.builder.EvaluateGuarded(
        HasPrevious(site), 0, [&] { return site.builder.ReadTensor(total, At(site, axes)); });
    Emit(std::move(site), total, axes, before * decay + added);
    return total;
  }

  void Sum() {
    const TensorId own = Add(chunks_ == 1 ? "l" : "sum", kChunk | kRow);
    Site site = NewSite(kChunk | kRow | kKey, IteratorKind::kReduction);
    const Expr weight = Read(site, weights_, kChunk | kKey | kRow);
    Emit(std::move(site), own, kChunk | kRow, weight, Reducer::Sum(type_));
    const TensorId total = chunks_ == 1 ? own : Carry("l", own, kRow);
    inverse_ = Add("z", kRow);
    Site last = NewSite(kRow);
    const Expr sum = Read(last, total, chunks_ == 1 ? kChunk | kRow : int{kRow});
    Emit(std::move(last), inverse_, kRow, Number(1) / sum);
  }

  void Output() {
    constexpr int kAxes = kChunk | kRow | kWidth;
    const TensorId own = Add(chunks_ == 1 ? "o" : "w", kAxes);
    Site site = NewSite(kAxes | kKey, IteratorKind::kReduction);
    const Expr weight = Read(site, weights_, kChunk | kKey | kRow);
    const Expr value = Expr::Cast(v_.At(site.builder, Shared(site, Key(site), site.width)), type_);
    Emit(std::move(site), own, kAxes, weight * value, Reducer::Sum(type_));
    output_ = chunks_ == 1 ? own : Carry("o", own, kRow | kWidth);
    output_axes_ = chunks_ == 1 ? kAxes : kRow | kWidth;
  }

  // Returns y as a lazy value. Sets the output's loops as the anchor, because these loops can also
  // write y.
  Lazy Outcome() {
    const Extents& extents = extents_;
    const size_t rank = q_.shape.size();
    Site site = NewSite(kRow | kWidth);
    IterationSpace space{.iterators = {},
                         .index = Full(site, Query(site), site.width),
                         .shape = context_.OutputShape(node_)};
    for (size_t d = 0; d < extents.batch.size(); ++d)
      space.iterators.push_back({"b" + std::to_string(d), extents.batch[d]});
    space.iterators.push_back({"h", extents.heads});
    space.iterators.push_back({"g", extents.group});
    space.iterators.push_back({"qb", blocks_});
    space.iterators.push_back({"r", rows_});
    space.iterators.push_back({"e", extents.width});
    space.domain.push_back(IndexExpr(extents.queries - 1) - Query(site));
    context_.SetAnchor(std::move(space));

    return context_.Define(
        context_.OutputType(node_), context_.OutputShape(node_), kReadCost + 2,
        [rank, group = extents.group, rows = rows_, axes = output_axes_, output = output_,
         inverse = inverse_, zero = node_.String("empty_rows") == "zero",
         type = ComputeType(context_.OutputType(node_))](StatementBuilder& builder,
                                                         const Index& index) {
          const auto leading = static_cast<ptrdiff_t>(std::min<size_t>(3, rank));
          Point at{.batch = Index(index.begin(), index.end() - leading)};
          const IndexExpr head = rank > 2 ? index[rank - 3] : IndexExpr(0);
          at.batch.push_back(IndexExpr::FloorDiv(head, group));
          at.batch.push_back(IndexExpr::Mod(head, group));
          at.block = IndexExpr::FloorDiv(index[rank - 2], rows);
          at.row = IndexExpr::Mod(index[rank - 2], rows);
          at.width = index[rank - 1];
          const Expr scale = builder.ReadTensor(inverse, At(at, kRow));
          Expr y = Expr::Cast(builder.ReadTensor(output, At(at, axes)) * scale, type);
          if (!zero) return y;
          const Expr infinity = Expr::Constant(kInfinity, scale.type());
          return Expr::Select(Expr::Apply(ScalarOp::kEq, {scale, infinity}),
                              Expr::Constant(0.0, type), y);
        });
  }

  LowerContext& context_;
  const Node& node_;
  Lazy q_, k_, v_;
  std::optional<Lazy> mask_;
  Extents extents_;
  DataType type_;
  int64_t rows_ = 1, chunk_ = 1, blocks_ = 1, chunks_ = 1;
  bool skips_ = false;   // hidden chunks are skipped
  bool ends_ = false;    // hidden columns are skipped, too
  bool begins_ = false;  // columns before a window are skipped, too
  TensorId queries_, scores_, maximum_, weights_, decay_, inverse_, output_;
  int output_axes_ = 0;
};

}  // namespace

Result<Lazy> LowerAttention(LowerContext& context, const Node& node) {
  const auto keys = context.TypeOf(node.inputs[1]).Shape();
  if (keys[keys.size() - 2] == 0)
    return context.Constant(0, context.OutputType(node), context.OutputShape(node));
  return AttentionBuilder(context, node).Build();
}

std::vector<StreamingSizes> StreamingSizesOf(const Graph& graph, const Node& node) {
  if (node.op != Op::kAttention) return {};
  const auto shape = [&](size_t operand) { return graph.value(node.inputs[operand]).type.Shape(); };
  const int64_t queries = shape(0)[shape(0).size() - 2];
  const int64_t keys = shape(1)[shape(1).size() - 2];
  // Greatest number of keys for which one chunk of all keys is tried. A whole row of scores is
  // cheaper than carried values, as long as a block of rows fits into the second-level cache. Of a
  // window, only the visible part of a row is written.
  constexpr int64_t kLongestChunk = 1024;
  constexpr int64_t kMostKeysOfWindow = int64_t{1} << 14;
  std::vector<StreamingSizes> candidates;
  if (queries == 0 || keys == 0) return {};
  for (const int64_t rows : {16, 32, 48, 64}) {
    if (rows > 16 && rows >= queries + 16) continue;
    for (const int64_t chunk : {128, 256, 512})
      if (chunk < keys) candidates.push_back({rows, chunk});
    candidates.push_back({rows, keys});
  }
  const auto fits = [&](const StreamingSizes& size, int64_t written) {
    return size.chunk < keys || written <= kLongestChunk;
  };
  std::vector<StreamingSizes> sizes;
  for (const StreamingSizes& size : candidates)
    if (fits(size, keys)) sizes.push_back(size);
  if (!HidesColumns(node)) return sizes;
  const int64_t window = node.Int("window");
  const bool narrow = window > 0 && keys <= kMostKeysOfWindow;
  for (StreamingSizes size : candidates) {
    // `ends` is not tried with one block of rows, nor with a partial last chunk.
    if (size.rows >= queries || keys % size.chunk != 0) continue;
    size.ends = true;
    if (fits(size, narrow ? std::min(keys, size.rows + window) : keys)) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace tunec::lower
