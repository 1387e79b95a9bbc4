#include "python/native/graph.h"

#include <charconv>
#include <sstream>
#include <string_view>

#include "python/native/errors.h"

namespace nb = nanobind;

namespace tunec::python {
namespace {

/// Returns the text of an extent as an int if it is a number, else as a str.
nb::object ExtentOf(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && after == end) return nb::int_(number);
  return nb::str(text.data(), text.size());
}

}  // namespace

Graph::Graph(const std::string& name) {
  tunec_graph* graph = nullptr;
  Check(tunec_graph_create(name.c_str(), &graph));
  graph_.reset(graph);
}

int64_t Graph::AddInput(const std::string& name, const std::string& type) {
  int64_t value = 0;
  Check(tunec_graph_add_input(graph_.get(), name.c_str(), type.c_str(), &value));
  return value;
}

int64_t Graph::AddWeight(const std::string& name, const std::string& type, const std::string& key) {
  int64_t value = 0;
  Check(tunec_graph_add_weight(graph_.get(), name.c_str(), type.c_str(), key.c_str(), &value));
  return value;
}

int64_t Graph::AddConstant(const std::string& name, const std::string& type,
                           const std::string& elements) {
  int64_t value = 0;
  Check(
      tunec_graph_add_constant(graph_.get(), name.c_str(), type.c_str(), elements.c_str(), &value));
  return value;
}

int64_t Graph::AddNode(const std::string& op, const nb::list& operands,
                       const std::string& attributes, const std::string& name) {
  std::vector<int64_t> numbers;
  for (const nb::handle operand : operands)
    numbers.push_back(operand.is_none() ? TUNEC_OMITTED : nb::cast<int64_t>(operand));
  int64_t value = 0;
  Check(tunec_graph_add_node(graph_.get(), op.c_str(), numbers.size(), numbers.data(),
                             attributes.c_str(), name.c_str(), &value));
  return value;
}

void Graph::AddOutput(const std::string& name, int64_t value) {
  Check(tunec_graph_add_output(graph_.get(), name.c_str(), value));
}

nb::tuple Graph::Type(int64_t value) {
  const char* element = tunec_graph_element_type(graph_.get(), value);
  if (element == nullptr)
    Raise(TUNEC_INVALID_ARGUMENT, "value " + std::to_string(value) + " is not in the graph");
  nb::list extents;
  const auto rank = static_cast<size_t>(tunec_graph_rank(graph_.get(), value));
  for (size_t axis = 0; axis < rank; ++axis)
    extents.append(ExtentOf(tunec_graph_extent(graph_.get(), value, axis)));
  return nb::make_tuple(element, nb::tuple(extents));
}

std::string Graph::Text() {
  const char* text = nullptr;
  Check(tunec_graph_print(graph_.get(), &text));
  return text;
}

std::vector<std::string> Graph::Conditions() {
  const char* text = nullptr;
  Check(tunec_graph_conditions(graph_.get(), &text));
  std::istringstream lines(text);
  std::vector<std::string> conditions;
  for (std::string line; std::getline(lines, line);) conditions.push_back(line);
  return conditions;
}

bool SizesAreEqual(const std::string& one, const std::string& other) {
  int equal = 0;
  Check(tunec_sizes_are_equal(one.c_str(), other.c_str(), &equal));
  return equal != 0;
}

}  // namespace tunec::python
