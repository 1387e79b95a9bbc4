// The nests that bench_kernels times.
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

/// C[M,N] = A[M,K] * B[K,N], B packed in panels of nr columns, mr x nr accumulators in registers,
/// K in blocks of kc, the k loop unrolled `unroll` times.
std::string GemmNest(int m, int n, int k, int mr, int nr, int kc, int unroll);
/// 3x3 convolution, NHWC, of an already padded input; tile of ow_tile x oc_tile outputs.
std::string ConvNest(int height, int width, int channels, int filters, int ow_tile, int oc_tile);
std::string SoftmaxNest(int rows, int columns);
/// B[i] = f(A[i]) where f is an expression over A[i].
std::string MapNest(int elements, const std::string& expression);

}  // namespace tunec::bench
