// The common form of a schedule's steps: a value with a name and arguments. `Fields` lists the
// arguments once, in the order of the step's text; printing, parsing and the manual use it. A step
// that changes loops does not check whether the resulting order is legal. The dependences decide
// this, once for all such steps (polyhedral/legality/legality.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <variant>

namespace tunec {

/// The description of one argument in the text of a step.
struct StepArgument {
  std::string_view name;        // in the manual: LOOP
  std::string_view expected;    // in messages: "a loop"
  std::string_view after = {};  // the word in front of the argument, if there is one: `as`
  /// The argument may be absent at the end of the line; its value is then 0 or the empty list.
  bool may_lack = false;
  int64_t least = 0;
  int64_t most = int64_t{1} << 40;
};

// Arguments that several steps have.
namespace argument {
inline constexpr StepArgument kTensor{"TENSOR", "a tensor"};
inline constexpr StepArgument kStatement{"STATEMENT", "a statement"};
inline constexpr StepArgument kIterator{"ITERATOR", "an iterator"};
inline constexpr StepArgument kLoop{"LOOP", "a loop"};
inline constexpr StepArgument kFactor{"FACTOR", "a factor"};
inline constexpr StepArgument kNewLoop{.name = "NAME", .expected = "a name", .after = "as"};
}  // namespace argument

/// A type for the concept ScheduleStep: Fields must accept a visitor that visits any argument with
/// any value.
struct AnyVisitor {
  void operator()(const StepArgument& argument, const auto& value);
};

template <class S>
concept ScheduleStep = std::equality_comparable<S> && std::default_initializable<S> &&
    requires(S& step, const S& constant, AnyVisitor& visit) {
  { S::kName } -> std::convertible_to<std::string_view>;
  S::Fields(step, visit);
  S::Fields(constant, visit);
};

/// A step of one of the types of a std::variant. The special members and the comparison are
/// compiled once for each variant, in steps.cc. They are large, because they have a case for each
/// type.
template <class Variant>
class AnyStepOf : public Variant {
 public:
  using Variant::Variant;
  AnyStepOf();
  AnyStepOf(const AnyStepOf& step);
  AnyStepOf(AnyStepOf&& step) noexcept;
  AnyStepOf& operator=(const AnyStepOf& step);
  AnyStepOf& operator=(AnyStepOf&& step) noexcept;
  ~AnyStepOf();
  bool operator==(const AnyStepOf& step) const;
};

template <class Variant>
inline constexpr bool AreSteps = false;
template <class... Steps>
inline constexpr bool AreSteps<std::variant<Steps...>> = (ScheduleStep<Steps> && ...);

}  // namespace tunec
