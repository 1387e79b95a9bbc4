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

/// Returns the nest of C[M,N] = A[M,K] * B[K,N]. B is packed in panels of nr columns, mr x nr
/// accumulators are in registers, K is in blocks of kc, and the k loop is unrolled `unroll` times.
std::string GemmNest(int m, int n, int k, int mr, int nr, int kc, int unroll);
/// Returns the nest of a 3x3 convolution with ReLU of a padded image [height + 2, width + 2,
/// channels]. A tile has ow_tile columns of the output and oc_tile filters.
std::string ConvNest(int height, int width, int channels, int filters, int ow_tile, int oc_tile);
std::string SoftmaxNest(int rows, int columns);
/// Returns the nest of B[i] = f(A[i]), where `expression` is f as an expression of A[i].
std::string MapNest(int elements, const std::string& expression);

}  // namespace tunec::bench
