// One function object from several lambdas, as std::visit needs. An alternative of the variant that
// no lambda accepts is a compile error.
#pragma once

namespace tunec {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace tunec
