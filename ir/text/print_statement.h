// The text of tensors and of one assignment, shared by Compute's and LoopNest's printers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/text/print_expr.h"

namespace tunec {

/// `input A: f32[37, 29] align 64`
std::string PrintTensor(const Tensor& tensor, const Tensors& tensors);

/// `A[i, k]`, `A[i - 1] where (i - 1 >= 0) else 0.0`; names.loaded writes gathered indices.
std::string PrintRead(const Read& read, const Tensors& tensors, const TextNames& names);
std::string PrintWrite(const Write& write, const Tensors& tensors, const TextNames& names);

/// What a Statement and a Store have in common.
struct Assignment {
  const std::vector<Read>& reads;
  const std::vector<Write>& writes;
  const std::vector<Expr>& values;
  const std::optional<Reducer>& reducer;
};

/// The lines of an assignment: a reducer without a name of its own, then the reads where they
/// can't be written in place, then `C[i, j] sum= A[i, k] * B[k, j]`.
std::vector<std::string> PrintAssignment(const Assignment& assignment, const Tensors& tensors,
                                         const std::function<std::string(VarId)>& variable);

/// The reducer that `name` stands for in text, for values of this type.
std::optional<Reducer> FindReducer(const std::string& name, DataType type);

/// Equality in which a NaN outside a guard equals itself.
bool SameRead(const Read& a, const Read& b);

std::string_view Name(TensorRole role);
std::optional<TensorRole> ParseTensorRole(std::string_view name);

}  // namespace tunec
