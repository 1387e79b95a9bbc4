// The printers of tensors and assignments. Reads have numbers (slots), but most texts have none, as
// in `acc[i] sum= A[i, k] * B[k]`. The parser gives each new read of such a text the next slot;
// equal reads share a slot. If an assignment has other slots, its reads are written on separate
// lines, as `@0 = A[i, k]`, and used as `@0`.
#include "ir/text/print_statement.h"

#include <array>
#include <bit>

#include "ir/text/layout_text.h"

namespace tunec {
namespace {

constexpr std::array<std::string_view, 5> kRoles = {"input", "output", "weight", "workspace",
                                                    "local"};

template <class Element, class PrintElement>
std::string Join(const std::vector<Element>& elements, const PrintElement& print) {
  std::string text;
  for (const Element& element : elements) {
    if (!text.empty()) text += ", ";
    text += print(element);
  }
  return text;
}

std::string Integer(int64_t value) { return fmt::format("{}", value); }

// Returns the name of a tensor, or a text such as "?7" for an invalid id. Statements that the
// verifier rejects are printed too.
std::string TensorName(TensorId id, const Tensors& tensors) {
  return tensors.contains(id) ? PrintName(tensors[id].name) : fmt::format("\"?{}\"", id);
}

std::string NumberedSlot(int slot) { return fmt::format("@{}", slot); }

// Names for PrintEquation. If possible, the name of a slot is the text of its read. The class also
// records whether parsing the printed text would give the same slots.
class InlineReads {
 public:
  InlineReads(const std::vector<Read>& reads, const Tensors& tensors,
              const std::function<std::string(VarId)>& variable)
      : reads_(reads), tensors_(tensors) {
    names_.variable = variable;
    names_.loaded = [this](int slot) { return "@(" + PrintInline(slot) + ")"; };
    names_.read = [this](int slot) {
      const std::string text = PrintInline(slot);
      return Known(slot) && reads_[slot].guard ? "(" + text + ")" : text;
    };
  }
  InlineReads(const InlineReads&) = delete;
  InlineReads& operator=(const InlineReads&) = delete;

  const TextNames& names() const { return names_; }
  /// Returns whether parsing everything printed so far gives exactly the reads, in order.
  bool Faithful() const { return faithful_ && recorded_ == reads_.size(); }

 private:
  bool Known(int slot) const { return slot >= 0 && static_cast<size_t>(slot) < reads_.size(); }

  std::string PrintInline(int slot) {
    // A read may gather only by an earlier read: this also bounds the recursion.
    if (!Known(slot) || slot >= within_) {
      faithful_ = false;
      return NumberedSlot(slot);
    }
    const int outer = within_;
    within_ = slot;
    std::string text = PrintRead(reads_[slot], tensors_, names_);
    within_ = outer;
    Record(slot);
    return text;
  }

  void Record(int slot) {
    if (static_cast<size_t>(slot) < recorded_) return;
    faithful_ &= static_cast<size_t>(slot) == recorded_;
    for (int earlier = 0; earlier < slot; ++earlier) {
      faithful_ &= !AreSameRead(reads_[earlier], reads_[slot]);
    }
    ++recorded_;
  }

  const std::vector<Read>& reads_;
  const Tensors& tensors_;
  TextNames names_;
  size_t recorded_ = 0;
  int within_ = INT32_MAX;
  bool faithful_ = true;
};

std::string PrintReducerLine(const Reducer& reducer) {
  const TextNames names{.variable = LogicalName, .read = NumberedSlot, .loaded = NumberedSlot};
  const auto list = [&](const std::vector<Expr>& exprs) {
    return Join(exprs, [&](const Expr& e) { return PrintExpr(e, names); });
  };
  std::string text = fmt::format("reducer {} identity ({}) combine ({})", PrintName(reducer.name),
                                 list(reducer.identity), list(reducer.combine));
  if (!reducer.finalise.empty()) text += fmt::format(" finalise ({})", list(reducer.finalise));
  if (!reducer.reorderable) text += " sequential";
  return text;
}

bool HasName(const Reducer& reducer) {
  if (reducer.identity.empty()) return false;
  const auto named = FindReducer(reducer.name, reducer.identity[0].type());
  return named && *named == reducer;
}

std::string PrintEquation(const Assignment& assignment, const Tensors& tensors,
                          const TextNames& names) {
  const auto write = [&](const Write& w) { return PrintWrite(w, tensors, names); };
  const auto value = [&](const Expr& e) {
    const std::string text = PrintExpr(e, names);
    // Remove the parentheses of a guarded read. They are needed only inside larger expressions.
    const bool bare = e.kind() == ExprKind::kRead && text.starts_with("(");
    return bare ? text.substr(1, text.size() - 2) : text;
  };
  const bool tuple = assignment.writes.size() != 1 || assignment.values.size() != 1;
  const std::string_view open = tuple ? "(" : "";
  const std::string_view close = tuple ? ")" : "";
  const std::string left = Join(assignment.writes, write);
  const std::string op = assignment.reducer ? PrintName(assignment.reducer->name) + "=" : "=";
  return fmt::format("{}{}{} {} {}{}{}", open, left, close, op, open,
                     Join(assignment.values, value), close);
}

}  // namespace

std::string_view Name(TensorRole role) { return kRoles.at(static_cast<size_t>(role)); }

std::optional<TensorRole> ParseTensorRole(std::string_view name) {
  for (size_t i = 0; i < kRoles.size(); ++i) {
    if (kRoles[i] == name) return static_cast<TensorRole>(i);
  }
  return std::nullopt;
}

std::optional<Reducer> FindReducer(const std::string& name, DataType type) {
  if (name == "sum") return Reducer::Sum(type);
  if (name == "product") return Reducer::Product(type);
  if (name == "max") return Reducer::Max(type);
  if (name == "min") return Reducer::Min(type);
  if (name == "argmax") return Reducer::ArgMax(type, false);
  if (name == "argmax_last") return Reducer::ArgMax(type, true);
  if (name == "argmin") return Reducer::ArgMin(type, false);
  if (name == "argmin_last") return Reducer::ArgMin(type, true);
  return std::nullopt;
}

bool AreSameRead(const Read& a, const Read& b) {
  if (a.tensor != b.tensor || a.index != b.index || a.guard.has_value() != b.guard.has_value()) {
    return false;
  }
  return !a.guard ||
         (a.guard->nonnegative == b.guard->nonnegative &&
          std::bit_cast<uint64_t>(a.guard->outside) == std::bit_cast<uint64_t>(b.guard->outside));
}

std::string PrintTensor(const Tensor& tensor, const Tensors& tensors) {
  std::string text = fmt::format("{} {}: {}[{}]", Name(tensor.role), PrintName(tensor.name),
                                 Name(tensor.type), Join(tensor.shape, Integer));
  if (tensor.constant) text += " constant";
  if (tensor.finite) text += " finite";
  if (!tensor.layout.IsRowMajor()) text += " " + PrintLayout(tensor.layout, tensor.shape.size());
  if (tensor.alignment != 0) text += fmt::format(" align {}", tensor.alignment);
  if (tensor.alias) text += " alias " + TensorName(*tensor.alias, tensors);
  if (tensor.range) text += fmt::format(" range [{}, {}]", tensor.range->lo, tensor.range->hi);
  return text;
}

std::string PrintRead(const Read& read, const Tensors& tensors, const TextNames& names) {
  const auto index = [&](const IndexExpr& e) { return PrintIndex(e, names); };
  std::string text = TensorName(read.tensor, tensors) + "[" + Join(read.index, index) + "]";
  if (!read.guard) return text;
  return text + fmt::format(" where ({}) else {}", PrintConditions(read.guard->nonnegative, names),
                            PrintDouble(read.guard->outside));
}

std::string PrintWrite(const Write& write, const Tensors& tensors, const TextNames& names) {
  return PrintRead({write.tensor, write.index, std::nullopt}, tensors, names);
}

std::vector<std::string> PrintAssignment(const Assignment& assignment, const Tensors& tensors,
                                         const std::function<std::string(VarId)>& variable) {
  std::vector<std::string> lines;
  if (assignment.reducer && !HasName(*assignment.reducer)) {
    lines.push_back(PrintReducerLine(*assignment.reducer));
  }
  const InlineReads in_place(assignment.reads, tensors, variable);
  const std::string equation = PrintEquation(assignment, tensors, in_place.names());
  if (in_place.Faithful()) {
    lines.push_back(equation);
    return lines;
  }
  const TextNames numbered{.variable = variable, .read = NumberedSlot, .loaded = NumberedSlot};
  for (size_t slot = 0; slot < assignment.reads.size(); ++slot) {
    lines.push_back(
        fmt::format("@{} = {}", slot, PrintRead(assignment.reads[slot], tensors, numbered)));
  }
  lines.push_back(PrintEquation(assignment, tensors, numbered));
  return lines;
}

}  // namespace tunec
