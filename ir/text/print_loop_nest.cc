// The printer of a LoopNest. The bodies of loops are in braces, as in C.
#include <array>

#include "ir/loop_nest.h"
#include "ir/nest/loop_nest_names.h"
#include "ir/text/print_expr.h"
#include "ir/text/print_statement.h"

namespace tunec {
namespace {

class Printer {
 public:
  explicit Printer(const LoopNest& nest) : nest_(nest) {
    variable_ = [this](VarId v) {
      const bool known = nest_.variables.contains(v);
      return known ? PrintName(nest_.variables[v]) : fmt::format("\"?{}\"", v);
    };
    const auto slot = [](int s) { return fmt::format("@{}", s); };
    names_ = {.variable = variable_, .read = slot, .loaded = slot};
  }
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  std::string Run() {
    Line("nest " + PrintName(nest_.name) +
         (nest_.contraction == Contraction::kSeparate ? " separate {" : " {"));
    ++depth_;
    for (const Tensor& tensor : nest_.tensors) Line(PrintTensor(tensor, nest_.tensors));
    for (const Phase& phase : nest_.phases) Block("phase " + PrintName(phase.name), phase.body);
    --depth_;
    Line("}");
    return std::move(text_);
  }

 private:
  void Line(const std::string& line) {
    text_.append(2 * static_cast<size_t>(depth_), ' ');
    text_ += line + "\n";
  }

  void Block(const std::string& head, const Body& body) {
    Line(head + " {");
    ++depth_;
    for (const NestNode& node : body) {
      std::visit([this](const auto& n) { Write(n); }, node.value);
    }
    --depth_;
    Line("}");
  }

  std::string Bound(const std::vector<IndexExpr>& bounds, std::string_view op) const {
    if (bounds.size() == 1) return PrintIndex(bounds[0], names_);
    std::string text = std::string(op) + "(";
    for (size_t i = 0; i < bounds.size(); ++i) {
      if (i > 0) text += ", ";
      text += PrintIndex(bounds[i], names_);
    }
    return text + ")";
  }

  void Write(const Loop& loop) {
    std::string head;
    if (loop.kind != LoopKind::kSerial) head = std::string(Name(loop.kind)) + " ";
    head += fmt::format("for {} in {} .. {}", variable_(loop.var), Bound(loop.lower, "max"),
                        Bound(loop.upper, "min"));
    if (loop.unroll != 1) head += fmt::format(" unroll {}", loop.unroll);
    Block(head, loop.body);
  }

  void Write(const If& branch) {
    Block("if (" + PrintConditions(branch.nonnegative, names_) + ")", branch.body);
  }

  void Write(const Store& store) {
    const Assignment assignment{store.reads, store.writes, store.values, store.reducer};
    const auto lines = PrintAssignment(assignment, nest_.tensors, variable_);
    const std::string head =
        PrintName(store.statement) + (store.non_temporal ? " non_temporal:" : ":");
    if (lines.size() == 1) return Line(head + " " + lines[0]);
    Line(head + " {");
    ++depth_;
    for (const std::string& line : lines) Line(line);
    --depth_;
    Line("}");
  }

  void Write(const Alloc& alloc) {
    std::string head = fmt::format("alloc {}: {}", TensorText(alloc.tensor), Name(alloc.scope));
    if (alloc.per_thread) head += " per_thread";
    if (alloc.stages != 1) head += fmt::format(" stages {}", alloc.stages);
    Block(head + PrintSwizzle(alloc.swizzle), alloc.body);
  }

  void Write(const Prefetch& prefetch) {
    Line(fmt::format("prefetch {} level {}{}", PrintWrite(prefetch.address, nest_.tensors, names_),
                     prefetch.level, prefetch.for_write ? " write" : ""));
  }

  void Write(const AsyncCopy& copy) {
    std::string extent;
    for (const int64_t e : copy.extent)
      extent += fmt::format("{}{}", extent.empty() ? "" : ", ", e);
    Line(fmt::format("async_copy {} {} -> {} extent [{}]", copy.token,
                     PrintRead(copy.from, nest_.tensors, names_),
                     PrintWrite(copy.to, nest_.tensors, names_), extent));
  }

  void Write(const Arrive& arrive) {
    Line(fmt::format("arrive {} stage {}", arrive.token, PrintIndex(arrive.stage, names_)));
  }

  void Write(const Wait& wait) {
    Line(fmt::format("wait {} stage {} parity {}", wait.token, PrintIndex(wait.stage, names_),
                     PrintIndex(wait.parity, names_)));
  }

  void Write(const Barrier&) { Line("barrier"); }

  void Write(const Shuffle& shuffle) {
    Line(fmt::format("shuffle {} = {} of {} xor {}", PrintWrite(shuffle.to, nest_.tensors, names_),
                     PrintRead(shuffle.from, nest_.tensors, names_), variable_(shuffle.thread),
                     shuffle.distance));
  }

  void Write(const Roles& roles) {
    Line("roles {");
    ++depth_;
    for (const Role& role : roles.roles) {
      Block(fmt::format("role {} threads {} registers {}", PrintName(role.name), role.threads,
                        role.registers),
            role.body);
    }
    --depth_;
    Line("}");
  }

  void Write(const Tile& tile) { Block("tile " + PrintName(tile.intrinsic), tile.body); }

  std::string TensorText(TensorId id) const {
    return nest_.tensors.contains(id) ? PrintName(nest_.tensors[id].name)
                                      : fmt::format("\"?{}\"", id);
  }

  const LoopNest& nest_;
  std::function<std::string(VarId)> variable_;
  TextNames names_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string Print(const LoopNest& nest) { return Printer(nest).Run(); }

std::string PrintSwizzle(const Swizzle& swizzle) {
  if (!swizzle.MovesChunks()) return "";
  return fmt::format(" swizzle {} of {}", swizzle.chunks, swizzle.row_bytes);
}

}  // namespace tunec
