#include <algorithm>

#include "ir/interpret/assignment.h"
#include "ir/interpret/interpret.h"

namespace tunec {
namespace {

// The execution of one statement over its domain. A reduction starts at the identity in each
// element that it writes. The written elements are finalised after the last instance.
class StatementRun {
 public:
  StatementRun(const Storage& storage, const Statement& statement, Precision precision)
      : statement_(statement),
        precision_(precision),
        assignment_(storage,
                    {statement.reads, statement.writes, statement.values, statement.reducer},
                    statement.name, Contraction::kSeparate, precision),
        point_(statement.iterators.size(), 0) {
    for (const IndexExpr& condition : statement.domain) domain_.emplace_back(condition);
    if (!statement.reducer) return;
    for (const Expr& e : statement.reducer->identity) {
      identity_.push_back(EvaluateConstant(e, precision));
    }
    for (const Write& write : statement.writes) {
      touched_.emplace_back(storage.buffer(write.tensor).size(), 0);
    }
    old_value_ = [this](size_t k, int64_t offset) -> std::optional<Scalar> {
      if (touched_[k][offset] != 0) return std::nullopt;
      return identity_[k];
    };
  }
  StatementRun(const StatementRun&) = delete;
  StatementRun& operator=(const StatementRun&) = delete;

  Status Run() {
    TUNEC_RETURN_IF_ERROR(RunFrom(0));
    if (statement_.reducer) {
      TUNEC_RETURN_IF_ERROR(StartEmptyReductions());
      Finalise();
    }
    return {};
  }

 private:
  Status RunFrom(size_t depth) {
    if (depth == point_.size()) return RunInstance();
    for (int64_t i = 0; i < statement_.iterators[IteratorVar(depth)].extent; ++i) {
      point_[depth] = i;
      TUNEC_RETURN_IF_ERROR(RunFrom(depth + 1));
    }
    return {};
  }

  Status RunInstance() {
    for (const FlatIndex& condition : domain_) {
      if (condition.At(point_, {}) < 0) return {};
    }
    TUNEC_RETURN_IF_ERROR(assignment_.Run(point_, old_value_));
    if (statement_.reducer) Touch(assignment_.offsets());
    return {};
  }

  void Touch(const std::vector<int64_t>& offsets) {
    if (touched_[0][offsets[0]] != 0) return;
    for (size_t k = 0; k < offsets.size(); ++k) touched_[k][offsets[k]] = 1;
    elements_.push_back(offsets);
  }

  // Returns the extents of the iterators that the writes' indices use, and 1 for the other
  // iterators. Returns nothing if certainly each element that the indices select has an instance,
  // or if loaded values decide which elements are written.
  std::optional<std::vector<int64_t>> ExtentsOfWrites() const {
    std::vector<VarId> used;
    for (const Write& write : statement_.writes) {
      for (const IndexExpr& index : write.index) {
        if (index.UsesLoaded()) return std::nullopt;
        index.CollectVars(used);
      }
    }
    std::vector<int64_t> extents;
    bool whole = statement_.domain.empty();
    for (const VarId i : statement_.iterators.ids()) {
      const bool written = std::ranges::find(used, i) != used.end();
      extents.push_back(written ? statement_.iterators[i].extent : 1);
      whole &= written || statement_.iterators[i].extent > 0;
    }
    if (whole) return std::nullopt;
    return extents;
  }

  // Sets the elements of ExtentsOfWrites that have no instance to the identity. The statement's
  // further conditions select the iterations that add to an element; they do not select elements.
  Status StartEmptyReductions() {
    const std::optional<std::vector<int64_t>> extents = ExtentsOfWrites();
    if (!extents) return {};
    Status status;
    ForEachIndex(*extents, [&](std::span<const int64_t> point) {
      std::vector<int64_t> offsets;
      for (size_t k = 0; k < statement_.writes.size(); ++k) {
        const auto offset = assignment_.write(k).Locate(point, {});
        if (!offset) {
          status = std::unexpected(offset.error());
          return false;
        }
        offsets.push_back(*offset);
      }
      if (touched_[0][offsets[0]] == 0) Start(offsets);
      return true;
    });
    return status;
  }

  void Start(const std::vector<int64_t>& offsets) {
    for (size_t k = 0; k < offsets.size(); ++k) {
      assignment_.write(k).buffer().Set(offsets[k], identity_[k]);
    }
    Touch(offsets);
  }

  void Finalise() {
    const std::vector<Expr>& finalise = statement_.reducer->finalise;
    if (finalise.empty()) return;
    std::vector<ExprProgram> programs;
    for (const Expr& e : finalise) programs.emplace_back(e, precision_);
    std::vector<Scalar> accumulated(statement_.writes.size());
    for (const std::vector<int64_t>& offsets : elements_) {
      for (size_t k = 0; k < offsets.size(); ++k) {
        accumulated[k] = assignment_.write(k).buffer().Get(offsets[k]);
      }
      for (size_t k = 0; k < programs.size(); ++k) {
        assignment_.write(k).buffer().Set(offsets[k],
                                          programs[k].Run({.accumulators = accumulated}));
      }
    }
  }

  const Statement& statement_;
  Precision precision_;
  CompiledAssignment assignment_;
  std::vector<int64_t> point_;
  std::vector<FlatIndex> domain_;
  std::vector<Scalar> identity_;
  std::vector<std::vector<uint8_t>> touched_;   // 1 for a started element, by write and offset
  std::vector<std::vector<int64_t>> elements_;  // started elements: the offset of each write
  CompiledAssignment::OldValue old_value_;
};

}  // namespace

Result<std::vector<Array>> Interpret(const Compute& compute, std::span<const Array> arguments,
                                     Precision precision) {
  TUNEC_RETURN_IF_ERROR(Verify(compute));
  TUNEC_ASSIGN(const Storage storage, Storage::Create(compute.tensors, arguments, precision));
  for (const Statement& statement : compute.statements) {
    TUNEC_RETURN_IF_ERROR(StatementRun(storage, statement, precision).Run());
  }
  return storage.TakeOutputs();
}

}  // namespace tunec
