// `.graph` texts at several sizes. `$(L)` stands for a size, `$(L-1)`, `$(L+2)`, `$(B*L)` for
// expressions of sizes, and `$iota(L)` for the numbers below a size as elements of a constant.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"

namespace tunec::test {

using SizesByName = std::map<std::string, int64_t>;

/// Returns the graph, or fails the test if the text is not a graph at these sizes.
Graph GraphAt(const std::string& text, const SizesByName& sizes);

/// Returns the axes of inputs that differ, with the name of the differing size.
std::vector<OpenAxis> OpenAxesOf(const Graph& exact, const Graph& bucket,
                                 const SizesByName& exact_sizes, const SizesByName& bucket_sizes);

Result<PaddedGraph> PadText(const std::string& text, const SizesByName& exact,
                            const SizesByName& bucket);

/// Pads the text, runs both with NaN and similar values beyond the exact elements, and expects
/// equal outputs. Returns the padded graph.
PaddedGraph ExpectExact(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

/// Pads the text for each of these sizes. In the first, every size differs from the bucket's.
/// Expects one graph for all, exact results, and parameters whose formulas hold at these sizes and
/// at `others`. Returns the padded graph of the first sizes.
PaddedGraph ExpectOneGraph(const std::string& text, const SizesByName& bucket,
                           const std::vector<SizesByName>& exact,
                           const std::vector<SizesByName>& others = {});

/// Returns the message of a rejection, or fails the test if padding succeeds.
std::string RejectionOf(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

int CountOf(const Graph& graph, Op op);

}  // namespace tunec::test
