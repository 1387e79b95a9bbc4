// Functions that draw a graph before and after the passes. Graphviz makes the layout.
#pragma once

#include <string>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"

namespace tunec {

/// Returns DOT text with both graphs side by side. Edges point downwards. Nodes of one group have
/// the same colour. After the passes, a group of several nodes also has a frame. A computing node
/// before the passes has the colour of the group in `plan` with a node of the same name. If no such
/// group exists, the node has the common colour of its readers, or grey. Constants are omitted.
std::string DrawDot(const Graph& before, const Graph& after, const FusionPlan& plan);

/// Runs the program `dot` for the layout and writes an SVG file. Returns kNotFound with the
/// package's name if the program is not on PATH.
Status WriteSvg(const std::string& dot_text, const std::string& path);

}  // namespace tunec
