// The kernels of a model as one graph of the driver's, which a single call launches.
//
// The graph is a chain of kernel nodes, built node by node. Recording a stream while it is launched
// into ("stream capture") would give the same graph; but then what other threads of the process ask
// of the driver meanwhile can spoil the recording, and which node is which launch has to be found
// out afterwards, for each node's pointers are to be changed later.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_kernel.h"
#include "runtime/device.h"

namespace tunec {

/// Made once; afterwards only pointers are updated, of kernels that have others than at the last
/// start. Where the driver makes no graph, the kernels are launched one by one, and Note says why.
/// The GPU outlives it.
std::unique_ptr<DeviceSequence> RecordCudaSequence(
    Gpu& gpu, std::vector<std::unique_ptr<CudaKernel>> kernels);

}  // namespace tunec
