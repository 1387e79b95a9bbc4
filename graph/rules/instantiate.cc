#include "graph/rules/instantiate.h"

#include <algorithm>
#include <cmath>

#include "graph/derived_constant.h"
#include "graph/ops/op_table.h"
#include "graph/rules/joined_constant.h"
#include "graph/rules/rule_functions.h"

namespace tunec {
namespace {

using Plan = ReplacementPlan;
constexpr size_t kFoldedBytes = size_t{1} << 16;

ValueType TypeOf(const Array& array) {
  return {array.type(), std::vector<Dim>(array.shape().begin(), array.shape().end())};
}

// Returns the number as a scalar of the type. Returns nothing if HoldsNumber is false for a float
// type. In an integer type, the number must be exact and its magnitude at most 2^53.
std::optional<Plan> PlanNumber(double number, DataType type) {
  Array array(type, {});
  if (IsFloat(type)) {
    if (!HoldsNumber(type, number)) return {};
    array.SetDouble(0, number);
  } else {
    if (number != std::floor(number) || std::abs(number) > 0x1p53) return {};
    array.SetInt(0, static_cast<int64_t>(number));
    if (array.GetDouble(0) != number) return {};
  }
  return Plan{.kind = Plan::Kind::kConstant, .type = {type, {}}, .constant = std::move(array)};
}

class Planner {
 public:
  Planner(const RuleBindings& bindings, const MatchSite& site) : bindings_(bindings), site_(site) {}

  std::optional<Plan> PlanRoot(const RuleTerm& term) const {
    std::optional<Plan> plan = PlanTerm(term, site_.root_type.type);
    if (plan && term.kind == RuleTerm::Kind::kNumber && !site_.root_type.dims.empty()) {
      if (!site_.root_type.IsFixed()) return {};
      Plan spread{.kind = Plan::Kind::kNode, .op = Op::kExpand};
      spread.attributes["shape"] = site_.root_type.Shape();
      spread.operands.push_back(*std::move(plan));
      plan = Typed(std::move(spread));
    }
    if (!plan || plan->type != site_.root_type) return {};
    return plan;
  }

 private:
  std::optional<Plan> PlanTerm(const RuleTerm& term, DataType number_type) const {
    switch (term.kind) {
      case RuleTerm::Kind::kVariable:
        return Existing(bindings_[term.variable].value);
      case RuleTerm::Kind::kOmitted:
        return Plan{};
      case RuleTerm::Kind::kNumber: {
        const RuleValue value = Evaluate(term.number, site_, bindings_);
        const auto number = value ? AsNumber(*value) : std::nullopt;
        if (!number) return {};
        return PlanNumber(*number, number_type);
      }
      case RuleTerm::Kind::kNode:
        return PlanNode(term, number_type);
      default:
        return {};
    }
  }

  Plan Existing(ValueId value) const {
    if (!value.valid()) return {};
    const Array* constant = site_.ConstantOf(value);
    Plan plan{.type = site_.TypeOf(value), .value = value};
    if (constant != nullptr) plan.constant = *constant;
    return plan;
  }

  std::optional<Plan> PlanNode(const RuleTerm& term, DataType number_type) const {
    Plan node{.kind = Plan::Kind::kNode, .op = term.op};
    if (!PlanOperands(term, number_type, node) || !PlanAttributes(term, node)) return {};
    const bool chain = IsAssociative(term.op) && node.operands.size() > 2;
    if (!chain) return Typed(std::move(node));
    Plan sum = std::move(node.operands[0]);
    for (size_t i = 1; i < node.operands.size(); ++i) {
      Plan step{.kind = Plan::Kind::kNode, .op = node.op, .attributes = node.attributes};
      step.operands.push_back(std::move(sum));
      step.operands.push_back(std::move(node.operands[i]));
      auto typed = Typed(std::move(step));
      if (!typed) return {};
      sum = *std::move(typed);
    }
    return sum;
  }

  // Plans the operands of `node`. Returns false if an operand has no plan. Numbers are planned
  // last, because they usually take the type of another operand.
  bool PlanOperands(const RuleTerm& term, DataType number_type, Plan& node) const {
    std::optional<DataType> beside;
    for (const RuleTerm& operand : term.operands) {
      if (operand.kind == RuleTerm::Kind::kRest) {
        for (const ValueId value : bindings_[operand.variable].rest)
          node.operands.push_back(Existing(value));
        continue;
      }
      node.operands.emplace_back();
      if (operand.kind == RuleTerm::Kind::kNumber) continue;
      std::optional<Plan> plan = PlanTerm(operand, number_type);
      if (!plan) return false;
      const bool condition = term.op == Op::kWhere && node.operands.size() == 1;
      if (!condition && !beside) beside = plan->type.type;
      node.operands.back() = *std::move(plan);
    }
    for (size_t i = 0; i < term.operands.size(); ++i) {
      if (term.operands[i].kind != RuleTerm::Kind::kNumber) continue;
      std::optional<Plan> plan = PlanTerm(term.operands[i], beside.value_or(number_type));
      if (!plan) return false;
      node.operands[i] = *std::move(plan);
    }
    return true;
  }

  bool PlanAttributes(const RuleTerm& term, Plan& node) const {
    for (const RuleAttribute& attribute : term.attributes) {
      if (attribute.kind == RuleAttribute::Kind::kCopy) {
        const NodeView from = site_.NodeOf(bindings_[attribute.variable].value);
        if (from.attributes == nullptr) return false;
        node.attributes.insert(from.attributes->begin(), from.attributes->end());
        continue;
      }
      RuleValue value = Evaluate(attribute.expr, site_, bindings_);
      if (!value) return false;
      node.attributes[attribute.name] = *std::move(value);
    }
    // Omits attributes with default values, so that equal nodes have equal attributes.
    std::erase_if(node.attributes,
                  [&](const auto& entry) { return IsDefault(node.op, entry.first, entry.second); });
    return true;
  }

  // Returns the node with its type, or a constant if FoldableOperands returns arrays. Returns
  // nothing if type inference rejects the operands, or if the constant cannot be computed or is
  // rejected.
  std::optional<Plan> Typed(Plan node) const {
    std::vector<const ValueType*> operands;
    for (const Plan& operand : node.operands) {
      const bool omitted = operand.kind == Plan::Kind::kExisting && !operand.value.valid();
      operands.push_back(omitted ? nullptr : &operand.type);
    }
    while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
    auto types = Infer(node.op, operands, node.attributes);
    if (!types || types->size() != 1) return {};
    node.type = types->front();
    if (const auto operands = FoldableOperands(node)) {
      const Node as_node{.op = node.op, .name = "folded", .attributes = node.attributes};
      const std::optional<Array> folded = JoinConstants(as_node, *operands, node.type);
      // JoinConstants rejects results that are not finite if all operands are finite. Under
      // kStrict, every result that is not finite is rejected.
      if (!folded || (site_.rules == FloatRules::kStrict && !IsFinite(*folded))) return {};
      ValueType type = TypeOf(*folded);
      return Plan{.kind = Plan::Kind::kConstant, .type = std::move(type), .constant = *folded};
    }
    return node;
  }

  // Returns whether the constant is new or has only one user. The rewritten model usually does not
  // store such a constant, so a result of the same size does not make the model larger.
  bool IsFreed(const Plan& operand) const {
    return !operand.value.valid() || site_.uses[operand.value.index] == 1;
  }

  // Returns the operands' arrays if all are constants and the node's result is small enough to be
  // stored.
  std::optional<std::vector<Array>> FoldableOperands(const Plan& node) const {
    if (!node.type.IsFixed() || node.operands.empty()) return {};
    const int64_t count = ElementCount(node.type.Shape());
    if (count < 0) return {};
    std::vector<Array> arrays;
    size_t bytes = kFoldedBytes;
    for (const Plan& operand : node.operands) {
      if (operand.constant.data() == nullptr) return {};
      arrays.push_back(operand.constant);
      if (IsFreed(operand)) bytes = std::max(bytes, operand.constant.bytes());
    }
    if (static_cast<size_t>(count) * SizeOf(node.type.type) > bytes) return {};
    return arrays;
  }

  const RuleBindings& bindings_;
  const MatchSite& site_;
};

const Plan* FindHeir(const Plan& plan, Op op) {
  if (plan.kind == Plan::Kind::kNode && plan.op == op) return &plan;
  for (const Plan& operand : plan.operands)
    if (const Plan* heir = FindHeir(operand, op)) return heir;
  return nullptr;
}

Result<ValueId> BuildPart(const Plan& plan, const Plan* heir, const Node& replaced,
                          GraphBuilder& builder) {
  if (plan.kind == Plan::Kind::kExisting) return plan.value;
  if (plan.kind == Plan::Kind::kConstant)
    return AddDerivedConstant(builder, replaced.name + "_constant", plan.constant);
  std::vector<ValueId> operands;
  for (const Plan& operand : plan.operands) {
    TUNEC_ASSIGN(const ValueId value, BuildPart(operand, heir, replaced, builder));
    operands.push_back(value);
  }
  return builder.Add(plan.op, std::move(operands), plan.attributes,
                     &plan == heir ? replaced.name : "", replaced.where);
}

}  // namespace

std::optional<ReplacementPlan> PlanReplacement(const Rule& rule, const RuleBindings& bindings,
                                               const MatchSite& site) {
  return Planner(bindings, site).PlanRoot(rule.replacement);
}

Result<ValueId> Build(const ReplacementPlan& plan, const Node& replaced, GraphBuilder& builder) {
  const Plan* heir = FindHeir(plan, replaced.op);
  return BuildPart(plan, heir != nullptr ? heir : &plan, replaced, builder);
}

}  // namespace tunec
