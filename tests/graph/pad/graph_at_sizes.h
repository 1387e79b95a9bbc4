// Functions that make and pad graphs from one `.graph` text at several sizes, for tests. In the
// text, `$(L)` stands for the size L. `$(L-1)`, `$(B*L)`, `$(L/2)` and `$(L%2)` are expressions of
// two terms. `$iota(L)` is the list of the numbers from 0 to L - 1.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"

namespace tunec::test {

using SizesByName = std::map<std::string, int64_t>;

/// Returns the graph at these sizes, with random weights. If the text is not a graph, fails the
/// test and returns an empty graph.
Graph GraphAt(const std::string& text, const SizesByName& sizes);

/// Returns the input axes whose extents differ between the graphs. An axis gets the first name that
/// has these extents in `exact_sizes` and `bucket_sizes`. An axis without such a name is omitted.
std::vector<OpenAxis> OpenAxesOf(const Graph& exact, const Graph& bucket,
                                 const SizesByName& exact_sizes, const SizesByName& bucket_sizes);

Result<PaddedGraph> PadText(const std::string& text, const SizesByName& exact,
                            const SizesByName& bucket);

/// Pads the text's graph from `exact` to `bucket` and runs it. The padding of its inputs is garbage
/// such as NaN. Expects the outputs of the exact graph within 2e-3. Returns the padded graph. If it
/// cannot be padded, fails the test and returns an empty graph.
PaddedGraph ExpectExact(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

/// Pads the text's graph for each element of `exact` and of `others`. The padded graphs must have
/// equal text, and outputs as in ExpectExact. The first graph's formulas must hold at all these
/// sizes. Only the graphs of `exact` are samples of PadGraph. All sizes of exact[0] must differ
/// from the bucket's. Returns the padded graph of exact[0], or an empty graph if padding fails.
PaddedGraph ExpectOneGraph(const std::string& text, const SizesByName& bucket,
                           const std::vector<SizesByName>& exact,
                           const std::vector<SizesByName>& others = {});

/// Pads the text's graph, which must fail as unsupported. Returns the error message. If padding
/// succeeds, fails the test and returns an empty string.
std::string RejectionOf(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

int CountOf(const Graph& graph, Op op);

}  // namespace tunec::test
