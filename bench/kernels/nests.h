// The loop nests that bench_kernels times.
#pragma once

#include <string>
#include <vector>

namespace tunec::bench {

enum class WorkUnit { kFlops, kElements };

struct KernelBench {
  std::string name;
  std::string text;  // a LoopNest
  double work = 0;   // flops or elements of one call
  WorkUnit unit = WorkUnit::kFlops;
};

std::vector<KernelBench> KernelBenches(int vector_bits);

/// Returns the nest of C[m,n] = A[m,k] * B[k,n]. B is packed in panels of nr columns. A tile has at
/// most mr x nr accumulators in registers. The reduction is in blocks of kc, with a loop that is
/// unrolled `unroll` times. Requires: n is a multiple of nr.
std::string GemmNest(int m, int n, int k, int mr, int nr, int kc, int unroll);
/// Returns the nest of a 3x3 convolution with ReLU of a padded image [height + 2, width + 2,
/// channels]. A tile has ow_tile columns of the output and oc_tile filters. Requires: the width is
/// a multiple of ow_tile, and `filters` of oc_tile.
std::string ConvNest(int height, int width, int channels, int filters, int ow_tile, int oc_tile);
std::string SoftmaxNest(int rows, int columns);
/// Returns the nest of B[i] = f(A[i]), where `expression` is f as an expression of A[i].
std::string MapNest(int elements, const std::string& expression);

}  // namespace tunec::bench
