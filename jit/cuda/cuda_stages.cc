#include "jit/cuda/cuda_stages.h"

#include "ir/nest/plain_copies.h"
#include "jit/cuda/assign_threads.h"
#include "jit/cuda/cut_private_dimensions.h"
#include "jit/cuda/emit_copies.h"
#include "jit/cuda/privatize_threads.h"

namespace tunec {
namespace {

// Runs a pass that cannot fail. The function has the type of NestStage::rewrite.
template <LoopNest (*pass)(const LoopNest&)>
Result<LoopNest> Run(const LoopNest& nest) {
  return pass(nest);
}

LoopNest ReplaceCopies(const LoopNest& nest) {
  return PlainCopies(nest, jit::TokensOfCpAsync(nest));
}

constexpr NestStage kStages[] = {
    {"replace_copies", "asynchronous copies that a GPU has no instruction for become stores",
     Run<ReplaceCopies>},
    {"split_copies", "the other asynchronous copies become copies of one element",
     Run<ElementCopies>},
    {"assign_threads", "work outside of loops over threads goes to thread 0", Run<AssignThreads>},
    {"cut_private_dimensions", "private dimensions in which threads take turns become two",
     Run<CutPrivateDimensions>},
    {"privatize_threads", "each thread gets private storage for its part of a tensor",
     PrivatizeThreads},
};

}  // namespace

std::span<const NestStage> CudaStages() { return kStages; }

}  // namespace tunec
