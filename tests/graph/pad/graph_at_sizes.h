// `.graph` texts at several sizes. `$(L)` stands for a size, `$(L-1)`, `$(B*L)`, `$(L/2)`, `$(L%2)`
// for expressions of two terms, and `$iota(L)` for the list of the numbers from 0 to L - 1.
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

/// Returns the input axes whose size differs between the graphs, with the name of the size.
std::vector<OpenAxis> OpenAxesOf(const Graph& exact, const Graph& bucket,
                                 const SizesByName& exact_sizes, const SizesByName& bucket_sizes);

Result<PaddedGraph> PadText(const std::string& text, const SizesByName& exact,
                            const SizesByName& bucket);

/// Pads the text's graph, with garbage such as NaN beyond the exact elements of inputs, and expects
/// the outputs of the exact graph up to 2e-3. Returns the padded graph.
PaddedGraph ExpectExact(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

/// Pads the text for the sizes of `exact` and of `others`. Expects one padded graph for all sizes,
/// outputs as in ExpectExact, and formulas that hold at all sizes. Only `exact` are samples of
/// PadGraph. Returns the padded graph of exact[0], each size of which must differ from the
/// bucket's.
PaddedGraph ExpectOneGraph(const std::string& text, const SizesByName& bucket,
                           const std::vector<SizesByName>& exact,
                           const std::vector<SizesByName>& others = {});

/// Returns the message of a rejection, or fails the test if padding succeeds.
std::string RejectionOf(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

int CountOf(const Graph& graph, Op op);

}  // namespace tunec::test
