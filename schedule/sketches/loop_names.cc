#include "schedule/sketches/loop_names.h"

#include <algorithm>

namespace tunec {

std::string NewLoopName(const Compute& compute, const std::string& statement,
                        const std::string& name) {
  std::string loop = statement + "." + name;
  const auto is_taken = [&] {
    return std::ranges::any_of(compute.statements, [&](const Statement& other) {
      return std::ranges::any_of(other.iterators, [&](const Iterator& iterator) {
        const std::string of_iterator = other.name + "." + iterator.name;
        return loop == of_iterator || loop.starts_with(of_iterator + ".");
      });
    });
  };
  while (is_taken()) loop += "_";
  return loop;
}

}  // namespace tunec
