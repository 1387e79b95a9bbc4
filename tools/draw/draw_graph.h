// Drawings of a graph before and after the passes, by Graphviz.
#pragma once

#include <string>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"

namespace tunec {

/// DOT text: both graphs side by side from top to bottom. Nodes of one group have one colour and,
/// after the passes, one frame; a node before them has the colour of the node of its name after
/// them; when no such node is left, that of its readers if they have one colour, else none.
/// Constants are not drawn.
std::string DrawDot(const Graph& before, const Graph& after, const FusionPlan& plan);

/// Lays the drawing out with the program `dot` and writes an SVG file. kNotFound names the package
/// when there is no such program on PATH.
Status WriteSvg(const std::string& dot_text, const std::string& path);

}  // namespace tunec
