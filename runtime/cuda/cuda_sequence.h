// Consecutive kernels as one graph of the driver, launched by a single call.
//
// The graph is a chain of kernel nodes, built node by node. Recording a stream's launches ("stream
// capture") would give the same graph. However, driver calls of other threads can invalidate a
// recording. A recording also does not state which node belongs to which launch. Changes of a
// node's pointers need this information.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_kernel.h"
#include "runtime/device.h"

namespace tunec {

/// Builds a CUDA graph of the kernels. A start updates only kernels whose pointers changed since
/// the last start. If the driver cannot build a graph, the kernels are launched one by one, and
/// Note returns the reason. The GPU and the timer must outlive the sequence.
std::unique_ptr<DeviceSequence> RecordCudaSequence(
    Gpu& gpu, CudaTimer& timer, std::vector<std::unique_ptr<CudaKernel>> kernels);

}  // namespace tunec
