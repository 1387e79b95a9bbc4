#include "ir/verify/verify_statement.h"

#include <algorithm>
#include <set>

#include "ir/array.h"
#include "ir/expr/evaluate_expr.h"

namespace tunec {
namespace {

template <class... Args>
std::unexpected<Error> Wrong(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

Status VerifyLayout(const Tensor& tensor) {
  const Layout& layout = tensor.layout;
  if (layout.map.size() != layout.shape.size()) {
    return Wrong("tensor {}: layout maps to {} dimensions, its shape has {}", tensor.name,
                 layout.map.size(), layout.shape.size());
  }
  if (layout.IsRowMajor()) return {};
  if (ElementCount(layout.shape) < 0) {
    return Wrong("tensor {}: the layout's shape has no element count", tensor.name);
  }
  for (size_t d = 0; d < layout.map.size(); ++d) {
    const IndexExpr& index = layout.map[d];
    std::vector<VarId> variables;
    index.CollectVars(variables);
    const auto foreign = [&](VarId v) {
      return v.number() < 0 || v.index() >= tensor.shape.size();
    };
    if (index.UsesLoaded() || std::ranges::any_of(variables, foreign)) {
      return Wrong("tensor {}: layout index {} uses more than the {} logical dimensions",
                   tensor.name, d, tensor.shape.size());
    }
    const Interval bounds = BoundsOf(index, [&](VarId v) {
      return Interval{0, tensor.shape[v.index()] - 1};
    });
    const bool outside = bounds.hi < 0 || bounds.lo >= layout.shape[d];
    if (outside && ElementCount(tensor.shape) > 0) {
      return Wrong("tensor {}: layout index {} is {} to {}, its extent {}", tensor.name, d,
                   bounds.lo, bounds.hi, layout.shape[d]);
    }
  }
  return {};
}

Status VerifyAlias(const Tensors& tensors, const Tensor& tensor) {
  if (!tensor.alias) return {};
  const TensorId target = *tensor.alias;
  if (!tensors.contains(target)) {
    return Wrong("tensor {}: alias of tensor number {}, there are {}", tensor.name, target,
                 tensors.size());
  }
  const Tensor& home = tensors[target];
  if (&home == &tensor || home.alias) {
    return Wrong("tensor {}: alias of {}, expected a tensor with separate storage", tensor.name,
                 home.name);
  }
  if (home.type != tensor.type || StorageElements(home) != StorageElements(tensor)) {
    return Wrong("tensor {}: alias of {}, which has another type or size", tensor.name, home.name);
  }
  return {};
}

Status VerifyTensor(const Tensor& tensor) {
  if (tensor.name.empty()) return Wrong("a tensor has no name");
  if (ElementCount(tensor.shape) < 0) {
    return Wrong("tensor {}: its shape has no element count", tensor.name);
  }
  const int64_t align = tensor.alignment;
  if (align < 0 || (align & (align - 1)) != 0) {
    return Wrong("tensor {}: alignment {}, expected a power of two", tensor.name, align);
  }
  if (tensor.range && tensor.range->lo > tensor.range->hi) {
    return Wrong("tensor {}: range [{}, {}] is empty", tensor.name, tensor.range->lo,
                 tensor.range->hi);
  }
  const bool copies_weight =
      tensor.role == TensorRole::kWeight || tensor.role == TensorRole::kWorkspace;
  if (tensor.finite && !(IsFloat(tensor.type) && copies_weight)) {
    return Wrong("tensor {}: a finite {} of {}, expected a weight of floats or a copy of one",
                 tensor.name, Name(tensor.role), Name(tensor.type));
  }
  return VerifyLayout(tensor);
}

// Returns whether `visits_every_point` is true and all terms of the index are exact variables.
bool IsExact(const IndexExpr& index, const VerifyContext& context) {
  return context.visits_every_point &&
         std::ranges::all_of(index.terms(), [&](const IndexTerm& term) {
           return term.atom.kind == IndexAtom::Kind::kVariable &&
                  context.exact(term.atom.variable());
         });
}

Status VerifyBounds(const Tensor& tensor, size_t d, const IndexExpr& index,
                    const VerifyContext& context, bool guarded) {
  const Interval bounds = BoundsOf(index, context.intervals);
  const int64_t extent = tensor.shape[d];
  const bool exact = !guarded && IsExact(index, context);
  // If the interval is only an estimate, the index is certainly wrong only if the whole interval is
  // outside the tensor.
  const bool wrong =
      exact ? bounds.lo < 0 || bounds.hi >= extent
            : !guarded && context.visits_every_point && (bounds.hi < 0 || bounds.lo >= extent);
  if (!wrong || bounds.lo > bounds.hi) return {};
  return Wrong("index {} of {} is {} to {}, its extent {}", d, tensor.name, bounds.lo, bounds.hi,
               extent);
}

// The expression's position in the assignment, which decides the kinds of nodes that may occur.
struct ExprContext {
  const Assignment& assignment;
  const VerifyContext& context;
  bool in_reducer = false;
  bool accumulators = false;
  bool incoming = false;
};

Status VerifySlot(const Expr& node, const ExprContext& where) {
  const Assignment& assignment = where.assignment;
  const int slot = node.node().slot;
  const bool read = node.kind() == ExprKind::kRead;
  const auto count = read ? std::ssize(assignment.reads) : std::ssize(assignment.writes);
  if (slot < 0 || slot >= count) return Wrong("slot {} of {} in an expression", slot, count);
  const TensorId tensor = read ? assignment.reads[slot].tensor : assignment.writes[slot].tensor;
  const DataType type = where.context.tensors[tensor].type;
  if (node.type() == type) return {};
  return Wrong("slot {} is used as {}, its tensor {} is {}", slot, Name(node.type()),
               where.context.tensors[tensor].name, Name(type));
}

Status VerifyNode(const Expr& node, const ExprContext& where) {
  switch (node.kind()) {
    case ExprKind::kConstant:
    case ExprKind::kCast:
      return {};
    case ExprKind::kRead:
      if (where.in_reducer) return Wrong("a reducer reads slot {}", node.node().slot);
      return VerifySlot(node, where);
    case ExprKind::kAccumulator:
      if (!where.accumulators) return Wrong("an accumulator outside combine and finalise");
      return VerifySlot(node, where);
    case ExprKind::kIncoming:
      if (!where.incoming) return Wrong("an incoming value outside combine");
      return VerifySlot(node, where);
    case ExprKind::kIndex:
    case ExprKind::kHolds:
      if (where.in_reducer) return Wrong("a reducer uses variables");
      for (const IndexExpr& index : node.node().index) {
        TUNEC_RETURN_IF_ERROR(VerifyIndex(index, where.context, where.assignment.reads.size()));
      }
      return {};
    case ExprKind::kApply:
      break;
  }
  const DataType type = node.operands().back().type();
  if (IsDefined(node.node().op, type)) return {};
  return Wrong("{} is not defined for {}", Name(node.node().op), Name(type));
}

Status VerifyExpr(const Expr& expr, const ExprContext& where) {
  Status status;
  Visit(expr, [&](const Expr& node) {
    if (status) status = VerifyNode(node, where);
  });
  return status;
}

// Checks each expression, and that there is one per write, of the written tensor's type.
Status VerifyPerWrite(const std::vector<Expr>& exprs, std::string_view what,
                      const ExprContext& where) {
  const std::vector<Write>& writes = where.assignment.writes;
  if (exprs.size() != writes.size()) {
    return Wrong("{} {} for {} writes", exprs.size(), what, writes.size());
  }
  for (size_t k = 0; k < exprs.size(); ++k) {
    TUNEC_RETURN_IF_ERROR(VerifyExpr(exprs[k], where));
    const Tensor& tensor = where.context.tensors[writes[k].tensor];
    if (exprs[k].type() == tensor.type) continue;
    return Wrong("{} {} is {}, but {} is {}", what, k, Name(exprs[k].type()), tensor.name,
                 Name(tensor.type));
  }
  return {};
}

Status VerifyReducer(const Assignment& assignment, const VerifyContext& context) {
  const Reducer& reducer = *assignment.reducer;
  ExprContext where{.assignment = assignment, .context = context, .in_reducer = true};
  TUNEC_RETURN_IF_ERROR(VerifyPerWrite(reducer.identity, "identities", where));
  where.accumulators = true;
  if (!reducer.finalise.empty()) {
    TUNEC_RETURN_IF_ERROR(VerifyPerWrite(reducer.finalise, "finalising values", where));
  }
  where.incoming = true;
  return VerifyPerWrite(reducer.combine, "combining values", where);
}

Status VerifyLoadedTypes(const Assignment& assignment, const VerifyContext& context,
                         const IndexExpr& index) {
  for (const IndexTerm& term : index.terms()) {
    if (term.atom.kind == IndexAtom::Kind::kFloorDiv) {
      TUNEC_RETURN_IF_ERROR(VerifyLoadedTypes(assignment, context, *term.atom.numerator));
    } else if (term.atom.kind == IndexAtom::Kind::kLoaded) {
      const Tensor& tensor = context.tensors[assignment.reads[term.atom.id].tensor];
      if (!IsInteger(tensor.type)) {
        return Wrong("{} of type {} is used as an index", tensor.name, Name(tensor.type));
      }
    }
  }
  return {};
}

Status VerifyWrites(const Assignment& assignment, const VerifyContext& context) {
  if (assignment.writes.empty()) return Wrong("nothing is written");
  for (size_t k = 0; k < assignment.writes.size(); ++k) {
    const Write& write = assignment.writes[k];
    TUNEC_RETURN_IF_ERROR(
        VerifyAccess(write.tensor, write.index, context, assignment.reads.size(), false));
    for (const IndexExpr& index : write.index) {
      TUNEC_RETURN_IF_ERROR(VerifyLoadedTypes(assignment, context, index));
    }
    const Tensor& tensor = context.tensors[write.tensor];
    if (tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight) {
      return Wrong("{} {} is written", Name(tensor.role), tensor.name);
    }
    for (size_t earlier = 0; earlier < k; ++earlier) {
      if (assignment.writes[earlier] == write) {
        return Wrong("an element of {} is written twice", tensor.name);
      }
    }
  }
  return {};
}

}  // namespace

Status VerifyTensors(const Tensors& tensors) {
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    TUNEC_RETURN_IF_ERROR(VerifyTensor(tensor));
    TUNEC_RETURN_IF_ERROR(VerifyAlias(tensors, tensor));
    if (!names.insert(tensor.name).second) {
      return Wrong("two tensors are called {}", tensor.name);
    }
  }
  return {};
}

Status VerifyIndex(const IndexExpr& index, const VerifyContext& context, size_t slots) {
  for (const IndexTerm& term : index.terms()) {
    const IndexAtom& atom = term.atom;
    if (atom.kind == IndexAtom::Kind::kFloorDiv) {
      TUNEC_RETURN_IF_ERROR(VerifyIndex(*atom.numerator, context, slots));
    } else if (atom.kind == IndexAtom::Kind::kVariable) {
      if (!context.in_scope(atom.variable())) return Wrong("variable {} is not in scope", atom.id);
    } else if (atom.id < 0 || static_cast<size_t>(atom.id) >= slots) {
      return Wrong("index uses read @{}, expected one of the {} before it", atom.id, slots);
    }
  }
  return {};
}

Status VerifyAccess(TensorId id, const std::vector<IndexExpr>& index, const VerifyContext& context,
                    size_t slots, bool guarded) {
  if (!context.tensors.contains(id)) {
    return Wrong("tensor number {}, there are {}", id, context.tensors.size());
  }
  const Tensor& tensor = context.tensors[id];
  if (index.size() != tensor.shape.size()) {
    return Wrong("{} has {} dimensions, its index {}", tensor.name, tensor.shape.size(),
                 index.size());
  }
  for (size_t d = 0; d < index.size(); ++d) {
    TUNEC_RETURN_IF_ERROR(VerifyIndex(index[d], context, slots));
    TUNEC_RETURN_IF_ERROR(VerifyBounds(tensor, d, index[d], context, guarded));
  }
  return {};
}

Status VerifyRead(const Read& read, const VerifyContext& context, size_t slots) {
  TUNEC_RETURN_IF_ERROR(
      VerifyAccess(read.tensor, read.index, context, slots, read.guard.has_value()));
  if (!read.guard) return {};
  for (const IndexExpr& condition : read.guard->nonnegative) {
    TUNEC_RETURN_IF_ERROR(VerifyIndex(condition, context, slots));
  }
  return {};
}

Status VerifyAssignment(const Assignment& assignment, const VerifyContext& context) {
  for (size_t slot = 0; slot < assignment.reads.size(); ++slot) {
    const Read& read = assignment.reads[slot];
    TUNEC_RETURN_IF_ERROR(VerifyRead(read, context, slot));
    for (const IndexExpr& index : read.index) {
      TUNEC_RETURN_IF_ERROR(VerifyLoadedTypes(assignment, context, index));
    }
  }
  TUNEC_RETURN_IF_ERROR(VerifyWrites(assignment, context));
  const ExprContext where{.assignment = assignment, .context = context};
  TUNEC_RETURN_IF_ERROR(VerifyPerWrite(assignment.values, "values", where));
  if (assignment.reducer) return VerifyReducer(assignment, context);
  return {};
}

}  // namespace tunec
