// `.graph` texts at several sizes: `$(L)` stands for a size, `$(L-1)`, `$(L+2)`, `$(B*L)` for what
// is made of sizes, `$iota(L)` for the numbers below one as elements of a constant.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"

namespace tunec::test {

using SizesByName = std::map<std::string, int64_t>;

/// Fails the test where the text is no graph at these sizes.
Graph GraphAt(const std::string& text, const SizesByName& sizes);

/// The axes of inputs that differ, by the name of the size that does.
std::vector<OpenAxis> OpenAxesOf(const Graph& exact, const Graph& bucket,
                                 const SizesByName& exact_sizes, const SizesByName& bucket_sizes);

Result<PaddedGraph> PadText(const std::string& text, const SizesByName& exact,
                            const SizesByName& bucket);

/// Pads the text, runs both with NaN and the like beyond the exact elements, and expects equal
/// outputs. Returns the padded graph.
PaddedGraph ExpectExact(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket);

/// Pads the text for each of these sizes, of which the first differ from the bucket's all. Expects
/// one graph for all, exact results, and parameters whose formulas hold there and at `others`.
/// Returns the padded graph of the first.
PaddedGraph ExpectOneGraph(const std::string& text, const SizesByName& bucket,
                           const std::vector<SizesByName>& exact,
                           const std::vector<SizesByName>& others = {});

/// The message of a refusal; fails the test where there is none.
std::string RefusalOf(const std::string& text, const SizesByName& exact, const SizesByName& bucket);

int CountOf(const Graph& graph, Op op);

}  // namespace tunec::test
