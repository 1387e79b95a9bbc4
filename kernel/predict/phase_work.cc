#include "kernel/predict/phase_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/multiply_add.h"
#include "ir/nest/plain_copies.h"
#include "ir/nest/sample_instances.h"
#include "ir/nest/visit_loop_nest.h"
#include "ir/tile_intrinsic.h"
#include "kernel/predict/warp_sectors.h"
#include "support/check.h"

namespace tunec {
namespace {

double OperationsOf(const Store& store, Contraction contraction) {
  double operations = 0;
  const auto see = [&](const Expr& node) {
    if (node.kind() == ExprKind::kApply && IsFloat(node.type())) operations += 1;
  };
  for (const Expr& value : store.values) Visit(value, see);
  if (!store.reducer) return operations;
  for (const Expr& combine : store.reducer->combine) Visit(combine, see);
  if (contraction == Contraction::kSeparate) return operations;
  VisitMultiplyAdds(store.values, store.reducer, [&](const MultiplyAdd& one) {
    if (one.product != nullptr && IsFloat(one.type)) operations -= 1;
  });
  return operations;
}

class WorkCounter {
 public:
  // `copied` has the tensors that asynchronous copies fill.
  WorkCounter(const LoopNest& nest, const Phase& phase, const std::set<TensorId>& copied)
      : nest_(nest), copied_(copied), launch_(LaunchOf(phase)) {
    SampleInstances(phase.body, nest.variables.size(),
                    [&](const SampledStore& sampled) { See(sampled); });
    for (const auto& [tensor, bytes] : read_) AddToMemory(tensor, bytes);
    for (const auto& [tensor, bytes] : written_) AddToMemory(tensor, bytes);
  }
  const PhaseWork& work() const { return work_; }

 private:
  void See(const SampledStore& sampled) {
    const Store& store = sampled.store;
    CountOperations(sampled);
    for (const Read& read : store.reads) SeeRead(read.tensor, read.index, sampled);
    for (const Write& write : store.writes) {
      if (store.reducer) SeeRead(write.tensor, write.index, sampled);
      written_[write.tensor] += Move(write.tensor, write.index, sampled).bytes;
    }
  }

  void CountOperations(const SampledStore& sampled) {
    const TileIntrinsic* tile = sampled.tile == nullptr ? nullptr : WarpIntrinsicOf(*sampled.tile);
    if (tile == nullptr) {
      work_.operations += OperationsOf(sampled.store, nest_.contraction) * sampled.count;
    } else {
      ProductsOf(tile->left.type) += sampled.count;
    }
  }

  double& ProductsOf(DataType type) {
    switch (type) {
      case DataType::kF32:
        return work_.matrix_tf32;
      case DataType::kF16:
      case DataType::kBF16:
        return work_.matrix_f16;
      case DataType::kI8:
        return work_.matrix_i8;
      default:
        break;
    }
    TUNEC_UNREACHABLE("a type that no tile of a warp multiplies");
  }

  void SeeRead(TensorId tensor, const std::vector<IndexExpr>& index, const SampledStore& sampled) {
    const Moved moved = Move(tensor, index, sampled);
    read_[tensor] += moved.bytes;
    if (copied_.contains(sampled.store.writes[0].tensor)) {
      work_.copied_bytes +=
          moved.elements * static_cast<double>(SizeOf(nest_.tensors[tensor].type));
    } else {
      work_.loads += moved.accesses;
    }
  }

  struct Moved {
    double elements = 0;
    double accesses = 0;
    double bytes = 0;  // bytes of the sectors
  };

  struct OfElement {
    double sectors = 0;
    double accesses = 0;
  };

  // Returns the traffic of an access. The traffic is 0 for local storage. Adds the bytes of the
  // sectors to those of L2.
  Moved Move(TensorId id, const std::vector<IndexExpr>& index, const SampledStore& sampled) {
    const Tensor& tensor = nest_.tensors[id];
    if (tensor.role == TensorRole::kLocal) return {};
    const auto [known, is_new] = of_element_.emplace(&index, OfElement{});
    OfElement& one = known->second;
    if (is_new) {
      one = {.sectors = SectorsPerElement(tensor, index, sampled, launch_),
             .accesses = AccessesPerElement(tensor, index, sampled)};
    }
    const double elements = sampled.count / RepeatsOf(index, sampled);
    const double bytes = elements * one.sectors * static_cast<double>(kSectorBytes);
    work_.l2_bytes += bytes;
    return {.elements = elements, .accesses = elements * one.accesses, .bytes = bytes};
  }

  void AddToMemory(TensorId tensor, double bytes) {
    work_.memory_bytes += std::min(bytes, static_cast<double>(StorageBytes(nest_.tensors[tensor])));
  }

  const LoopNest& nest_;
  const std::set<TensorId>& copied_;
  const Launch launch_;
  PhaseWork work_;
  std::map<TensorId, double> read_;
  std::map<TensorId, double> written_;
  std::map<const std::vector<IndexExpr>*, OfElement> of_element_;  // per access
};

}  // namespace

double AllOperations(const PhaseWork& work) {
  return work.operations + work.matrix_f16 + work.matrix_tf32 + work.matrix_i8;
}

std::vector<PhaseWork> CountPhaseWork(const LoopNest& mapped) {
  std::set<TensorId> copied;
  ForEach<AsyncCopy>(mapped, [&](const AsyncCopy& copy) { copied.insert(copy.to.tensor); });
  const LoopNest nest = PlainCopies(mapped);  // plain stores, because only stores are counted
  std::vector<PhaseWork> works;
  for (const Phase& phase : nest.phases) works.push_back(WorkCounter(nest, phase, copied).work());
  return works;
}

}  // namespace tunec
