// Functions that make tables and texts of a graph and of its fusion groups.
#pragma once

#include <string>
#include <string_view>

#include "compiler/compiler.h"
#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Returns a table with a row for each node and graph output. The columns are opcode, name, target,
/// arguments and type.
TextTable NodeTable(const Graph& graph);

/// Returns a line such as "7 nodes, 5 inputs and constants: compute 6, data 5, ...".
std::string CountsByKind(const Graph& graph);
/// Returns the conditions on named sizes (ConditionsOf), one on each line, below a heading. Returns
/// an empty text if there are none.
std::string ConditionsText(const Graph& graph);
std::string_view KindName(OpKind kind);
/// Returns a type such as "f32[4x8]".
std::string TypeText(const ValueType& type);

/// Returns a row for each group: number, kind, nodes, computation, lowerings, and the flops and
/// bytes of the first lowering.
TextTable GroupTable(const FrontReport& front);

}  // namespace tunec
