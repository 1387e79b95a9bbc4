#include <gmock/gmock.h>

#include "graph/cost/fuse_cost.h"
#include "graph/passes/image_order.h"
#include "graph/passes/pipeline.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

constexpr FusionMachine kMachine;

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Returns one text for each group: the names of its operators, separated by spaces.
std::vector<std::string> Groups(const Graph& graph, FusionMode mode = FusionMode::kFused) {
  const auto groups = Fuse(graph, mode);
  EXPECT_TRUE(groups) << groups.error().Format();
  std::vector<std::string> texts;
  for (const FusionGroup& group : *groups) {
    std::string text;
    for (const NodeId id : group.nodes)
      text += (text.empty() ? "" : " ") + std::string(Name(graph.node(id).op));
    texts.push_back(text);
  }
  return texts;
}

// Returns the reason of the last edge into this operand of a node with this operator. If there is
// no such edge, fails the test and returns kOpaque.
FusionReason ReasonInto(const Graph& graph, Op op, size_t operand = 0) {
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  std::vector<FusionReason> reasons;
  int32_t last = -1;
  for (const FusionEdge& edge : plan->edges) {
    const Node& node = graph.node(edge.consumer);
    if (node.op != op || node.inputs[operand] != edge.value || edge.consumer.index < last) continue;
    last = edge.consumer.index;
    reasons = {edge.reason};
  }
  EXPECT_EQ(reasons.size(), 1U);
  return reasons.empty() ? FusionReason::kOpaque : reasons[0];
}

TEST(Fuse, UnfusedIsEveryNodeAlone) {
  SampleGraph g("g");
  const ValueId x = g(Op::kTranspose, {g.Input({2, 3})}, {{"perm", Ints{1, 0}}});
  const Graph graph = g.Build({g(Op::kExp, {g(Op::kNeg, {x})})});
  EXPECT_THAT(Groups(graph, FusionMode::kUnfused), ElementsAre("transpose", "neg", "exp"));
  EXPECT_THAT(Groups(graph), ElementsAre("transpose neg exp"));
}

// A scatter's data and result are stored, so that the result can be written over the data. Indices
// and updates are computed inside the group.
TEST(Fuse, ScatterWritesOverStoredData) {
  SampleGraph g("g");
  const ValueId data = g(Op::kExp, {g.Input({4, 5})});
  const ValueId at = g(Op::kAdd, {g.Input({3, 1}, DataType::kI64), g.Scalar(1, DataType::kI64)});
  const ValueId updates = g(Op::kTranspose, {g.Input({5, 3})}, {{"perm", Ints{1, 0}}});
  const ValueId y = g(Op::kScatter, {data, at, g(Op::kNeg, {updates})});
  const Graph graph = g.Build({g(Op::kReshape, {g(Op::kRelu, {y})}, {{"shape", Ints{20}}})});
  EXPECT_EQ(ReasonInto(graph, Op::kScatter, 0), FusionReason::kWrittenOver);
  EXPECT_EQ(ReasonInto(graph, Op::kScatter, 1), FusionReason::kUpdates);
  EXPECT_EQ(ReasonInto(graph, Op::kScatter, 2), FusionReason::kUpdates);
  EXPECT_EQ(ReasonInto(graph, Op::kRelu), FusionReason::kWrittenOver);
}

// Both branches end in a contraction. The addition is fused with the later contraction.
TEST(Fuse, ResidualJoinsTheLaterConvolution) {
  SampleGraph g("g");
  const ValueId x = g.Input({1, 4, 5, 5});
  const ValueId a = g(Op::kConv, {x, g.Weight({4, 4, 1, 1})});
  const ValueId b = g(Op::kConv, {g(Op::kRelu, {g(Op::kConv, {x, g.Weight({4, 4, 1, 1})})}),
                                  g.Weight({4, 4, 1, 1})});
  const Graph graph = g.Build({g(Op::kRelu, {g(Op::kAdd, {a, b})})});
  EXPECT_THAT(Groups(graph), ElementsAre("conv", "conv relu", "conv add relu"));
  EXPECT_EQ(ReasonInto(graph, Op::kAdd, 0), FusionReason::kTwoContractions);
  EXPECT_EQ(ReasonInto(graph, Op::kAdd, 1), FusionReason::kEpilogue);
}

void SetChannelsLast(SampleGraph& g, const Ints& shape, const std::vector<ValueId>& values) {
  for (const ValueId v : values) {
    g.SetLayout(v, MakeLayout(ImageOrder::kChannelsLast, shape, shape[1]));
  }
}

struct Separable {
  Attributes depthwise = {{"group", int64_t{16}}, {"pads", Ints{1, 1, 1, 1}}};
  Attributes pointwise;
  Ints weight = {16, 1, 3, 3};
};

// Returns a graph of conv, relu, conv, relu. All its images are channels-last.
Graph SeparableGraph(const Separable& s, int64_t outputs = 24) {
  SampleGraph g("g");
  const ValueId x = g.Input({1, 16, 12, 14});
  const ValueId d = g(Op::kConv, {x, g.Weight(s.weight), g.Weight({16})}, s.depthwise);
  const ValueId r = g(Op::kRelu, {d});
  const ValueId y =
      g(Op::kConv, {r, g.Weight({outputs, 16, 1, 1}), g.Weight({outputs})}, s.pointwise);
  const ValueId z = g(Op::kRelu, {y});
  const int64_t stride = s.depthwise.contains("strides") ? 2 : 1;
  const int64_t last = s.pointwise.contains("strides") ? 2 : 1;
  SetChannelsLast(g, {1, 16, 12, 14}, {x});
  SetChannelsLast(g, {1, 16, 12 / stride, 14 / stride}, {d, r});
  SetChannelsLast(g, {1, outputs, 12 / stride / last, 14 / stride / last}, {y, z});
  return g.Build({z});
}

// A depthwise convolution is computed in the tasks of the following pointwise convolution.
TEST(Fuse, DepthwiseJoinsPointwise) {
  Separable strided;
  strided.depthwise["strides"] = Ints{2, 2};
  for (const Separable& s : {Separable(), strided}) {
    const Graph graph = SeparableGraph(s);
    EXPECT_THAT(Groups(graph), ElementsAre("conv relu conv relu"));
    const auto lowerings = Lower(graph, PlanFusion(graph, FusionMode::kFused)->groups[0]);
    EXPECT_EQ(lowerings->back().compute.statements.size(), 4U);
    ExpectSameAsReference(graph);
  }
}

TEST(Fuse, OtherContractionsStayApart) {
  const auto reason = [](const Graph& graph) { return ReasonInto(graph, Op::kConv); };
  Separable grouped;
  grouped.depthwise["group"] = int64_t{8};
  grouped.weight = {16, 2, 3, 3};
  EXPECT_EQ(reason(SeparableGraph(grouped)), FusionReason::kTwoContractions);
  Separable strided;
  strided.pointwise["strides"] = Ints{2, 2};
  EXPECT_EQ(reason(SeparableGraph(strided)), FusionReason::kTwoContractions);
  // Each core would read too many weights.
  EXPECT_EQ(reason(SeparableGraph({}, 2000)), FusionReason::kCostsMore);
  SampleGraph g("planes");
  const ValueId d =
      g(Op::kConv, {g.Input({1, 16, 12, 14}), g.Weight({16, 1, 3, 3})}, Separable().depthwise);
  EXPECT_EQ(reason(g.Build({g(Op::kConv, {d, g.Weight({24, 16, 1, 1})})})),
            FusionReason::kOperandOrder);
}

// A kernel contains at most two contractions. The next depthwise convolution needs results of
// neighbouring tasks.
TEST(Fuse, ChainsEndWithAProduct) {
  SampleGraph g("g");
  const Separable s;
  const ValueId x = g.Input({1, 16, 12, 14});
  const ValueId a = g(Op::kConv, {x, g.Weight(s.weight)}, s.depthwise);
  const ValueId b = g(Op::kConv, {a, g.Weight({16, 16, 1, 1})});
  const ValueId c = g(Op::kConv, {b, g.Weight({16, 16, 1, 1})});
  const ValueId d = g(Op::kConv, {c, g.Weight(s.weight)}, s.depthwise);
  SetChannelsLast(g, {1, 16, 12, 14}, {x, a, b, c, d});
  const Graph graph = g.Build({d});
  EXPECT_THAT(Groups(graph), ElementsAre("conv conv", "conv", "conv"));
  ExpectSameAsReference(graph);
  FusionMachine no_chains;
  no_chains.chains = false;
  EXPECT_EQ(PlanFusion(graph, FusionMode::kFused, no_chains)->groups.size(), 4U);
}

TEST(Fuse, WindowsReadStoredValues) {
  SampleGraph g("g");
  const ValueId x = g(Op::kExp, {g.Input({1, 4, 5, 5})});
  const Graph graph = g.Build({g(Op::kConv, {x, g.Weight({4, 4, 3, 3})})});
  EXPECT_THAT(Groups(graph), ElementsAre("exp", "conv"));
  EXPECT_EQ(ReasonInto(graph, Op::kConv), FusionReason::kContractionOperand);
}

// The first operand is computed block by block into a buffer, and not stored elsewhere.
TEST(Fuse, ContractionsComputeTheirOperand) {
  SampleGraph g("g");
  const ValueId x = g(Op::kGelu, {g.Input({2, 70, 37})}, {{"approximate", "tanh"}});
  const Graph graph = g.Build({g(Op::kRelu, {g(Op::kMatmul, {x, g.Weight({37, 29})})})});
  EXPECT_THAT(Groups(graph), ElementsAre("gelu matmul relu"));
  EXPECT_EQ(ReasonInto(graph, Op::kMatmul), FusionReason::kOperandPrologue);
  const auto lowerings = Lower(graph, PlanFusion(graph, FusionMode::kFused)->groups[0]);
  const Compute& compute = lowerings->at(0).compute;
  ASSERT_EQ(compute.statements.size(), 3U);
  EXPECT_EQ(compute.statements[StatementId(0)].name, "operand");
  EXPECT_EQ(compute.tensors[compute.statements[StatementId(0)].writes[0].tensor].shape,
            (Ints{2, 70, 37}));
  ExpectSameAsReference(graph);
}

// A stride of 2 skips elements. Each remaining element is computed once.
TEST(Fuse, PointwiseConvolutionsComputeTheirOperand) {
  for (const int64_t stride : {1, 2}) {
    SampleGraph g("g");
    const ValueId x = g.Input({1, 8, 12, 14});
    const ValueId scaled = g(Op::kMul, {x, g.Weight({8, 1, 1})});
    const ValueId r = g(Op::kRelu, {g(Op::kAdd, {scaled, g.Weight({8, 1, 1})})});
    const ValueId y =
        g(Op::kConv, {r, g.Weight({24, 8, 1, 1})}, {{"strides", Ints{stride, stride}}});
    for (const ValueId v : {x, scaled, r, y})
      g.SetLayout(
          v, MakeLayout(ImageOrder::kChannelsLast,
                        v == y ? Ints{1, 24, 12 / stride, 14 / stride} : Ints{1, 8, 12, 14}, 8));
    const Graph graph = g.Build({y});
    EXPECT_THAT(Groups(graph), ElementsAre("mul add relu conv"));
    ExpectSameAsReference(graph);
  }
}

// With channels first, the terms of each sum would be far apart in memory. If a product of one row
// computed its operand, the product would have only one task.
TEST(Fuse, OperandsThatStayStored) {
  SampleGraph g("g");
  const ValueId x = g(Op::kRelu, {g.Input({1, 8, 12, 14})});
  const Graph planes = g.Build({g(Op::kConv, {x, g.Weight({24, 8, 1, 1})})});
  EXPECT_EQ(ReasonInto(planes, Op::kConv), FusionReason::kOperandOrder);
  SampleGraph h("h");
  const ValueId row = h(Op::kRelu, {h.Input({1, 512})});
  const Graph vector = h.Build({h(Op::kMatmul, {row, h.Weight({512, 640})})});
  EXPECT_EQ(ReasonInto(vector, Op::kMatmul), FusionReason::kCostsMore);
}

TEST(Fuse, IndexMapsBeforeContractionsStayAffine) {
  for (const bool merges : {false, true}) {
    SampleGraph g("g");
    const ValueId x = g.Input(merges ? Ints{5, 2, 3} : Ints{2, 15});
    const ValueId r = g(Op::kReshape, {x}, {{"shape", merges ? Ints{5, 6} : Ints{2, 5, 3}}});
    const ValueId w = g.Weight(merges ? Ints{6, 2} : Ints{3, 2});
    const Graph graph = g.Build({g(Op::kMatmul, {r, w})});
    EXPECT_THAT(Groups(graph), ElementsAre(merges ? "matmul" : "reshape matmul"));
    EXPECT_EQ(ReasonInto(graph, Op::kMatmul),
              merges ? FusionReason::kReadInPlace : FusionReason::kIndexMap);
    ExpectSameAsReference(graph);
  }
}

// If tanh and the addition were fused, the group and the matmul would wait for each other.
TEST(Fuse, NeverACycle) {
  SampleGraph g("g");
  const ValueId x = g(Op::kTanh, {g.Input({4, 4})});
  const ValueId m = g(Op::kMatmul, {x, g.Weight({4, 4})});
  const ValueId s = g(Op::kSoftmax, {m});
  const Graph graph = g.Build({g(Op::kAdd, {x, s}), x});
  EXPECT_THAT(Groups(graph), ElementsAre("tanh", "matmul", "softmax add"));
  EXPECT_EQ(ReasonInto(graph, Op::kAdd, 0), FusionReason::kCycle);
  ExpectSameAsReference(graph);
}

TEST(Fuse, PrimitiveSoftmaxIsOneKernel) {
  SampleGraph g("g");
  const ValueId x = g.Input({3, 8});
  const Attributes last = {{"axes", Ints{1}}};
  const ValueId e = g(Op::kExp, {g(Op::kSub, {x, g(Op::kReduceMax, {x}, last)})});
  const Graph graph = g.Build({g(Op::kDiv, {e, g(Op::kReduceSum, {e}, last)})});
  EXPECT_THAT(Groups(graph), ElementsAre("reduce_max sub exp reduce_sum div"));
  ExpectSameAsReference(graph);
}

// Returns the first edge into a node of this operator. If there is none, fails the test and returns
// an empty edge.
FusionEdge EdgeInto(const Graph& graph, Op op) {
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  for (const FusionEdge& edge : plan->edges)
    if (graph.node(edge.consumer).op == op) return edge;
  ADD_FAILURE() << "no edge into " << Name(op);
  return {};
}

// If fused, overlapping windows recompute shared elements. This is worthwhile for cheap arithmetic,
// but not for an expensive function such as erf. Windows that tile their input read each element
// once.
TEST(Fuse, CostDecidesWhatWindowsComputeAgain) {
  const auto network = [](Op op, int64_t kernel, int64_t stride) {
    SampleGraph g("g");
    const ValueId x = g(op, {g.Input({1, 8, 64, 64})});
    return g.Build({g(Op::kMaxPool, {x},
                      {{"kernel", Ints{kernel, kernel}}, {"strides", Ints{stride, stride}}})});
  };
  EXPECT_THAT(Groups(network(Op::kRelu, 3, 2)), ElementsAre("relu max_pool"));
  EXPECT_THAT(Groups(network(Op::kErf, 2, 2)), ElementsAre("erf max_pool"));
  const Graph apart = network(Op::kErf, 5, 1);
  EXPECT_THAT(Groups(apart), ElementsAre("erf", "max_pool"));
  const FusionEdge edge = EdgeInto(apart, Op::kMaxPool);
  EXPECT_EQ(edge.reason, FusionReason::kCostsMore);
  EXPECT_NEAR(edge.cost.times_computed, 25, 4);
  EXPECT_LT(SecondsSaved(edge.cost, kMachine), 0);
  for (const Graph& graph : {network(Op::kRelu, 3, 2), network(Op::kErf, 2, 2)})
    ExpectSameAsReference(graph);
}

// If many rows read one row, storing tanh of this row is cheaper than computing tanh for each row.
TEST(Fuse, CostDecidesWhatIsSpread) {
  for (const bool large : {false, true}) {
    SampleGraph g("g");
    const ValueId row = g(Op::kTanh, {g.Input({1, 64})});
    const Graph graph = g.Build({g(Op::kAdd, {row, g.Input({large ? 1024 : 4, 64})})});
    EXPECT_EQ(Groups(graph).size(), large ? 2U : 1U);
    EXPECT_EQ(EdgeInto(graph, Op::kAdd).reason,
              large ? FusionReason::kCostsMore : FusionReason::kElementwiseChain);
    ExpectSameAsReference(graph);
  }
}

// If launching a kernel is expensive, recomputing more in fewer kernels is worthwhile.
TEST(Fuse, TheMachineDecides) {
  SampleGraph g("g");
  const ValueId row = g(Op::kTanh, {g.Input({1, 64})});
  const Graph graph = g.Build({g(Op::kAdd, {row, g.Input({1024, 64})})});
  for (const double launch : {2e-6, 1e-3}) {
    const FusionMachine machine{.launch_seconds = launch};
    const auto plan = PlanFusion(graph, FusionMode::kFused, machine);
    EXPECT_EQ(plan->groups.size(), launch < 1e-4 ? 2U : 1U);
    EXPECT_EQ(plan->machine.launch_seconds, launch);
    for (const FusionGroup& group : plan->groups)
      EXPECT_TRUE(Lower(graph, group, machine, Transforms::kAll));
  }
}

// FusionMachineOf uses the vector width of a CPU, but not the number of cores.
TEST(Fuse, ACpuIsWeighedByItsVectors) {
  EXPECT_EQ(FusionMachineOf({.host = {.vector_bits = 512}}).vector_lanes, 16);
  EXPECT_EQ(FusionMachineOf({.host = {.vector_bits = 256}}).vector_lanes, 8);
  EXPECT_EQ(FusionMachineOf({.host = {.cores = 64}}).cores, FusionMachine().cores);
}

// A schedule of a device has a key without the device's host, so the host must not affect the
// groups.
TEST(Fuse, ADeviceIsNotWeighedByItsHost) {
  Target target{.device = Accelerator{.kind = "cuda", .name = "sm_90a", .processors = 132}};
  EXPECT_EQ(FusionMachineOf(target).cores, 132);
  const int64_t lanes = FusionMachineOf(target).vector_lanes;
  target.host.vector_bits = 128;
  EXPECT_EQ(FusionMachineOf(target).vector_lanes, lanes);
}

// The slice reads only a part of the value, so only this part is computed.
TEST(Fuse, OnlyWhatIsReadIsComputed) {
  SampleGraph g("g");
  const ValueId x = g(Op::kErf, {g.Input({64, 64})});
  const ValueId s =
      g(Op::kSlice, {x}, {{"starts", Ints{0, 0}}, {"ends", Ints{16, 64}}, {"steps", Ints{1, 1}}});
  const Graph graph = g.Build({s});
  const FusionEdge edge = EdgeInto(graph, Op::kSlice);
  EXPECT_EQ(edge.reason, FusionReason::kIndexMap);
  EXPECT_DOUBLE_EQ(edge.cost.times_computed, 0.25);
  EXPECT_LT(edge.cost.operations_added, 0);
  ExpectSameAsReference(graph);
}

// The softmax of one row is one task. Then work that all cores can do stays in a separate kernel.
TEST(Fuse, CostDecidesWhatWouldWaitForOneTask) {
  for (const int64_t rows : {int64_t{1}, int64_t{64}}) {
    SampleGraph g("g");
    const ValueId x = g(Op::kErf, {g.Input({rows, 1 << 17})});
    const Graph graph = g.Build({g(Op::kSoftmax, {x}, {{"axis", int64_t{1}}})});
    EXPECT_EQ(Groups(graph).size(), rows == 1 ? 2U : 1U);
  }
}

// Channels of a grouped convolution are stored in the order of the shuffle, because the convolution
// iterates over groups and channels separately. Without groups, or with other groups, the store
// would not be affine.
TEST(Fuse, ShufflesMoveTheStore) {
  for (const int64_t groups : {3, 2, 1}) {
    SampleGraph g("g");
    const ValueId c = g(Op::kConv, {g.Input({1, 6, 5, 7}), g.Weight({12, 6 / groups, 1, 1})},
                        {{"group", groups}});
    const ValueId split = g(Op::kReshape, {g(Op::kRelu, {c})}, {{"shape", Ints{1, 3, 4, 5, 7}}});
    const ValueId mixed = g(Op::kTranspose, {split}, {{"perm", Ints{0, 2, 1, 3, 4}}});
    const ValueId shuffled = g(Op::kReshape, {mixed}, {{"shape", Ints{1, 12, 5, 7}}});
    const Graph graph = g.Build({g(Op::kConv, {shuffled, g.Weight({12, 1, 3, 3})},
                                   {{"group", int64_t{12}}, {"pads", Ints{1, 1, 1, 1}}})});
    EXPECT_EQ(Groups(graph)[0], groups == 3 ? "conv relu reshape transpose reshape" : "conv relu");
    ExpectSameAsReference(graph);
  }
}

// Three readers that cannot share a kernel each compute a cheap sum. An expensive value is stored.
TEST(Fuse, CheapValuesAreComputedInEachReader) {
  for (const Op op : {Op::kAdd, Op::kPow}) {
    SampleGraph g("g");
    const ValueId x = g.Input({128, 64});
    const ValueId sum = g(op, {x, g.Weight({64})});
    const Attributes rows = {{"axes", Ints{1}}};
    const Attributes columns = {{"axes", Ints{0}}};
    const ValueId m = g(Op::kMatmul, {x, g.Weight({64, 64})});
    const Graph graph = g.Build(
        {g(Op::kReduceMax, {sum}, rows), g(Op::kReduceMax, {sum}, columns), g(Op::kSub, {m, sum})});
    EXPECT_EQ(Groups(graph).size(), op == Op::kAdd ? 3U : 4U);
    EXPECT_EQ(EdgeInto(graph, Op::kReduceMax).reason,
              op == Op::kAdd ? FusionReason::kRecomputed : FusionReason::kCostsMore);
    ExpectSameAsReference(graph);
  }
}

// Values that do not fit into registers go through memory. Therefore the values that are live at
// once are counted.
TEST(Fuse, LiveValuesOfABody) {
  SampleGraph g("g");
  const ValueId x = g.Input({8});
  const ValueId a = g(Op::kExp, {x});
  const ValueId b = g(Op::kNeg, {x});
  const ValueId c = g(Op::kAdd, {a, b});
  const Graph graph = g.Build({g(Op::kMul, {c, g.Scalar(2)})});
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  ASSERT_EQ(plan->groups.size(), 1U);
  EXPECT_EQ(LiveValues(graph, plan->groups[0].nodes), 2);
  FusionCost cost{.launches_saved = 1, .live_values = 26, .elements = 1e6};
  EXPECT_LT(SecondsSaved(cost, kMachine), 0);
  EXPECT_EQ(Explain(cost, kMachine), "2 us (a launch) against 1 ms (26 values in registers)");
}

TEST(Fuse, CostsInWords) {
  EXPECT_EQ(Explain({}, kMachine), "");
  EXPECT_EQ(Explain({.bytes_saved = 40'000, .launches_saved = 1}, kMachine),
            "6 us (memory traffic)");
  EXPECT_EQ(Explain({.bytes_saved = 400,
                     .launches_saved = 1,
                     .times_computed = 12,
                     .operations_added = 6.2e7},
                    kMachine),
            "2.04 us (a launch) against 3.1 ms (computed 12 times)");
  EXPECT_EQ(Explain({.launches_saved = 1, .parts = 1, .seconds_in_parts = 1e-6}, kMachine),
            "2 us (a launch) against 7 us (one task for all cores)");
}

TEST(Fuse, DeadNodesAreInNoGroup) {
  SampleGraph g("g");
  const ValueId x = g.Input({4});
  g(Op::kExp, {x});
  EXPECT_THAT(Groups(g.Build({g(Op::kNeg, {x})})), ElementsAre("neg"));
}

TEST(Fuse, EveryReasonHasItsText) {
  EXPECT_EQ(Describe(FusionReason::kSameGroup), "fused: already in one kernel");
  EXPECT_EQ(Describe(FusionReason::kUnfusedMode), "not fused: every node is a separate kernel");
  EXPECT_EQ(Describe(FusionReason::kCycle), "not fused: the groups would wait for each other");
  EXPECT_EQ(Describe(FusionReason::kViewed), "no kernel: read directly from its storage");
}

// EdgesWithin returns the edges inside a group. An edge between two groups is a border of both.
TEST(Fuse, GroupsKnowTheirReasonsAndTheirBorders) {
  SampleGraph g("g");
  const ValueId m = g(Op::kMatmul, {g.Input({4, 4}), g.Weight({4, 4})});
  const ValueId r = g(Op::kRelu, {m});
  const Graph graph = g.Build({g(Op::kMatmul, {r, g.Weight({4, 2})})});
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  ASSERT_EQ(plan->groups.size(), 2U);
  const std::vector<FusionEdge> within = plan->EdgesWithin(0);
  ASSERT_EQ(within.size(), 1U);
  EXPECT_EQ(within[0].value, m);
  EXPECT_EQ(within[0].reason, FusionReason::kEpilogue);
  EXPECT_EQ(within[0].cost.bytes_saved, 2 * 4 * 4 * 4);
  EXPECT_TRUE(plan->EdgesWithin(1).empty());
  for (const size_t group : {0, 1}) {
    const std::vector<FusionEdge> borders = plan->Borders(group);
    ASSERT_EQ(borders.size(), 1U);
    EXPECT_EQ(borders[0].value, r);
    EXPECT_EQ(borders[0].reason, FusionReason::kTwoContractions);
    EXPECT_EQ(borders[0].from, 0);
    EXPECT_EQ(borders[0].into, 1);
  }
}

// Two elementwise chains on one input become one loop with two results, unless one chain depends on
// the other.
TEST(Fuse, ElementwiseSiblingsAreOneKernel) {
  SampleGraph g("g");
  const ValueId x = g.Input({64, 33});
  const ValueId a = g(Op::kRelu, {g(Op::kNeg, {x})});
  const ValueId b = g(Op::kExp, {x});
  const Graph graph = g.Build({a, b});
  EXPECT_THAT(Groups(graph), ElementsAre("neg relu exp"));
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  const std::vector<FusionEdge> within = plan->EdgesWithin(0);
  ASSERT_EQ(within.size(), 2U);
  EXPECT_EQ(within[1].reason, FusionReason::kSiblings);
  EXPECT_EQ(within[1].value, x);
  const auto lowerings = Lower(graph, plan->groups[0]);
  ASSERT_EQ(lowerings->at(0).compute.statements.size(), 1U);
  EXPECT_EQ(lowerings->at(0).compute.statements[StatementId(0)].writes.size(), 2U);
  ExpectSameAsReference(graph);
}

TEST(Fuse, ReductionsOfTheSameRowsAreOneKernel) {
  SampleGraph g("g");
  const ValueId x = g.Input({6, 9});
  const Attributes last = {{"axes", Ints{1}}};
  const Attributes first = {{"axes", Ints{0}}};
  const Graph graph = g.Build(
      {g(Op::kReduceMax, {x}, last), g(Op::kReduceSum, {x}, first), g(Op::kReduceMean, {x}, last)});
  EXPECT_THAT(Groups(graph), UnorderedElementsAre("reduce_max reduce_mean", "reduce_sum"));
  ExpectSameAsReference(graph);
}

// Of the siblings tanh(x) and x * s, the second depends on the first: s is computed from tanh(x).
TEST(Fuse, SiblingsThatWaitForEachOtherStayApart) {
  SampleGraph g("g");
  const ValueId x = g.Input({8, 8});
  const ValueId a = g(Op::kTanh, {x});
  const ValueId m = g(Op::kMatmul, {a, g.Weight({8, 8})});
  const ValueId c = g(Op::kConcat, {m, m}, {{"axis", int64_t{0}}});
  const ValueId s =
      g(Op::kSlice, {c}, {{"starts", Ints{4, 0}}, {"ends", Ints{12, 8}}, {"steps", Ints{1, 1}}});
  const Graph graph = g.Build({g(Op::kMul, {x, s}), a});
  const auto plan = PlanFusion(graph, FusionMode::kFused);
  for (const FusionEdge& edge : plan->edges) EXPECT_NE(edge.reason, FusionReason::kSiblings);
  ExpectSameAsReference(graph);
}

// The network has pointwise, direct, depthwise and transposed convolutions, a concatenation and a
// pooling. All passes run before the fusion.
TEST(Fuse, SmallNetworkAfterThePipeline) {
  SampleGraph g("network");
  const auto norm = [&](ValueId x, int64_t c) {
    Array variance(DataType::kF32, {c});
    for (int64_t i = 0; i < c; ++i) variance.SetDouble(i, 0.5 + 0.25 * static_cast<double>(i));
    return g(Op::kBatchNorm,
             {x, g.Weight({c}), g.Weight({c}), g.Weight({c}), g.Constant(variance)});
  };
  const Attributes same = {{"pads", Ints{1, 1, 1, 1}}};
  const Attributes halves = {{"kernel", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  ValueId x =
      g(Op::kRelu, {norm(g(Op::kConv, {g.Input({2, 3, 8, 6}), g.Weight({6, 3, 3, 3})}, same), 6)});
  ValueId y = g(Op::kClip, {norm(g(Op::kConv, {x, g.Weight({8, 6, 1, 1})}), 8)},
                {{"min", 0.0}, {"max", 6.0}});
  Attributes depthwise = same;
  depthwise["group"] = int64_t{8};
  y = g(Op::kRelu, {norm(g(Op::kConv, {y, g.Weight({8, 1, 3, 3})}, depthwise), 8)});
  y = g(Op::kAdd, {norm(g(Op::kConv, {y, g.Weight({6, 8, 1, 1})}), 6), x});
  const ValueId down = g(Op::kMaxPool, {y}, halves);
  const ValueId up = g(Op::kConvTranspose, {down, g.Weight({6, 4, 2, 2}), g.Weight({4})},
                       {{"strides", Ints{2, 2}}});
  const ValueId joined = g(Op::kConcat, {up, y}, {{"axis", int64_t{1}}});
  const ValueId head = g(Op::kConv, {joined, g.Weight({5, 10, 3, 3})}, {{"strides", Ints{2, 2}}});
  const ValueId mean = g(Op::kReduceMean, {head}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}});
  const ValueId scores = g(Op::kMatmul, {mean, g.Weight({7, 5})}, {{"transpose_b", int64_t{1}}});
  const Graph before = g.Build({scores, down});
  const auto after = RunPipeline(before, {});
  ASSERT_TRUE(after) << after.error().Format();
  EXPECT_THAT(Groups(after->graph),
              ElementsAre("conv relu", "conv clip", "conv relu conv add", "max_pool",
                          "conv_transpose", "concat", "conv", "reduce_mean", "matmul"));
  ExpectSameAsReference(after->graph);
}

}  // namespace
}  // namespace tunec
