// The computation graph: a directed acyclic graph in static single assignment form. Nodes are
// stored in one dense vector, always in topological order. Every value is produced by exactly one
// node; inputs and constants are nodes too. GraphBuilder makes a Graph, which does not change
// afterwards: a pass takes a const Graph and returns a Graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/attributes.h"
#include "graph/ops/op.h"
#include "graph/ops/value_type.h"
#include "ir/array.h"
#include "ir/compute.h"
#include "support/error.h"
#include "support/unique_names.h"

namespace tunec {

class Graph;

struct ValueId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }  // false for an omitted optional input
  auto operator<=>(const ValueId&) const = default;
};
struct NodeId {
  int32_t index = -1;
  auto operator<=>(const NodeId&) const = default;
};

struct Value {
  std::string name;  // unique in the graph
  ValueType type;
  Layout layout;  // storage of the elements; does not affect the logical meaning
  NodeId producer;
  int output = 0;  // index among the producer's outputs
};

struct Node {
  Op op = Op::kIdentity;
  std::string name;             // unique in the graph
  std::vector<ValueId> inputs;  // an omitted optional input is invalid
  std::vector<ValueId> outputs;
  Attributes attributes;
  Array constant;  // only for kConstant
  /// Source of kConstant's bytes in the text form: an entry of the weights file or a seeded stream
  /// with this name. Empty: the text contains the elements.
  std::string weight_name;
  std::vector<std::shared_ptr<const Graph>> bodies;  // for control operators: the nested graphs
  SourceLocation where;

  int64_t Int(std::string_view attribute) const;  // requires: present, or has a default
  double Float(std::string_view attribute) const;
  const std::string& String(std::string_view attribute) const;
  const std::vector<int64_t>& Ints(std::string_view attribute) const;
  const std::vector<double>& Floats(std::string_view attribute) const;
  bool Has(std::string_view attribute) const;  // given, or added by inference
};

/// The nodes that read each value of a graph, in order, once per use.
class ValueUsers {
 public:
  explicit ValueUsers(const Graph& graph);

  std::span<const NodeId> operator[](ValueId value) const {
    return std::span(users_).subspan(Begin(value.index),
                                     Begin(value.index + 1) - Begin(value.index));
  }

 private:
  size_t Begin(int32_t value) const { return static_cast<size_t>(begins_[value]); }
  std::vector<int32_t> begins_;  // for each value, and the end of the last one
  std::vector<NodeId> users_;
};

/// An immutable graph. Copies share the data, so a pass without changes can return its argument.
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
  /// Returns the array of a constant, or null if no constant produces the value.
  const Array* ConstantOf(ValueId id) const;
  ValueUsers Users() const;
  bool IsOutput(ValueId id) const { return data_->is_output[id.index]; }
  /// Returns whether the graphs share their data, as copies do.
  bool IsSameObject(const Graph& other) const { return data_ == other.data_; }

 private:
  friend class GraphBuilder;
  struct Data {
    std::string name;
    std::vector<Node> nodes;
    std::vector<Value> values;
    std::vector<bool> is_output;  // for each value
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::vector<std::string> output_names;
  };
  // Only a builder writes to the data, and only before another object shares it.
  std::shared_ptr<Data> data_ = std::make_shared<Data>();
};

/// A builder that makes a Graph node by node. AddNode infers the output types of the node. An
/// inference error contains the node's name or location.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string graph_name);

  Result<ValueId> AddInput(std::string name, ValueType type);
  ValueId AddConstant(const std::string& name, Array array, std::string weight_name = "");
  /// Adds a node. A number is appended to a name that exists. An empty name is derived from the
  /// operator.
  Result<std::vector<ValueId>> AddNode(Op op, std::vector<ValueId> inputs,
                                       Attributes attributes = {}, std::string name = "",
                                       SourceLocation where = {});
  /// Adds a node of an operator with one output.
  Result<ValueId> Add(Op op, std::vector<ValueId> inputs, Attributes attributes = {},
                      std::string name = "", SourceLocation where = {});
  /// Adds a node with nested graphs, which only control operators have.
  Result<std::vector<ValueId>> AddControl(Op op, std::vector<ValueId> inputs,
                                          std::vector<std::shared_ptr<const Graph>> bodies,
                                          Attributes attributes = {}, std::string name = "",
                                          SourceLocation where = {});
  /// Adds a copy of `node` of the graph `from` with new operands. Names and layouts of its outputs
  /// are copied; a number is appended to a name that exists. Types are inferred again only if the
  /// number or a type of the operands differs. Requires: `node` is not an input or constant.
  Result<std::vector<ValueId>> CopyNode(const Graph& from, const Node& node,
                                        std::vector<ValueId> inputs);
  /// Adds a constant. A non-empty `init` is the distribution of the random elements, for the
  /// constant's text form.
  ValueId AddWeight(const std::string& name, Array array, std::string weight_name,
                    std::string init);
  void AddOutput(ValueId value, const std::string& name = "");  // name: the value's name by default
  void SetLayout(ValueId value, Layout layout);
  void RenameValue(ValueId value, const std::string& name);

  /// Returns the graph as built so far. Do not copy it before Build: the copy would share data that
  /// the builder still changes.
  const Graph& graph() const { return graph_; }
  /// Reserves memory for as many nodes and values as `other` has.
  void ReserveLike(const Graph& other);
  const ValueType& TypeOf(ValueId value) const { return graph_.value(value).type; }
  Graph Build() &&;

 private:
  Graph::Data& data() { return *graph_.data_; }
  std::vector<ValueId> Append(Node node, std::vector<ValueType> types);
  std::vector<ValueId> AppendNamed(Node node, std::vector<Value> values);
  Graph graph_;
  UniqueNames value_names_;
  UniqueNames node_names_;
};

/// A function that Rebuild calls for each node in order. It returns the values for the node's
/// outputs, or an empty vector to copy the node with `new_inputs`.
using NodeReplacement = std::function<Result<std::vector<ValueId>>(
    const Node& node, const std::vector<ValueId>& new_inputs, GraphBuilder& builder)>;
/// Copies `graph` through a builder. The outputs of copied nodes keep their layouts. Errors: those
/// of `replace` and of GraphBuilder.
Result<Graph> Rebuild(const Graph& graph, const NodeReplacement& replace);

/// Checks the invariants listed in verify_graph.cc.
Status Verify(const Graph& graph);

/// Returns the `.graph` text (docs/reference/graph_format.md).
std::string Print(const Graph& graph);

}  // namespace tunec
