// Owning handles for the isl objects of this folder. No other header includes isl directly.
// Functions of isl consume (__isl_take) or borrow (__isl_keep) their arguments. Pass `copy()` or
// `take()` for an argument that is consumed, and `get()` for one that is borrowed.
#pragma once

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/flow.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <isl/version.h>

#include <string_view>
#include <utility>

#include "support/error.h"

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

/// An isl context. All objects that refer to the context must be destroyed before it. Only one
/// thread may use it at a time.
class Context {
 public:
  Context() { isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { isl_ctx_free(ctx_); }
  isl_ctx* get() const { return ctx_; }

 private:
  isl_ctx* ctx_ = isl_ctx_alloc();
};

using Affine = Handle<isl_aff, isl_aff_copy, isl_aff_free>;
using Map = Handle<isl_map, isl_map_copy, isl_map_free>;
using Point = Handle<isl_point, isl_point_copy, isl_point_free>;
using Schedule = Handle<isl_schedule, isl_schedule_copy, isl_schedule_free>;
using ScheduleNode = Handle<isl_schedule_node, isl_schedule_node_copy, isl_schedule_node_free>;
using Set = Handle<isl_set, isl_set_copy, isl_set_free>;
using UnionMap = Handle<isl_union_map, isl_union_map_copy, isl_union_map_free>;
using UnionSet = Handle<isl_union_set, isl_union_set_copy, isl_union_set_free>;

/// Makes the error of a failed isl call: kResourceLimit if the quota of operations was reached,
/// which an input can cause, and kInternal otherwise.
inline std::unexpected<Error> Failure(isl_ctx* ctx, std::string_view what) {
  if (isl_ctx_last_error(ctx) == isl_error_quota) {
    return Fail(ErrorCode::kResourceLimit, "isl's quota of operations is too small for {}", what);
  }
  const char* message = isl_ctx_last_error_msg(ctx);
  return Fail(ErrorCode::kInternal, "isl fails at {}: {}", what, message ? message : "no answer");
}

}  // namespace tunec::isl
