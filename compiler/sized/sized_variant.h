// The code of a sized model for one set of sizes, and what it takes to run smaller ones on it.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/sized/size_formula.h"
#include "compiler/sized/sized_source.h"
#include "runtime/any_shape.h"
#include "runtime/executable.h"
#include "support/error.h"

namespace tunec {

/// A run of a variant on a part of the caller's arrays: along each dimension it begins somewhere
/// and has some size, of as many as the caller's arrays have.
struct SizedPart {
  Sizes whole;
  Sizes begin;
  Sizes size;
};

/// Where the outputs lie for any sizes: of each output, of each axis, its parts, the first the
/// slowest (graph/pad/pad_graph.h).
using OutputForm = std::vector<std::vector<std::vector<SizeFormula>>>;

/// What a sized model learns before it compiles anything: how its graphs depend on the sizes.
struct SizedShape {
  OutputForm outputs;
  /// Of each dimension: whether elements of different positions never meet, so that runs may be
  /// cut.
  std::vector<bool> separable;
};

/// An input of a padded graph that follows from the sizes.
struct SizedParameter {
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  std::vector<SizeFormula> elements;
};

/// A graph for some sizes, and, with parameters, for smaller ones.
struct SizedGraph {
  Graph graph;
  Sizes sizes;
  std::vector<SizedParameter> parameters;
};

/// kUnsupported names what keeps the model from being padded.
Result<SizedShape> LearnShape(const SizedSource& source);
/// The graph of these sizes for smaller ones along the dimensions that are `open`. kUnsupported
/// names what cannot be padded.
Result<SizedGraph> PaddedGraphFor(const SizedSource& source, const Sizes& sizes,
                                  const std::vector<bool>& open);

class SizedVariant {
 public:
  /// `outputs` may be null: then runs are of these sizes and whole.
  static Result<std::shared_ptr<const SizedVariant>> Compile(
      const SizedSource& source, const SizedGraph& graph, std::shared_ptr<const OutputForm> outputs,
      Database* database, const CompileOptions& options);

  const Sizes& sizes() const { return sizes_; }
  const CompileReport& report() const { return report_; }
  bool is_padded() const { return !parameters_.empty(); }
  const Executable& executable() const { return *executable_; }
  Status Run(const SizedPart& part, std::span<const void* const> inputs,
             std::span<void* const> outputs) const;
  /// Frees what runs that are over have left for the next one.
  void FreeIdle() const;

 private:
  struct Buffers;
  std::unique_ptr<Buffers> TakeBuffers() const;
  void GiveBack(std::unique_ptr<Buffers> buffers) const;
  const void* PutInput(const SizedPart& part, size_t i, const void* data, Buffers& buffers) const;
  void SetParameters(const Sizes& sizes, Buffers& buffers) const;

  std::vector<std::vector<int>> open_;  // of each input, of each axis: its dimension, or -1
  Sizes sizes_;
  std::vector<SizedParameter> parameters_;
  std::shared_ptr<const OutputForm> outputs_;
  std::shared_ptr<const Executable> executable_;
  CompileReport report_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Buffers>> free_;
};

}  // namespace tunec
