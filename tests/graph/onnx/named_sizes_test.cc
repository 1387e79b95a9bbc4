// Tests of imports with named sizes. RunCall (onnx_model.h) compares each operator's handlers at
// named and fixed sizes; these tests compute sizes from sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>

#include "graph/random_inputs.h"
#include "graph/reference.h"
#include "graph/specialize.h"
#include "ir/size/size_text.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A function of the sizes n and m: a node of the model, and the same function in C++.
struct SizeFunction {
  std::string name;  // the value with one element of i64
  std::function<int64_t(int64_t n, int64_t m)> at;
};

/// A model whose outputs depend on the sizes of its input x [n, m].
class FormulaModel {
 public:
  explicit FormulaModel(uint32_t seed) : random_(seed) {
    model_.Input("x", {-1, -1});
    auto& shape = *model_.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
    shape.mutable_shape()->mutable_dim(0)->set_dim_param("n");
    shape.mutable_shape()->mutable_dim(1)->set_dim_param("m");
    model_.Node("Shape", {"x"}, {"shape"});
    model_.Constant("axis0", Ints({1}, {0})).Constant("axis1", Ints({1}, {1}));
    model_.Node("Gather", {"shape", "axis0"}, {"n"}).Node("Gather", {"shape", "axis1"}, {"m"});
  }

  SizeFunction Random(int depth) {
    if (depth == 0) return Leaf();
    const SizeFunction a = Random(depth - 1);
    const int64_t number = Number(1, 9);
    switch (Number(0, 6)) {
      case 0:
        return Of("Add", a, Random(depth - 1), std::plus());
      case 1:
        return Of("Sub", a, Random(depth - 1), std::minus());
      case 2:
        return Of("Mul", a, Constant(number), std::multiplies());
      case 3:
        return Of("Div", Natural(a), Constant(number), std::divides());
      case 4:
        return Of("Mod", Natural(a), Constant(number), std::modulus());
      case 5:
        return Of("Min", a, Random(depth - 1), [](int64_t x, int64_t y) { return std::min(x, y); });
      default:
        return Of("Max", a, Random(depth - 1), [](int64_t x, int64_t y) { return std::max(x, y); });
    }
  }
  SizeFunction Natural(const SizeFunction& a) {
    return Of("Max", a, Constant(0), [](int64_t x, int64_t y) { return std::max(x, y); });
  }
  SizeFunction Bounded(const SizeFunction& a, int64_t most) {
    return Of("Min", a, Constant(most), [](int64_t x, int64_t y) { return std::min(x, y); });
  }
  Model& model() { return model_; }

 private:
  int64_t Number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  SizeFunction Leaf() {
    switch (Number(0, 2)) {
      case 0:
        return {"n", [](int64_t n, int64_t) { return n; }};
      case 1:
        return {"m", [](int64_t, int64_t m) { return m; }};
      default:
        return Constant(Number(-5, 20));
    }
  }
  SizeFunction Constant(int64_t value) {
    const std::string name = fmt::format("c{}", ++values_);
    model_.Constant(name, Ints({1}, {value}));
    return {name, [value](int64_t, int64_t) { return value; }};
  }
  template <class Function>
  SizeFunction Of(const std::string& op, const SizeFunction& a, const SizeFunction& b,
                  Function function) {
    const std::string name = fmt::format("f{}", ++values_);
    model_.Node(op, {a.name, b.name}, {name});
    return {name, [a, b, function](int64_t n, int64_t m) -> int64_t {
              return function(a.at(n, m), b.at(n, m));
            }};
  }

  Model model_{17};
  std::mt19937 random_;
  int values_ = 0;
};

ImportOptions Named(std::set<std::string> names) {
  ImportOptions options;
  options.named_dims = std::move(names);
  return options;
}

/// Runs a graph with an input [n, m] of 0, 1, 2 and so on.
Result<std::vector<Array>> RunAt(const Graph& graph, int64_t n, int64_t m) {
  return RunReference(graph, std::vector<Array>{Counting({n, m})});
}

// A formula is the size of an output and the value of another output. Both are compared with C++.
TEST(OnnxNamedSizes, RandomFormulas) {
  int named_models = 0;
  constexpr int kModels = 200;
  for (uint32_t seed = 0; seed < kModels; ++seed) {
    FormulaModel made(seed);
    const SizeFunction value = made.Random(3);
    const SizeFunction size = made.Bounded(made.Natural(value), 4096);
    Model& model = made.model();
    model.Constant("one", Floats({}, {1})).Node("Expand", {"one", size.name}, {"y"});
    model.Node("Cast", {value.name}, {"z"}, {{"to", 1}}).Output("y").Output("z");
    const Result<Graph> named = model.Import(Named({"n", "m"}));
    named_models += named.has_value() ? 1 : 0;
    if (!named) {
      EXPECT_EQ(named.error().code, ErrorCode::kUnsupported) << named.error().Format();
      continue;
    }
    const std::vector<SizeCondition> conditions = ConditionsOf(*named);
    for (int64_t n = 1; n <= 300; ++n) {
      const int64_t m = n * 7 % 31 + 1;
      const SizeValues sizes = {{"n", n}, {"m", m}};
      ASSERT_TRUE(AllHold(conditions, sizes)) << seed;
      const Result<Graph> graph = Specialize(*named, sizes);
      ASSERT_TRUE(graph.has_value()) << graph.error().Format();
      const Result<std::vector<Array>> outputs = RunAt(*graph, n, m);
      ASSERT_TRUE(outputs.has_value()) << outputs.error().Format();
      ASSERT_THAT((*outputs)[0].shape(), ElementsAre(size.at(n, m)))
          << "seed " << seed << " at " << n << ", " << m;
      ASSERT_EQ((*outputs)[1].GetDouble(0), static_cast<double>(value.at(n, m)))
          << "seed " << seed << " at " << n << ", " << m;
    }
  }
  EXPECT_GE(named_models, kModels * 9 / 10);
}

/// Adds an input whose dimensions are named or fixed.
void AddInput(Model& model, const std::string& name, const std::vector<std::string>& dims,
              DataType type = DataType::kF32) {
  model.Input(name, std::vector<int64_t>(dims.size(), -1), type);
  auto& input = *model.graph().mutable_input(model.graph().input_size() - 1);
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (size_t a = 0; a < dims.size(); ++a) {
    auto& dim = *shape.mutable_dim(static_cast<int>(a));
    const bool is_number = std::isdigit(static_cast<unsigned char>(dims[a][0])) != 0;
    is_number ? dim.set_dim_value(std::stoll(dims[a])) : dim.set_dim_param(dims[a]);
  }
}

/// Returns a model with an input x whose dimensions are named or fixed.
Model WithInput(const std::vector<std::string>& dims, int64_t opset = 17) {
  Model model(opset);
  AddInput(model, "x", dims);
  return model;
}

std::string OutputShape(const Result<Graph>& graph) {
  if (!graph) return graph.error().message;
  return ShapeText(graph->value(graph->outputs()[0]).type.dims);
}

std::vector<std::string> ConditionTexts(const Graph& graph) {
  std::vector<std::string> texts;
  for (const SizeCondition& condition : ConditionsOf(graph)) texts.push_back(Print(condition));
  return texts;
}

/// A random model of integers whose shapes and values depend on the sizes of its input x [n, m].
class MovementModel {
 public:
  explicit MovementModel(uint32_t seed) : model_(WithInput({"n", "m"})), random_(seed) {
    model_.Constant("zero", Ints({}, {0})).Constant("one", Ints({}, {1}));
    model_.Constant("first", Ints({1}, {0})).Constant("flat", Ints({1}, {-1}));
    model_.Node("Shape", {"x"}, {"n"}, {{"end", 1}}).Node("Shape", {"x"}, {"m"}, {{"start", 1}});
    model_.Node("Squeeze", {"n", "first"}, {"rows"});
    model_.Node("Squeeze", {"m", "first"}, {"columns"});
    Add("Cast", {"x"}, {{"to", onnx::TensorProto::INT64}});
    Add("Range", {"zero", "rows", "one"});
    Add("Range", {"zero", "columns", "one"});
    values_.push_back("n");
    for (int step = Number(2, 7); step > 0; --step) Step();
    model_.Output(values_.back());
  }
  Model& model() { return model_; }

 private:
  int Number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  const std::string& Any() { return values_[Number(0, static_cast<int>(values_.size()) - 1)]; }
  std::string Constant(const std::vector<int64_t>& values) {
    const std::string name = fmt::format("c{}", ++names_);
    model_.Constant(name, Ints({static_cast<int64_t>(values.size())}, values));
    return name;
  }
  std::string Add(const std::string& op, std::vector<std::string> inputs,
                  const std::vector<Attr>& attributes = {}) {
    values_.push_back(fmt::format("v{}", ++names_));
    model_.Node(op, std::move(inputs), {values_.back()}, attributes);
    return values_.back();
  }
  void Step() {
    const std::string a = Any(), b = Any();
    switch (Number(0, 11)) {
      case 0:
        return void(Add("Add", {a, b}));
      case 1:
        return void(Add("Mul", {a, Number(0, 1) == 0 ? b : Constant({Number(-2, 3)})}));
      case 2:
        return void(Add("Unsqueeze", {a, Constant({Number(-1, 1)})}));
      case 3:
        return void(Add("Reshape", {a, Number(0, 1) == 0 ? "flat" : Add("Shape", {b})}));
      case 4:
        return void(Add("Expand", {a, Add("Shape", {b})}));
      case 5:
        return void(Add("Concat", {a, b}, {{"axis", Number(-1, 0)}}));
      case 6:
        return void(Add("Slice", {a, Constant({Number(-4, 4)}), Constant({Number(-4, 6)}),
                                  Constant({Number(-1, 0)}), Constant({Number(0, 1) * 3 - 1})}));
      case 7: {
        const std::string size = Add("Shape", {b}, {{"end", 1}});
        // A division by a size of 0 is an error only if it is evaluated during import.
        return void(Add("Gather", {b, Add("Mod", {a, Add("Max", {size, "one"})})}));
      }
      case 8:
        return void(Add("Gather", {a, Constant({Number(-2, 2), Number(-2, 2)})}));
      case 9:
        return void(Add("Transpose", {a}));
      case 10:
        return void(Add("Squeeze", {a, "first"}));
      default:
        return void(Add("ReduceSum", {a, Constant({Number(-1, 0)})}, {{"keepdims", Number(0, 1)}}));
    }
  }

  Model model_;
  std::mt19937 random_;
  std::vector<std::string> values_;
  int names_ = 0;
};

// Where the conditions hold, a model with named sizes is the model of the fixed sizes.
TEST(OnnxNamedSizes, RandomMovementIsThatOfFixedSizes) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    MovementModel made(seed);
    const Result<Graph> named = made.model().Import(Named({"n", "m"}));
    if (!named) continue;  // unsupported, or invalid at all sizes
    const std::vector<SizeCondition> conditions = ConditionsOf(*named);
    for (const auto& [n, m] : {std::pair(1, 1), {1, 3}, {2, 1}, {2, 2}, {3, 2}, {4, 7}, {6, 6}}) {
      const SizeValues sizes = {{"n", n}, {"m", m}};
      if (!AllHold(conditions, sizes)) continue;
      const Result<Graph> special = Specialize(*named, sizes);
      if (!special) continue;  // then the model is imported at the sizes
      ImportOptions options;
      options.dims = {{"n", n}, {"m", m}};
      const Result<Graph> fixed = made.model().Import(options);
      ASSERT_TRUE(fixed.has_value())
          << seed << " at " << n << ", " << m << ": " << fixed.error().Format();
      const Result<std::vector<Array>> expected = RunAt(*fixed, n, m);
      const Result<std::vector<Array>> found = RunAt(*special, n, m);
      ASSERT_EQ(expected.has_value(), found.has_value()) << seed << " at " << n << ", " << m;
      if (!expected) continue;
      ASSERT_EQ((*expected)[0].shape(), (*found)[0].shape()) << seed << " at " << n << ", " << m;
      ASSERT_EQ(Values((*expected)[0]), Values((*found)[0])) << seed << " at " << n << ", " << m;
      ++compared;
    }
  }
  EXPECT_GE(compared, 1000);
}

TEST(OnnxNamedSizes, ReshapeKeepsNames) {
  Model model = WithInput({"n", "t", "12"});
  model.Constant("to", Ints({4}, {0, -1, 3, 4})).Node("Reshape", {"x", "to"}, {"y"}).Output("y");
  EXPECT_EQ(OutputShape(model.Import(Named({"n", "t"}))), "nxtx3x4");
}

TEST(OnnxNamedSizes, ARestIsADivision) {
  Model model = WithInput({"n", "t"});
  model.Constant("to", Ints({2}, {-1, 4})).Node("Reshape", {"x", "to"}, {"y"}).Output("y");
  const Result<Graph> graph = model.Import(Named({"n", "t"}));
  EXPECT_EQ(OutputShape(graph), "((n*t)/4)x4");
  EXPECT_THAT(ConditionTexts(*graph), Contains("(n*t) mod 4 == 0"));
}

TEST(OnnxNamedSizes, SliceOfATable) {
  Model model = WithInput({"n", "8"});
  model.Constant("table", Counting({64, 8})).Constant("zero", Ints({1}, {0}));
  model.Node("Shape", {"x"}, {"n"}, {{"end", 1}});
  model.Node("Slice", {"table", "zero", "n", "zero"}, {"part"});
  model.Node("Add", {"x", "part"}, {"y"}).Output("y");
  const Result<Graph> graph = model.Import(Named({"n"}));
  EXPECT_EQ(OutputShape(graph), "nx8");
  EXPECT_THAT(ConditionTexts(*graph), ElementsAre("n <= 64"));
}

TEST(OnnxNamedSizes, LastElement) {
  Model model = WithInput({"n", "8"});
  model.Constant("at", Ints({1}, {-1})).Constant("end", Ints({1}, {INT64_MAX}));
  model.Constant("axis", Ints({1}, {0})).Node("Slice", {"x", "at", "end", "axis"}, {"y"});
  model.Output("y");
  const Result<Graph> graph = model.Import(Named({"n"}));
  EXPECT_EQ(OutputShape(graph), "1x8");
  EXPECT_THAT(ConditionTexts(*graph), ElementsAre("0 <= n - 1"));
}

/// Adds the index `row * t + column` of shape [n, t] for the sizes of x [n, t].
void AddFlatIndex(Model& model) {
  model.Node("Shape", {"x"}, {"n"}, {{"end", 1}}).Node("Shape", {"x"}, {"t"}, {{"start", 1}});
  model.Constant("zero", Ints({}, {0})).Constant("one", Ints({}, {1}));
  model.Node("Squeeze", {"n"}, {"rows"}).Node("Squeeze", {"t"}, {"columns"});
  model.Node("Range", {"zero", "rows", "one"}, {"row"});
  model.Node("Range", {"zero", "columns", "one"}, {"column"});
  model.Constant("last", Ints({1}, {1})).Node("Unsqueeze", {"row", "last"}, {"down"});
}

// transformers writes the padding mask in this way.
TEST(OnnxNamedSizes, AGatherInOrderIsAReshape) {
  Model model = WithInput({"n", "t"});
  AddFlatIndex(model);
  model.Node("Mul", {"down", "t"}, {"begin"}).Node("Add", {"begin", "column"}, {"index"});
  model.Constant("flat", Ints({1}, {-1})).Node("Reshape", {"x", "flat"}, {"values"});
  model.Node("Gather", {"values", "index"}, {"y"}).Node("Relu", {"y"}, {"z"}).Output("z");
  const Result<Graph> graph = model.Import(Named({"n", "t"}));
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_EQ(OutputShape(graph), "nxt");
  EXPECT_EQ(std::ranges::count(graph->nodes(), Op::kGather, &Node::op), 0);
}

TEST(OnnxNamedSizes, AGatherOfOtherPositionsStays) {
  Model model = WithInput({"n", "t"});
  AddFlatIndex(model);
  model.Node("Mul", {"down", "n"}, {"begin"}).Node("Add", {"begin", "column"}, {"index"});
  model.Constant("flat", Ints({1}, {-1})).Node("Reshape", {"x", "flat"}, {"values"});
  model.Node("Gather", {"values", "index"}, {"y"}).Node("Relu", {"y"}, {"z"}).Output("z");
  const Result<Graph> graph = model.Import(Named({"n", "t"}));
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_EQ(std::ranges::count(graph->nodes(), Op::kGather, &Node::op), 1);
}

TEST(OnnxNamedSizes, AGatherOfAllPairsIsAReshape) {
  Model model = WithInput({"n", "t"});
  AddFlatIndex(model);
  model.Node("Shape", {"x"}, {"shape"}).Node("Expand", {"down", "shape"}, {"rows_at"});
  model.Node("Expand", {"column", "shape"}, {"columns_at"}).Constant("end", Ints({1}, {-1}));
  model.Node("Unsqueeze", {"rows_at", "end"}, {"i"})
      .Node("Unsqueeze", {"columns_at", "end"}, {"j"});
  model.Node("Concat", {"i", "j"}, {"pairs"}, {{"axis", -1}});
  model.Node("GatherND", {"x", "pairs"}, {"y"}).Node("Relu", {"y"}, {"z"}).Output("z");
  const Result<Graph> graph = model.Import(Named({"n", "t"}));
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_EQ(OutputShape(graph), "nxt");
  EXPECT_EQ(std::ranges::count(graph->nodes(), Op::kGather, &Node::op), 0) << Print(*graph);
}

TEST(OnnxNamedSizes, AConstantGatherInOrderIsAReshape) {
  Model model;
  model.Input("x", {6, 2}).Constant("at", Ints({2, 3}, {0, 1, 2, 3, 4, 5}));
  model.Node("Gather", {"x", "at"}, {"y"}).Output("y");
  const Result<Graph> graph = model.Import();
  EXPECT_EQ(OutputShape(graph), "2x3x2");
  EXPECT_EQ(std::ranges::count(graph->nodes(), Op::kGather, &Node::op), 0);
}

TEST(OnnxNamedSizes, AreUnsupportedWhereNumbersAreNeeded) {
  Model model = WithInput({"n", "4"});
  model.Node("Squeeze", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(OutputShape(model.Import(Named({"n"}))), HasSubstr("depends on whether n == 1"));
}

TEST(OnnxNamedSizes, OtherNamesNeedASize) {
  Model model = WithInput({"n", "t"});
  model.Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(OutputShape(model.Import(Named({"n"}))), HasSubstr("open dimensions"));
}

/// Imports the model with named sizes. Expects the results of the model that is imported at each of
/// the sizes.
void ExpectSameAt(const Model& model, const std::vector<SizeValues>& all_sizes) {
  std::set<std::string> names;
  for (const auto& [name, size] : all_sizes.front()) names.insert(name);
  const Result<Graph> named = model.Import(Named(names));
  ASSERT_TRUE(named.has_value()) << named.error().Format();
  const std::vector<SizeCondition> conditions = ConditionsOf(*named);
  for (const SizeValues& sizes : all_sizes) {
    std::string at;
    for (const auto& [name, size] : sizes) at += fmt::format("{}={} ", name, size);
    SCOPED_TRACE(at);
    for (const SizeCondition& condition : conditions)
      ASSERT_TRUE(Holds(condition, sizes).value_or(false)) << Print(condition);
    const Result<Graph> special = Specialize(*named, sizes);
    ASSERT_TRUE(special.has_value()) << special.error().Format();
    ImportOptions options;
    options.dims.insert(sizes.begin(), sizes.end());
    const Result<Graph> fixed = model.Import(options);
    ASSERT_TRUE(fixed.has_value()) << fixed.error().Format();
    const Result<std::vector<Array>> inputs = RandomInputs(*fixed, 1);
    ASSERT_TRUE(inputs.has_value()) << inputs.error().Format();
    const Result<std::vector<Array>> expected = RunReference(*fixed, *inputs);
    const Result<std::vector<Array>> found = RunReference(*special, *inputs);
    ASSERT_TRUE(expected.has_value()) << expected.error().Format();
    ASSERT_TRUE(found.has_value()) << found.error().Format();
    ASSERT_EQ(expected->size(), found->size());
    for (size_t i = 0; i < expected->size(); ++i) {
      EXPECT_EQ((*expected)[i].type(), (*found)[i].type());
      EXPECT_EQ((*expected)[i].shape(), (*found)[i].shape());
      EXPECT_EQ(Values((*expected)[i]), Values((*found)[i]));
    }
  }
}

using List = std::vector<int64_t>;

const std::vector<SizeValues> kImageSizes = {
    {{"n", 1}, {"h", 1}, {"w", 1}}, {{"n", 2}, {"h", 6}, {"w", 7}}, {{"n", 1}, {"h", 7}, {"w", 9}},
    {{"n", 3}, {"h", 8}, {"w", 5}}, {{"n", 1}, {"h", 9}, {"w", 8}}, {{"n", 1}, {"h", 5}, {"w", 6}}};

TEST(OnnxNamedSizes, SamePads) {
  for (const char* pads : {"SAME_UPPER", "SAME_LOWER"}) {
    for (const List& strides : {List{1, 1}, List{2, 3}, List{3, 2}}) {
      Model model = WithInput({"n", "2", "h", "w"});
      const std::vector<Attr> window = {
          {"auto_pad", pads}, {"strides", strides}, {"kernel_shape", List{3, 2}}};
      model.Constant("f", Counting({2, 2, 3, 2}, -1, 0.1F));
      model.Node("Conv", {"x", "f"}, {"c"}, window).Output("c");
      model.Node("ConvTranspose", {"c", "f"}, {"t"}, window).Output("t");
      model.Node("MaxPool", {"x"}, {"m"}, window).Output("m");
      model.Node("AveragePool", {"m"}, {"a"}, window).Output("a");
      model.Node("LpPool", {"a"}, {"l"}, window).Output("l");
      ExpectSameAt(model, kImageSizes);
    }
  }
}

// The sizes of images after several windows stay short expressions.
TEST(OnnxNamedSizes, SamePadsDivideTheSize) {
  Model model = WithInput({"n", "1", "h", "w"});
  std::string x = "x";
  model.Constant("f", Counting({1, 1, 3, 3}));
  for (const char* y : {"a", "b", "c", "d", "e"}) {
    model.Node("Conv", {x, "f"}, {y}, {{"auto_pad", "SAME_UPPER"}, {"strides", List{2, 2}}});
    x = y;
  }
  model.Output(x);
  const Result<Graph> graph = model.Import(Named({"n", "h", "w"}));
  EXPECT_EQ(OutputShape(graph), "nx1x((h + 31)/32)x((w + 31)/32)");
  ExpectSameAt(model, kImageSizes);
}

TEST(OnnxNamedSizes, PoolsThatRoundUp) {
  for (const List& kernel : {List{2, 2}, List{3, 3}, List{3, 2}}) {
    for (const List& pads : {List{0, 0, 0, 0}, List{1, 1, 1, 1}, List{1, 0, 0, 1}}) {
      for (const int counts : {0, 1}) {
        Model model = WithInput({"n", "2", "h", "w"}, 19);
        std::vector<Attr> window = {
            {"kernel_shape", kernel}, {"pads", pads}, {"strides", List{2, 3}}, {"ceil_mode", 1}};
        model.Node("MaxPool", {"x"}, {"m"}, window).Output("m");
        window.emplace_back("count_include_pad", counts);
        model.Node("AveragePool", {"x"}, {"a"}, window).Output("a");
        ExpectSameAt(model, {kImageSizes.begin() + 1, kImageSizes.end()});
      }
    }
  }
}

// A window may begin in the image and end behind it, even if it is the only one.
TEST(OnnxNamedSizes, APartialWindowAlone) {
  Model model = WithInput({"n", "1", "h"});
  model.Node("MaxPool", {"x"}, {"y"},
             {{"kernel_shape", List{2}}, {"strides", List{2}}, {"ceil_mode", 1}});
  model.Output("y");
  EXPECT_EQ(OutputShape(model.Import(Named({"n", "h"}))), "nx1x((h + 1)/2)");
  ExpectSameAt(model, {{{"n", 1}, {"h", 1}}, {{"n", 2}, {"h", 3}}, {{"n", 2}, {"h", 4}}});
}

TEST(OnnxNamedSizes, AttentionToThePast) {
  Model model(23);
  AddInput(model, "q", {"n", "2", "s", "4"});
  AddInput(model, "k", {"n", "2", "s", "4"});
  AddInput(model, "mask", {"s", "t"});
  AddInput(model, "past", {"n", "2", "p", "4"});
  model.Node("Attention", {"q", "k", "k", "mask", "past", "past"}, {"y", "keys", "values"},
             {{"is_causal", 1}});
  model.Output("y").Output("keys");
  const Result<Graph> graph = model.Import(Named({"n", "s", "t", "p"}));
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_THAT(Print(*graph), HasSubstr("causal_offset=p"));
  EXPECT_THAT(ConditionTexts(*graph), Contains(HasSubstr("== ")));
  ExpectSameAt(model, {{{"n", 1}, {"s", 1}, {"t", 8}, {"p", 7}},
                       {{"n", 2}, {"s", 5}, {"t", 6}, {"p", 1}},
                       {{"n", 1}, {"s", 3}, {"t", 5}, {"p", 2}}});
}

TEST(OnnxNamedSizes, TopKOfNamedRows) {
  // The lengths and k lead to a maximum, counting, the network and the search by pieces.
  for (const auto& [length, k] :
       {std::pair<int64_t, int64_t>(50, 1), {20, 3}, {40, 5}, {100, 50}, {700, 5}}) {
    for (const int axis : {0, 1, 2}) {
      std::vector<std::string> dims = {"n", "m"};
      dims.insert(dims.begin() + axis, std::to_string(length));
      Model model = WithInput(dims);
      model.Constant("k", Ints({1}, {k}));
      model.Node("TopK", {"x", "k"}, {"values", "at"}, {{"axis", axis}});
      model.Output("values").Output("at");
      ExpectSameAt(model, {{{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 2}}, {{"n", 2}, {"m", 20}}});
    }
  }
}

TEST(OnnxNamedSizes, EinsumAssumesEqualSizes) {
  Model model = WithInput({"n", "a", "b"});
  AddInput(model, "y", {"m", "c", "4"});
  model.Node("Einsum", {"x", "y"}, {"z"}, {{"equation", "nij,njk->nik"}}).Output("z");
  model.Node("Einsum", {"x", "y"}, {"o"}, {{"equation", "nij,njk->k"}}).Output("o");
  const Result<Graph> graph = model.Import(Named({"n", "a", "b", "m", "c"}));
  EXPECT_EQ(OutputShape(graph), "nxax4");
  ExpectSameAt(model, {{{"n", 1}, {"a", 2}, {"b", 3}, {"m", 1}, {"c", 3}},
                       {{"n", 4}, {"a", 1}, {"b", 5}, {"m", 4}, {"c", 5}}});
  const SizeValues other = {{"n", 2}, {"a", 2}, {"b", 3}, {"m", 2}, {"c", 4}};
  EXPECT_FALSE(AllHold(ConditionsOf(*graph), other));
}

TEST(OnnxNamedSizes, BatchesOfSignals) {
  Model model = WithInput({"n", "20", "1"});
  model.Constant("step", Ints({}, {3})).Constant("window", Counting({8}));
  model.Node("STFT", {"x", "step", "window"}, {"y"}).Output("y");
  ExpectSameAt(model, {{{"n", 1}}, {{"n", 3}}});
}

TEST(OnnxNamedSizes, ResizesToSizes) {
  const std::vector<SizeValues> sizes = {{{"n", 1}, {"h", 4}, {"w", 5}, {"u", 8}, {"v", 3}},
                                         {{"n", 2}, {"h", 3}, {"w", 7}, {"u", 3}, {"v", 11}},
                                         {{"n", 1}, {"h", 1}, {"w", 6}, {"u", 5}, {"v", 6}}};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinate : {"half_pixel", "align_corners", "asymmetric"}) {
      Model model = WithInput({"n", "2", "h", "w"}, 18);
      AddInput(model, "like", {"n", "2", "u", "v"});
      model.Constant("factors", Floats({4}, {1, 1, 1.5, 0.5}));
      const std::vector<Attr> manner = {{"mode", mode},
                                        {"coordinate_transformation_mode", coordinate}};
      model.Node("Shape", {"like"}, {"sizes"});
      model.Node("Resize", {"x", "", "", "sizes"}, {"y"}, manner).Output("y");
      model.Node("Resize", {"y", "", "factors"}, {"z"}, manner).Output("z");
      ExpectSameAt(model, sizes);
    }
  }
}

// The windows of antialiasing are constants, so only unchanged axes may be named.
TEST(OnnxNamedSizes, AntialiasesBatches) {
  Model model = WithInput({"n", "2", "9", "8"}, 18);
  AddInput(model, "like", {"n", "2", "5", "3"});
  model.Node("Shape", {"like"}, {"sizes"});
  model.Node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"mode", "linear"}, {"antialias", 1}});
  model.Output("y");
  ExpectSameAt(model, {{{"n", 1}}, {{"n", 3}}});
}

TEST(OnnxNamedSizes, SamplesOfNamedImages) {
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    for (const char* padding : {"zeros", "border"}) {
      for (const int align : {0, 1}) {
        Model model = WithInput({"n", "2", "h", "w"}, 20);
        AddInput(model, "grid", {"m", "p", "3", "2"});
        model.Node("GridSample", {"x", "grid"}, {"y"},
                   {{"mode", mode}, {"padding_mode", padding}, {"align_corners", align}});
        model.Output("y");
        ExpectSameAt(model, {{{"n", 1}, {"m", 1}, {"h", 4}, {"w", 5}, {"p", 6}},
                             {{"n", 2}, {"m", 2}, {"h", 1}, {"w", 3}, {"p", 2}}});
      }
    }
  }
}

TEST(OnnxNamedSizes, GridsOfBatches) {
  Model model(20);
  AddInput(model, "theta", {"n", "2", "3"});
  AddInput(model, "like", {"m", "5", "3", "4"});
  model.Node("Shape", {"like"}, {"size"});
  model.Node("AffineGrid", {"theta", "size"}, {"y"}).Output("y");
  ExpectSameAt(model, {{{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 3}}});
}

TEST(OnnxNamedSizes, RegionsOfImages) {
  for (const char* mode : {"avg", "max"}) {
    Model model = WithInput({"n", "2", "h", "w"});
    AddInput(model, "rois", {"r", "4"});
    AddInput(model, "at", {"r"}, DataType::kI64);
    model.Node("RoiAlign", {"x", "rois", "at"}, {"y"},
               {{"mode", mode}, {"output_height", 2}, {"output_width", 3}, {"sampling_ratio", 2}});
    model.Output("y");
    ExpectSameAt(model, {{{"n", 2}, {"h", 4}, {"w", 6}, {"r", 3}},
                         {{"n", 3}, {"h", 5}, {"w", 3}, {"r", 1}}});
  }
}

TEST(OnnxNamedSizes, DeformedConvolutionsOfBatches) {
  Model model = WithInput({"n", "2", "4", "5"}, 19);
  AddInput(model, "offset", {"n", "8", "3", "4"});
  model.Constant("f", Counting({3, 2, 2, 2}, -1, 0.1F));
  model.Node("DeformConv", {"x", "f", "offset"}, {"y"}).Output("y");
  ExpectSameAt(model, {{{"n", 1}}, {{"n", 3}}});
}

TEST(OnnxNamedSizes, ColumnsOfBatches) {
  Model model = WithInput({"n", "8", "6"}, 18);
  model.Constant("image", Ints({2}, {3, 4})).Constant("block", Ints({2}, {2, 2}));
  model.Node("Col2Im", {"x", "image", "block"}, {"y"}).Output("y");
  ExpectSameAt(model, {{{"n", 1}}, {{"n", 3}}});
}

TEST(OnnxNamedSizes, CausalConvolutions) {
  Model model = WithInput({"n", "3", "t"}, 27);
  AddInput(model, "past", {"n", "3", "2"});
  model.Constant("f", Counting({3, 1, 3}));
  model.Node("CausalConvWithState", {"x", "f"}, {"y", "state"}).Output("y").Output("state");
  model.Node("CausalConvWithState", {"x", "f", "", "past"}, {"z", "next"}).Output("z");
  model.Output("next");
  ExpectSameAt(model, {{{"n", 1}, {"t", 1}}, {{"n", 2}, {"t", 5}}});
}

// The old export of arange.
TEST(OnnxNamedSizes, PositionsOfNonzeroElements) {
  Model model = WithInput({"n", "m"});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("ConstantOfShape", {"shape"}, {"ones"}, {{"value", Ints({1}, {1})}});
  model.Node("NonZero", {"ones"}, {"y"}).Output("y");
  EXPECT_EQ(OutputShape(model.Import(Named({"n", "m"}))), "2x(m*n)");
  ExpectSameAt(model, {{{"n", 1}, {"m", 1}}, {{"n", 3}, {"m", 2}}});
}

TEST(OnnxNamedSizes, EqualParts) {
  Model model = WithInput({"n", "3"});
  model.Node("Split", {"x"}, {"y", "z"}).Output("y").Output("z");
  const Result<Graph> graph = model.Import(Named({"n"}));
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_THAT(ConditionTexts(*graph), Contains("0 == n mod 2"));
  ExpectSameAt(model, {{{"n", 2}}, {{"n", 6}}});
  EXPECT_FALSE(AllHold(ConditionsOf(*graph), {{"n", 3}}));
}

TEST(OnnxNamedSizes, OneHotOfASize) {
  Model model = WithInput({"n"});
  AddInput(model, "at", {"m"}, DataType::kI64);
  model.Node("Shape", {"x"}, {"depth"}).Constant("values", Floats({2}, {0, 1}));
  model.Node("OneHot", {"at", "depth", "values"}, {"y"}).Output("y");
  EXPECT_EQ(OutputShape(model.Import(Named({"n", "m"}))), "mxn");
  ExpectSameAt(model, {{{"n", 1}, {"m", 2}}, {{"n", 5}, {"m", 3}}});
}

}  // namespace
}  // namespace tunec::onnx_test
