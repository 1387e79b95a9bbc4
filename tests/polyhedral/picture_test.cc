// Tests of the content of pictures of schedules. A picture has the exact points, the dependences by
// type, and the tiles, waves, tasks and order of the points.
#include "polyhedral/explain/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/programs/dependences.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec::test {
namespace {

using Step = std::pair<int64_t, int64_t>;

constexpr std::string_view kTriangle = R"(compute triangle {
  input X: f32[6, 6]
  output Y: f32[6, 6]
  Y.fill[i: 6, j: 6]:
    Y[i, j] = 0.0
  Y[i: 6, j: 6] where i - j >= 0:
    Y[i, j] = X[i, j]
}
)";

constexpr std::string_view kTwoRows = R"(compute two_rows {
  input X: f32[9]
  output Y: f32[9]
  workspace A: f32[2, 9]
  start[b: 2, i: 9]:
    A[b, i] = X[i]
  A[t: 4 sequential, i: 7]:
    A[(t + 1) mod 2, i + 1] = A[t mod 2, i] + A[t mod 2, i + 2]
  Y[i: 9]:
    Y[i] = A[0, i]
}
)";

// Returns a view of a statement. `axes` are the numbers of the drawn iterators. For these, `at` has
// the first values, and for the others the fixed values.
PictureView View(const ScheduleTree& tree, std::string_view statement, const std::vector<int>& axes,
                 std::vector<int64_t> at) {
  return {*tree.FindStatement(statement), {axes.begin(), axes.end()}, std::move(at), {24, 24}};
}

Picture Take(const ScheduleTree& tree, const std::vector<PictureView>& views,
             ReductionOrder order = ReductionOrder::kAny) {
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  auto picture = TakePicture(tree, dependences, views, order);
  EXPECT_TRUE(picture.has_value()) << picture.error().message;
  return picture ? std::move(*picture) : Picture{};
}

// Returns the distances (rows, columns) of the arrows of one type.
std::set<Step> Distances(const Picture& picture, DependenceType type) {
  std::set<Step> distances;
  for (const PictureArrow& arrow : picture.arrows) {
    if (arrow.type != type) continue;
    const PicturePoint& from = picture.panels[arrow.from_panel].points[arrow.from_point];
    const PicturePoint& to = picture.panels[arrow.to_panel].points[arrow.to_point];
    distances.emplace(to.row - from.row, to.column - from.column);
  }
  return distances;
}

bool AllRespected(const Picture& picture) {
  return std::ranges::all_of(picture.arrows, &PictureArrow::respected);
}

// Splits loop `inner` into parts of `size` for a statement: `outer` has the number of the part, and
// `inner` the position in the part. Changes only `forward`.
void Split(ScheduleTree& tree, StatementId statement, VarId outer, VarId inner, int64_t size) {
  const IndexExpr value = tree.forward[statement].at(inner);
  tree.forward[statement][outer] = IndexExpr::FloorDiv(value, size);
  tree.forward[statement][inner] = IndexExpr::Mod(value, size);
}

// Adds a new loop around the loops of a phase.
VarId Surround(ScheduleTree& tree, size_t phase, std::string name, LoopKind kind) {
  const VarId loop = tree.loops.push_back({.name = std::move(name), .extent = 9, .kind = kind});
  TreeNode node{.kind = TreeNode::Kind::kLoop, .loop = loop};
  node.children.push_back(std::move(tree.root.children[phase]));
  tree.root.children[phase] = std::move(node);
  return loop;
}

TEST(Picture, DomainsAreExact) {
  const ScheduleTree tree = OriginalTree(MustParse(kTriangle));
  const Picture picture = Take(tree, {View(tree, "Y", {0, 1}, {0, 0})});
  EXPECT_EQ(picture.panels[0].points.size(), 21u);
  for (const PicturePoint& point : picture.panels[0].points) EXPECT_GE(point.row, point.column);
  EXPECT_EQ(picture.panels[0].tile_levels, 0u);
}

TEST(Picture, PanelsShareTheirArrows) {
  const ScheduleTree tree = OriginalTree(MustParse(kTriangle));
  const Picture picture =
      Take(tree, {View(tree, "Y.fill", {0, 1}, {0, 0}), View(tree, "Y", {0, 1}, {0, 0})});
  EXPECT_EQ(picture.arrows.size(), 21u);
  for (const PictureArrow& arrow : picture.arrows) {
    EXPECT_EQ(arrow.from_panel, 0u);
    EXPECT_EQ(arrow.to_panel, 1u);
    EXPECT_EQ(arrow.type, DependenceType::kOutput);
    EXPECT_TRUE(arrow.respected);
  }
}

TEST(Picture, TypesOfDependences) {
  const ScheduleTree tree = OriginalTree(MustParse(kTwoRows));
  const Picture picture = Take(tree, {View(tree, "A", {0, 1}, {0, 0})});
  EXPECT_EQ(Distances(picture, DependenceType::kFlow), (std::set<Step>{{1, -1}, {1, 1}}));
  // An iteration that overwrites an element depends on the readers of the element. It also reads
  // the results of these readers, so flow dependences are drawn instead of anti dependences.
  EXPECT_EQ(Distances(picture, DependenceType::kAnti), (std::set<Step>{}));
  EXPECT_EQ(Distances(picture, DependenceType::kOutput), (std::set<Step>{{2, 0}}));
  EXPECT_TRUE(AllRespected(picture));
  EXPECT_FALSE(picture.others);
}

TEST(Picture, AntiDependences) {
  const ScheduleTree tree = OriginalTree(MustParse(kReused));
  const Picture picture = Take(tree, {View(tree, "Y", {0}, {0}), View(tree, "b", {0}, {0})});
  EXPECT_EQ(Distances(picture, DependenceType::kAnti), (std::set<Step>{{0, 0}}));
  EXPECT_EQ(picture.arrows.size(), 9u);
}

TEST(Picture, ReductionsAreChains) {
  ScheduleTree tree = OriginalTree(MustParse(ProductText({.rows = 7, .columns = 3, .length = 5})));
  const PictureView view = View(tree, "acc", {0, 2}, {0, 1, 0});
  const Picture picture = Take(tree, {view});
  EXPECT_EQ(Distances(picture, DependenceType::kReduction), (std::set<Step>{{0, 1}}));
  EXPECT_EQ(picture.arrows.size(), 7u * 4u);
  // The reversed order is equally legal, unless sums must be added as written.
  const VarId k = *tree.FindLoop("acc.k");
  tree.forward[view.statement].at(k) = IndexExpr(4) - tree.forward[view.statement].at(k);
  EXPECT_TRUE(AllRespected(Take(tree, {view})));
  EXPECT_FALSE(AllRespected(Take(tree, {view}, ReductionOrder::kAsWritten)));
  tree.loops[k].kind = LoopKind::kVector;
  EXPECT_TRUE(AllRespected(Take(tree, {view})));
  tree.loops[k].kind = LoopKind::kParallel;
  EXPECT_FALSE(AllRespected(Take(tree, {view})));
}

TEST(Picture, ParallelIterationsThatDependOnEachOtherAreViolated) {
  ScheduleTree tree = OriginalTree(MustParse(kTwoRows));
  tree.loops[*tree.FindLoop("A.t")].kind = LoopKind::kParallel;
  const Picture picture = Take(tree, {View(tree, "A", {0, 1}, {0, 0})});
  EXPECT_FALSE(picture.arrows.empty());
  for (const PictureArrow& arrow : picture.arrows) EXPECT_FALSE(arrow.respected);
  EXPECT_TRUE(picture.has_tasks);
}

TEST(Picture, TilesWavesTasksAndSteps) {
  ScheduleTree tree = OriginalTree(MustParse(kTwoRows));
  const StatementId a = *tree.FindStatement("A");
  const VarId t = *tree.FindLoop("A.t"), i = *tree.FindLoop("A.i");
  // Each wave over t has two tasks of three elements, and a last task of one element.
  tree.loops[t].kind = LoopKind::kWave;
  TreeNode& around = *FindLoopNode(tree.root, t);
  TreeNode parts{.kind = TreeNode::Kind::kLoop, .loop = tree.loops.next_id()};
  tree.loops.push_back({.name = "A.i.0", .extent = 3, .kind = LoopKind::kParallel});
  Split(tree, a, parts.loop, i, 3);
  parts.children = std::move(around.children);
  around.children.clear();
  around.children.push_back(std::move(parts));
  const Picture picture = Take(tree, {View(tree, "A", {0, 1}, {0, 0})});
  EXPECT_TRUE(picture.has_waves);
  EXPECT_TRUE(picture.has_tasks);
  EXPECT_EQ(picture.panels[0].tile_levels, 1u);
  for (const PicturePoint& point : picture.panels[0].points) {
    EXPECT_EQ(point.wave, point.row);
    EXPECT_EQ(point.task, 3 * point.row + point.column / 3);
    EXPECT_EQ(point.tiles[0], point.task);
    EXPECT_EQ(point.step, point.column % 3);
  }
  EXPECT_TRUE(AllRespected(picture));
}

TEST(Picture, LanesShareAStep) {
  ScheduleTree tree = OriginalTree(MustParse(kTwoRows));
  tree.loops[*tree.FindLoop("A.i")].kind = LoopKind::kVector;
  const Picture picture = Take(tree, {View(tree, "A", {0, 1}, {0, 0})});
  EXPECT_TRUE(picture.has_vectors);
  for (const PicturePoint& point : picture.panels[0].points) EXPECT_EQ(point.step, point.row);
}

TEST(Picture, RowsOfPlainLoopsAreNoTiles) {
  ScheduleTree tree = OriginalTree(MustParse(kTwoRows));
  EXPECT_EQ(Take(tree, {View(tree, "start", {0, 1}, {0, 0})}).panels[0].tile_levels, 0u);
  const StatementId start = *tree.FindStatement("start");
  const VarId bands = Surround(tree, 0, "start.i.0", LoopKind::kSerial);
  Split(tree, start, bands, *tree.FindLoop("start.i"), 4);
  const Picture picture = Take(tree, {View(tree, "start", {0, 1}, {0, 0})});
  ASSERT_EQ(picture.panels[0].tile_levels, 1u);
  for (const PicturePoint& point : picture.panels[0].points)
    EXPECT_EQ(point.tiles[0], point.column / 4);
}

TEST(Picture, SlicesSayThatOthersDependOnThem) {
  const ScheduleTree tree = OriginalTree(MustParse(kSeidel));
  EXPECT_TRUE(Take(tree, {View(tree, "A", {1}, {2, 0})}).others);
  EXPECT_FALSE(Take(tree, {View(tree, "A", {0, 1}, {0, 0})}).others);
}

TEST(Picture, RunsOfAStageShareNoStorage) {
  ScheduleTree tree = OriginalTree(MustParse(R"(compute rewritten {
  input X: f32[4, 5]
  output Y: f32[5]
  workspace row: f32[5]
  row[t: 4 sequential, i: 5]:
    row[i] = X[t, i]
  Y[i: 5]:
    Y[i] = X[0, i]
}
)"));
  const PictureView view = View(tree, "row", {0, 1}, {0, 0});
  EXPECT_EQ(Distances(Take(tree, {view}), DependenceType::kOutput), (std::set<Step>{{1, 0}}));
  TreeNode& around = *FindLoopNode(tree.root, *tree.FindLoop("row.t"));
  TreeNode stage{.kind = TreeNode::Kind::kAlloc, .tensor = *tree.FindTensor("row")};
  stage.children = std::move(around.children);
  around.children = {std::move(stage)};
  EXPECT_TRUE(Take(tree, {view}).arrows.empty());
}

TEST(Picture, CropsAndRejects) {
  const ScheduleTree tree = OriginalTree(MustParse(kTriangle));
  PictureView view = View(tree, "Y", {0, 1}, {2, 1});
  view.sizes = {2, 3};
  const Picture picture = Take(tree, {view});
  EXPECT_EQ(picture.panels[0].box.ranges, (std::vector<Interval>{{2, 3}, {1, 3}}));
  EXPECT_EQ(picture.panels[0].points.size(), 2u + 3u);
  view.at = {0, 3};
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  const auto empty = TakePicture(tree, dependences, {view}, ReductionOrder::kAny);
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().message, "statement Y has no instance in the slice drawn");
}

TEST(Dependences, TooManyPairsAreRejected) {
  const ScheduleTree tree = OriginalTree(MustParse(kTwoRows));
  const Dependences dependences = Dependences::Of(tree.tensors, tree.statements);
  const InstanceBox all{*tree.FindStatement("A"), {{0, 3}, {0, 6}}};
  const auto pairs = PairsBetween(dependences, all, all, 10);
  ASSERT_FALSE(pairs.has_value());
  EXPECT_EQ(pairs.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(pairs.error().message,
            "more than 10 pairs of instances depend on each other: take fewer instances");
}

}  // namespace
}  // namespace tunec::test
