// Owning handles for the isl objects this folder uses; the only header that includes isl.
// isl's functions consume (__isl_take) or borrow (__isl_keep) their arguments: pass
// `copy()` or `take()` to the first kind and `get()` to the second.
#pragma once

#include <isl/ctx.h>
#include <isl/flow.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/version.h>

#include <utility>

namespace tunec::isl {

template <class T, T* (*kCopy)(T*), T* (*kFree)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* pointer) : pointer_(pointer) {}
  Handle(const Handle& other) : pointer_(other.copy()) {}
  Handle(Handle&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Handle() { kFree(pointer_); }
  T* get() const { return pointer_; }
  T* copy() const { return pointer_ ? kCopy(pointer_) : nullptr; }
  T* take() { return std::exchange(pointer_, nullptr); }
  bool ok() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};

using Map = Handle<isl_map, isl_map_copy, isl_map_free>;
using Set = Handle<isl_set, isl_set_copy, isl_set_free>;
using UnionMap = Handle<isl_union_map, isl_union_map_copy, isl_union_map_free>;
using UnionSet = Handle<isl_union_set, isl_union_set_copy, isl_union_set_free>;

}  // namespace tunec::isl
