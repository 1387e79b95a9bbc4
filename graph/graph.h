// The computation graph: a directed acyclic graph in static single assignment form. Nodes
// stand in one dense vector, always in topological order; every value is produced by
// exactly one node (inputs and constants are nodes too). A Graph is built by GraphBuilder
// and not changed afterwards: passes take a const Graph and return a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/ops/attributes.h"
#include "graph/ops/op.h"
#include "graph/ops/value_type.h"
#include "ir/array.h"
#include "ir/compute.h"
#include "support/error.h"

namespace tunec {

class Graph;

struct ValueId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }  // an omitted optional input is not
  auto operator<=>(const ValueId&) const = default;
};
struct NodeId {
  int32_t index = -1;
  auto operator<=>(const NodeId&) const = default;
};

struct Value {
  std::string name;  // unique in the graph
  ValueType type;
  Layout layout;  // how its elements are stored; logical meaning is unaffected
  NodeId producer;
  int output = 0;  // which output of the producer
};

struct Node {
  Op op = Op::kIdentity;
  std::string name;             // unique in the graph
  std::vector<ValueId> inputs;  // an omitted optional input is invalid
  std::vector<ValueId> outputs;
  Attributes attributes;
  Array constant;  // of kConstant only
  /// How kConstant's text form gives its bytes: from the weights file or a seeded stream
  /// under this name; empty: written out in the text.
  std::string weight_name;
  std::vector<std::shared_ptr<const Graph>> bodies;  // of control operators: the nested graphs
  SourceLocation where;

  int64_t Int(std::string_view attribute) const;  // present, or has a default in the table
  double Float(std::string_view attribute) const;
  const std::string& String(std::string_view attribute) const;
  const std::vector<int64_t>& Ints(std::string_view attribute) const;
  const std::vector<double>& Floats(std::string_view attribute) const;
  bool Has(std::string_view attribute) const;  // given explicitly
};

/// Copies share what they hold: a pass that finds nothing to do returns its argument.
class Graph {
 public:
  const std::string& name() const { return data_->name; }
  const std::vector<Node>& nodes() const { return data_->nodes; }
  const std::vector<Value>& values() const { return data_->values; }
  const std::vector<ValueId>& inputs() const { return data_->inputs; }
  const std::vector<ValueId>& outputs() const { return data_->outputs; }
  const std::vector<std::string>& output_names() const { return data_->output_names; }

  const Node& node(NodeId id) const { return data_->nodes[id.index]; }
  const Value& value(ValueId id) const { return data_->values[id.index]; }
  const Node& producer(ValueId id) const { return node(value(id).producer); }
  /// The constant behind the value, or null.
  const Array* ConstantOf(ValueId id) const;
  /// Per value: the nodes that read it, in order, once per use.
  std::vector<std::vector<NodeId>> Users() const;
  bool IsOutput(ValueId id) const { return data_->is_output[id.index]; }
  /// Whether one is a copy of the other.
  bool IsSameObject(const Graph& other) const { return data_ == other.data_; }

 private:
  friend class GraphBuilder;
  struct Data {
    std::string name;
    std::vector<Node> nodes;
    std::vector<Value> values;
    std::vector<bool> is_output;  // of the values
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::vector<std::string> output_names;
  };
  // Only a builder writes to it, and only before anybody else has it.
  std::shared_ptr<Data> data_ = std::make_shared<Data>();
};

/// Builds a Graph node by node; each node's output types are inferred as it is added, and an
/// error names the node, the operand and what was wanted.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string graph_name);

  Result<ValueId> AddInput(std::string name, ValueType type);
  ValueId AddConstant(const std::string& name, Array array, std::string weight_name = "");
  /// Names that are taken get a number appended. Empty: made from the operator.
  Result<std::vector<ValueId>> AddNode(Op op, std::vector<ValueId> inputs,
                                       Attributes attributes = {}, std::string name = "",
                                       SourceLocation where = {});
  /// AddNode for operators with one output.
  Result<ValueId> Add(Op op, std::vector<ValueId> inputs, Attributes attributes = {},
                      std::string name = "", SourceLocation where = {});
  /// AddNode for control operators, with their nested graphs.
  Result<std::vector<ValueId>> AddControl(Op op, std::vector<ValueId> inputs,
                                          std::vector<std::shared_ptr<const Graph>> bodies,
                                          Attributes attributes = {}, std::string name = "",
                                          SourceLocation where = {});
  /// Adds `node` of the graph `from` with these operands, its values called and stored as there.
  /// Types are inferred again only where an operand's differs. Not for inputs and constants.
  Result<std::vector<ValueId>> CopyNode(const Graph& from, const Node& node,
                                        std::vector<ValueId> inputs);
  /// A constant whose text form states the distribution of its random values (`init`).
  ValueId AddWeight(const std::string& name, Array array, std::string weight_name,
                    std::string init);
  void AddOutput(ValueId value, const std::string& name = "");  // name: default the value's
  void SetLayout(ValueId value, Layout layout);
  void RenameValue(ValueId value, const std::string& name);

  /// As built so far; to be looked at, not to be copied before Build.
  const Graph& graph() const { return graph_; }
  /// Makes room for about as much as another graph has.
  void ReserveLike(const Graph& other);
  const ValueType& TypeOf(ValueId value) const { return graph_.value(value).type; }
  Graph Build() &&;

 private:
  struct HashName {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  // And the last number appended. Never iterated over.
  using Names = std::unordered_map<std::string, int, HashName, std::equal_to<>>;
  static std::string UniqueName(Names& names, std::string_view wanted);
  Graph::Data& data() { return *graph_.data_; }
  std::vector<ValueId> Append(Node node, std::vector<ValueType> types);
  std::vector<ValueId> AppendNamed(Node node, std::vector<Value> values);
  Graph graph_;
  Names value_names_;
  Names node_names_;
};

/// Copies `graph` through a builder: for each node in order calls
/// `replace(node, its inputs in the new graph, builder)`, which returns the values that stand
/// for the node's outputs, or an empty vector to copy the node as it is. Layouts of copied
/// nodes are kept.
using NodeReplacement = std::function<Result<std::vector<ValueId>>(
    const Node& node, const std::vector<ValueId>& new_inputs, GraphBuilder& builder)>;
Result<Graph> Rebuild(const Graph& graph, const NodeReplacement& replace);

/// Checks the invariants listed in verify_graph.cc.
Status Verify(const Graph& graph);

/// `.graph` text (docs/reference/graph_format.md).
std::string Print(const Graph& graph);

}  // namespace tunec
