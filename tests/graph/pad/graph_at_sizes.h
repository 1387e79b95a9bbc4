// Functions that pad graphs of one `.graph` text with named sizes, and run them, for tests.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"

namespace tunec::test {

/// Returns the graph of the text, with random weights. If the text is not a graph, fails the test
/// and returns an empty graph.
Graph NamedGraph(const std::string& text);

/// Returns the graph at these sizes. If there is none, fails the test and returns an empty graph.
Graph GraphAt(const Graph& named, const SizeValues& sizes);

/// Pads the text's graph. Errors: those of ParseGraph and PadGraph.
Result<PaddedGraph> PadText(const std::string& text, const SizeValues& bucket);

/// Pads the text's graph, and runs it at each element of `sizes`. There, all conditions of the
/// graph and of the padded graph must hold. The padding of the inputs is garbage such as NaN.
/// Expects the outputs of the graph at these sizes within 2e-3. Returns the padded graph. If it
/// cannot be padded, fails the test and returns an empty graph.
PaddedGraph ExpectOneGraph(const std::string& text, const SizeValues& bucket,
                           const std::vector<SizeValues>& sizes);
PaddedGraph ExpectExact(const std::string& text, const SizeValues& exact, const SizeValues& bucket);

/// Pads and runs the graph in the same way at all sizes from 1 to the bucket's for which all
/// conditions hold. Returns these sizes.
std::vector<SizeValues> ExpectExactWhereItFits(const std::string& text, const SizeValues& bucket);

/// Pads the text's graph, which must fail as unsupported. Returns the error message. If padding
/// succeeds, fails the test and returns an empty string.
std::string RejectionOf(const std::string& text, const SizeValues& bucket);

int CountOf(const Graph& graph, Op op);

}  // namespace tunec::test
