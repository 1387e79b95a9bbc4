// One function object from several lambdas: what std::visit takes. An alternative of the variant
// that none of them takes is a compile error.
#pragma once

namespace tunec {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace tunec
