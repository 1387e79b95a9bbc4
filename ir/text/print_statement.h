// Printers of tensors and of one assignment, shared by the text forms of Compute and LoopNest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/text/print_expr.h"

namespace tunec {

/// Returns the declaration of a tensor, such as `input A: f32[37, 29] align 64`.
std::string PrintTensor(const Tensor& tensor, const Tensors& tensors);

/// Return the text of a read or a write, such as `A[i, k]` or `A[i - 1] where (i - 1 >= 0) else
/// 0.0`. `names.loaded` returns the text of a loaded value in an index.
std::string PrintRead(const Read& read, const Tensors& tensors, const TextNames& names);
std::string PrintWrite(const Write& write, const Tensors& tensors, const TextNames& names);

/// References to the parts that a Statement and a Store have in common.
struct Assignment {
  const std::vector<Read>& reads;
  const std::vector<Write>& writes;
  const std::vector<Expr>& values;
  const std::optional<Reducer>& reducer;
};

/// Returns the lines of an assignment. The last line is such as `C[i, j] sum= A[i, k] * B[k, j]`.
/// Lines before it define the reducer and the reads if the last line does not imply them.
std::vector<std::string> PrintAssignment(const Assignment& assignment, const Tensors& tensors,
                                         const std::function<std::string(VarId)>& variable);

/// Returns the predefined reducer of this name whose first value has this type, if there is one.
std::optional<Reducer> FindReducer(const std::string& name, DataType type);

/// Returns whether two reads are equal. The outside values of guards are compared by their bits.
bool AreSameRead(const Read& a, const Read& b);

std::string_view Name(TensorRole role);
std::optional<TensorRole> ParseTensorRole(std::string_view name);

}  // namespace tunec
