// The class Graph of the native module: a graph that Python code builds.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/graph.h>

#include <memory>
#include <string>
#include <vector>

namespace tunec::python {

/// A tunec_graph. Failures of the C interface are raised as Python exceptions.
class Graph {
 public:
  explicit Graph(const std::string& name);

  /// Return the number of the new value.
  int64_t AddInput(const std::string& name, const std::string& type);
  int64_t AddWeight(const std::string& name, const std::string& type, const std::string& key);
  int64_t AddConstant(const std::string& name, const std::string& type,
                      const std::string& elements);
  /// Adds a node. `operands` has numbers of values, and None for omitted operands.
  int64_t AddNode(const std::string& op, const nanobind::list& operands,
                  const std::string& attributes, const std::string& name);
  void AddOutput(const std::string& name, int64_t value);

  /// Returns (element type, extents). An extent is an int, or the text of an expression.
  nanobind::tuple Type(int64_t value);
  std::string Text();
  std::vector<std::string> Conditions();

  const tunec_graph* get() const { return graph_.get(); }

 private:
  struct Release {
    void operator()(tunec_graph* graph) const { tunec_graph_release(graph); }
  };
  std::unique_ptr<tunec_graph, Release> graph_;
};

/// Returns whether a proof is found that two expressions of named sizes are equal.
bool SizesAreEqual(const std::string& one, const std::string& other);

}  // namespace tunec::python
