// Tests of imports with named sizes. RunCall (onnx_model.h) compares each operator's handlers at
// named and fixed sizes; these tests compute sizes from sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>

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

bool AllHold(const std::vector<SizeCondition>& conditions, const SizeValues& sizes) {
  return std::ranges::all_of(conditions, [&](const SizeCondition& condition) {
    return Holds(condition, sizes).value_or(false);
  });
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

/// Returns a model with an input x whose dimensions are named or fixed.
Model WithInput(const std::vector<std::string>& dims, const std::string& name = "x") {
  Model model;
  model.Input(name, std::vector<int64_t>(dims.size(), -1));
  auto& type = *model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  for (size_t a = 0; a < dims.size(); ++a) {
    auto& dim = *type.mutable_shape()->mutable_dim(static_cast<int>(a));
    const bool is_number = std::isdigit(static_cast<unsigned char>(dims[a][0])) != 0;
    is_number ? dim.set_dim_value(std::stoll(dims[a])) : dim.set_dim_param(dims[a]);
  }
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

}  // namespace
}  // namespace tunec::onnx_test
