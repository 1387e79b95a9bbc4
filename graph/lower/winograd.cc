// Lowering of 3x3 convolutions by Winograd's F(m x m, 3 x 3). Tiles of 2x2 outputs take 16 products
// for each pair of channels, where the definition takes 36. Tiles of 4x4 take 36 instead of 144.
//
//   filter[t, ic, m] = (G g Gt)[t]                        of constants: computed once
//   patch[t, n, p, ic] = (Bt d B)[t]                       d: inputs, 0 outside of the image
//   acc[t, n, p, m] sum= patch[t, n, p, ic] * filter[t, ic, m]
//   back[n, p, m, dy, dx] = (At acc A)[dy, dx]
//
// Tile p has the outputs T*floor(p/TW) + dy, T*(p mod TW) + dx. T is 2 or 4, and TW is the number
// of tiles along a row of the output. If the output ends within a tile, the complete tile is
// computed, and only the part within the output is used.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/lower/lower_node.h"
#include "graph/lower/window.h"
#include "graph/lower/winograd_tile.h"

namespace tunec::lower {
namespace {

constexpr int64_t kKernel = 3;          // elements of a filter along an axis
constexpr int64_t kFewestChannels = 8;  // with fewer channels the transforms save nothing
constexpr int64_t kFewestOutputs = 2;   // along an axis

std::vector<Expr> Flat(const Exprs& elements) {
  std::vector<Expr> flat;
  for (const std::vector<Expr>& row : elements) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

Expr ReadStored(StatementBuilder& builder, TensorId tensor, Index index) {
  return builder.ReadTensor(tensor, std::move(index));
}

// The lowering of one convolution by Winograd's tiles.
class WinogradConv {
 public:
  WinogradConv(LowerContext& context, const Node& node, const WinogradTile& tile)
      : context_(context),
        tile_(tile),
        shape_(context.OutputShape(node)),
        x_(context.OperandInput(node, 0)),
        w_(context.OperandInput(node, 1)),
        axes_(WindowAxes(node, x_.shape, shape_, {kKernel, kKernel})),
        across_(CeilDivide(shape_[3], tile.outputs)),
        tiles_(CeilDivide(shape_[2], tile.outputs) * across_) {}

  Lazy Lower() {
    const TensorId filter = Filter();
    const TensorId products = Products(Patches(), filter);
    const TensorId back = Back(products);
    context_.SetAnchor(OutputSpace());
    return context_.Define(
        DataType::kF32, shape_, context_.Stored(back, DataType::kF32).cost,
        [back, across = across_, m = tile_.outputs](StatementBuilder& builder, const Index& index) {
          const IndexExpr tile =
              IndexExpr::FloorDiv(index[2], m) * across + IndexExpr::FloorDiv(index[3], m);
          return ReadStored(
              builder, back,
              {index[0], tile, index[1], IndexExpr::Mod(index[2], m), IndexExpr::Mod(index[3], m)});
        });
  }

 private:
  int64_t Batch() const { return shape_[0]; }
  int64_t Inputs() const { return w_.shape[1]; }
  int64_t Outputs() const { return w_.shape[0]; }
  // Returns the row of a tile's first output.
  IndexExpr Top(const IndexExpr& p) const {
    return IndexExpr::FloorDiv(p, across_) * tile_.outputs;
  }
  IndexExpr Left(const IndexExpr& p) const { return IndexExpr::Mod(p, across_) * tile_.outputs; }

  static IndexExpr Iterate(StatementBuilder& builder, const char* name, int64_t extent) {
    return builder.AddIterator(name, extent, IteratorKind::kParallel);
  }
  TensorId Workspace(const char* name, std::vector<int64_t> shape) {
    return context_.AddWorkspace(name, DataType::kF32, std::move(shape));
  }
  // Emits a statement that writes each value to a separate plane of the tensor.
  void EmitPlanes(StatementBuilder builder, TensorId tensor, const Index& index,
                  std::vector<Expr> values) {
    std::vector<Write> writes;
    for (size_t t = 0; t < values.size(); ++t) {
      Write& write = writes.emplace_back(Write{tensor, {IndexExpr(static_cast<int64_t>(t))}});
      write.index.insert(write.index.end(), index.begin(), index.end());
    }
    context_.Emit(std::move(builder).Build(context_.tensor(tensor).name, std::move(writes),
                                           std::move(values), std::nullopt));
  }

  TensorId Filter() {
    const TensorId filter = Workspace("filter", {tile_.Products(), Inputs(), Outputs()});
    context_.SetConstant(filter);
    StatementBuilder builder = context_.NewStatement();
    const IndexExpr m = Iterate(builder, "m", Outputs());
    const IndexExpr ic = Iterate(builder, "ic", Inputs());
    // If float32 would round the factors, the filter is transformed in float64. Float64 costs
    // little, because the filter is transformed only once.
    const DataType type = IsExactInFloat32(tile_.filter) ? DataType::kF32 : DataType::kF64;
    Exprs g(kKernel);
    for (int64_t i = 0; i < kKernel; ++i)
      for (int64_t j = 0; j < kKernel; ++j)
        g[i].push_back(Expr::Cast(w_.At(builder, {m, ic, i, j}), type));
    std::vector<Expr> planes = Flat(TransformBothSides(tile_.filter, g));
    for (Expr& plane : planes) plane = Expr::Cast(plane, DataType::kF32);
    EmitPlanes(std::move(builder), filter, {ic, m}, std::move(planes));
    return filter;
  }

  TensorId Patches() {
    const TensorId patch = Workspace("patch", {tile_.Products(), Batch(), tiles_, Inputs()});
    StatementBuilder builder = context_.NewStatement();
    const IndexExpr n = Iterate(builder, "n", Batch());
    const IndexExpr p = Iterate(builder, "p", tiles_);
    const IndexExpr ic = Iterate(builder, "ic", Inputs());
    Exprs d(tile_.Patch());
    for (int64_t i = 0; i < tile_.Patch(); ++i) {
      for (int64_t j = 0; j < tile_.Patch(); ++j) {
        const IndexExpr h = Top(p) + (i - axes_[0].pad);
        const IndexExpr w = Left(p) + (j - axes_[1].pad);
        Padding padding{.some_window_empty = true};
        for (const auto& [axis, at] : {std::pair(axes_[0], h), std::pair(axes_[1], w)})
          for (const IndexExpr& condition : ConditionsInside(axis, at))
            padding.inside.push_back(condition);
        d[i].push_back(ReadPadded(builder, x_, {n, ic, h, w}, padding));
      }
    }
    std::vector<Expr> planes = Flat(TransformBothSides(tile_.input, d));
    EmitPlanes(std::move(builder), patch, {n, p, ic}, std::move(planes));
    return patch;
  }

  TensorId Products(TensorId patch, TensorId filter) {
    const TensorId acc = Workspace("acc", {tile_.Products(), Batch(), tiles_, Outputs()});
    StatementBuilder builder = context_.NewStatement();
    const IndexExpr t = Iterate(builder, "t", tile_.Products());
    const IndexExpr n = Iterate(builder, "n", Batch());
    const IndexExpr p = Iterate(builder, "p", tiles_);
    const IndexExpr m = Iterate(builder, "m", Outputs());
    const IndexExpr ic = builder.AddReduction("ic", Inputs());
    const Expr input = ReadStored(builder, patch, {t, n, p, ic});
    const Expr product = input * ReadStored(builder, filter, {t, ic, m});
    context_.EmitReduction(std::move(builder), acc, {t, n, p, m}, product,
                           Reducer::Sum(DataType::kF32), DataType::kF32);
    return acc;
  }

  TensorId Back(TensorId products) {
    const TensorId back =
        Workspace("back", {Batch(), tiles_, Outputs(), tile_.outputs, tile_.outputs});
    StatementBuilder builder = context_.NewStatement();
    const IndexExpr n = Iterate(builder, "n", Batch());
    const IndexExpr p = Iterate(builder, "p", tiles_);
    const IndexExpr m = Iterate(builder, "m", Outputs());
    Exprs sums(tile_.Patch());
    for (int64_t i = 0; i < tile_.Patch(); ++i)
      for (int64_t j = 0; j < tile_.Patch(); ++j)
        sums[i].push_back(ReadStored(builder, products, {i * tile_.Patch() + j, n, p, m}));
    const Exprs outputs = TransformBothSides(tile_.output, sums);
    std::vector<Write> writes;
    for (int64_t dy = 0; dy < tile_.outputs; ++dy)
      for (int64_t dx = 0; dx < tile_.outputs; ++dx) writes.push_back({back, {n, p, m, dy, dx}});
    context_.Emit(std::move(builder).Build(context_.tensor(back).name, std::move(writes),
                                           Flat(outputs), std::nullopt));
    return back;
  }

  // Returns the iteration space for later statements. It iterates over the tiles, and over the
  // outputs of each tile.
  IterationSpace OutputSpace() const {
    IterationSpace space{.iterators = {}, .index = {}, .shape = shape_};
    const auto add = [&](const char* name, int64_t extent) {
      return IndexExpr::Var(space.iterators.push_back({name, extent, IteratorKind::kParallel}));
    };
    const IndexExpr n = add("n", Batch());
    const IndexExpr p = add("p", tiles_);
    const IndexExpr m = add("m", Outputs());
    const IndexExpr dy = add("dy", tile_.outputs);
    const IndexExpr dx = add("dx", tile_.outputs);
    const IndexExpr h = Top(p) + dy;
    const IndexExpr w = Left(p) + dx;
    space.index = {n, m, h, w};
    if (shape_[2] % tile_.outputs != 0) space.domain.push_back(IndexExpr(shape_[2] - 1) - h);
    if (shape_[3] % tile_.outputs != 0) space.domain.push_back(IndexExpr(shape_[3] - 1) - w);
    return space;
  }

  LowerContext& context_;
  const WinogradTile& tile_;
  std::vector<int64_t> shape_;
  Lazy x_;
  Lazy w_;
  std::vector<WindowAxis> axes_;
  int64_t across_;  // tiles per row
  int64_t tiles_;   // tiles per image
};

bool AllAre(const std::vector<int64_t>& list, int64_t value) {
  return std::ranges::all_of(list, [&](int64_t v) { return v == value; });
}

}  // namespace

bool HasWinogradVariant(const Graph& graph, const Node& node) {
  if (node.op != Op::kConv || node.Int("group") != 1) return false;
  const auto type = [&](ValueId value) { return graph.value(value).type; };
  for (const ValueId value : {node.inputs[0], node.inputs[1], node.outputs[0]})
    if (type(value).type != DataType::kF32) return false;
  // A filter that changes in each run would have to be transformed in each run.
  if (graph.ConstantOf(node.inputs[1]) == nullptr) return false;
  const std::vector<int64_t> filter = type(node.inputs[1]).Shape();
  const std::vector<int64_t> output = type(node.outputs[0]).Shape();
  const bool square = filter.size() == 4 && filter[2] == kKernel && filter[3] == kKernel;
  return square && std::min(filter[0], filter[1]) >= kFewestChannels &&
         AllAre(node.Ints("strides"), 1) && AllAre(node.Ints("dilations"), 1) && output[0] > 0 &&
         output[2] >= kFewestOutputs && output[3] >= kFewestOutputs;
}

Lazy LowerWinogradConv(LowerContext& context, const Node& node) {
  const WinogradTile& tile = context.variant() == Variant::kWinograd4 ? TileOfFour() : TileOfTwo();
  return AddBias(context, node, WinogradConv(context, node, tile).Lower());
}

}  // namespace tunec::lower
