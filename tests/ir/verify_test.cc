// Tests that violate invariants of the verifiers of Computes and loop nests.
#include <gtest/gtest.h>

#include <functional>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "tests/ir/nests.h"
#include "tests/programs/text_forms.h"

namespace tunec {
namespace {

std::string ErrorOf(std::string_view text, const std::function<void(Compute&)>& spoil) {
  Compute compute = *ParseCompute(text, "c");
  spoil(compute);
  (void)Print(compute);  // a wrong program can still be printed
  const Status status = Verify(compute);
  return status ? "" : status.error().message;
}

std::string Matmul(const std::function<void(Compute&)>& spoil) {
  return ErrorOf(test::kAlignedMatmul, spoil);
}

TEST(VerifyCompute, Tensors) {
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(1)].name = "A"; }),
            "two tensors are called A");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(1)].name = ""; }), "a tensor has no name");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(0)].shape[0] = -1; }),
            "tensor A: its shape has no element count");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(0)].alignment = 48; }),
            "tensor A: alignment 48, expected a power of two");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.tensors[TensorId(0)].range = Interval{2, 1};
            }),
            "tensor A: range [2, 1] is empty");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(0)].finite = true; }),
            "tensor A: a finite input of f32, expected a weight of floats or a copy of one");
  EXPECT_EQ(ErrorOf("compute x {\n  weight B: i32[2] finite\n  output C: i32[2]\n"
                    "  C[i: 2]:\n    C[i] = B[i]\n}",
                    [](Compute&) {}),
            "tensor B: a finite weight of i32, expected a weight of floats or a copy of one");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(0)].alias = TensorId(9); }),
            "tensor A: alias of tensor number 9, there are 4");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(0)].alias = TensorId(0); }),
            "tensor A: alias of A, expected a tensor with separate storage");
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(2)].alias = TensorId(0); }),
            "tensor C: alias of A, which has another type or size");
}

TEST(VerifyCompute, Layouts) {
  const auto blocked = [](const std::function<void(Layout&)>& spoil) {
    return ErrorOf(test::kBlocked, [&](Compute& c) { spoil(c.tensors[TensorId(1)].layout); });
  };
  EXPECT_EQ(blocked([](Layout& l) { l.map.pop_back(); }),
            "tensor C: layout maps to 2 dimensions, its shape has 3");
  EXPECT_EQ(blocked([](Layout& l) { l.map[0] = IndexExpr::Var(VarId(2)); }),
            "tensor C: layout index 0 uses more than the 2 logical dimensions");
  EXPECT_EQ(blocked([](Layout& l) { l.map[1] = IndexExpr(2); }),
            "tensor C: layout index 1 is 2 to 2, its extent 2");
}

TEST(VerifyCompute, Statements) {
  EXPECT_EQ(Matmul([](Compute& c) { c.statements[StatementId(1)].name = "acc"; }),
            "statement name 'acc' is empty or used twice");
  EXPECT_EQ(
      Matmul([](Compute& c) { c.statements[StatementId(0)].iterators[IteratorVar(1)].name = "i"; }),
      "statement acc: iterator name 'i' is empty or used twice");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(0)].iterators[IteratorVar(1)].extent = -2;
            }),
            "statement acc: iterator j has extent -2, expected 0 to 281474976710656");
  EXPECT_EQ(
      Matmul([](Compute& c) {
        c.statements[StatementId(0)].iterators[IteratorVar(1)].extent = INT64_MAX;
      }),
      "statement acc: iterator j has extent 9223372036854775807, expected 0 to 281474976710656");
  EXPECT_EQ(
      Matmul([](Compute& c) { c.statements[StatementId(0)].domain = {IndexExpr::Var(VarId(3))}; }),
      "statement acc: variable 3 is not in scope");
  EXPECT_EQ(Matmul([](Compute& c) { c.statements.pop_back(); }),
            "compute product: no statement writes the output C");
}

TEST(VerifyCompute, Accesses) {
  EXPECT_EQ(Matmul([](Compute& c) { c.statements[StatementId(0)].reads[0].tensor = TensorId(4); }),
            "statement acc: tensor number 4, there are 4");
  EXPECT_EQ(Matmul([](Compute& c) { c.statements[StatementId(0)].reads[0].index.pop_back(); }),
            "statement acc: A has 2 dimensions, its index 1");
  EXPECT_EQ(Matmul([](Compute& c) { c.statements[StatementId(0)].reads[0].index[1] += 1; }),
            "statement acc: index 1 of A is 1 to 29, its extent 29");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(0)].reads[0].index[0] = IndexExpr::Loaded(0);
            }),
            "statement acc: index uses read @0, expected one of the 0 before it");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(0)].reads[1].index[0] = IndexExpr::Loaded(0);
            }),
            "statement acc: A of type f32 is used as an index");
  // A guard may keep an index in range.
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(0)].reads[0].index[1] += 1;
              c.statements[StatementId(0)].reads[0].guard =
                  Guard{{IndexExpr(27) - IndexExpr::Var(VarId(2))}, 0.0};
            }),
            "");
}

TEST(VerifyCompute, Writes) {
  EXPECT_EQ(Matmul([](Compute& c) { c.tensors[TensorId(3)].role = TensorRole::kInput; }),
            "statement acc: input acc is written");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(1)].writes.push_back(c.statements[StatementId(1)].writes[0]);
              c.statements[StatementId(1)].values.push_back(c.statements[StatementId(1)].values[0]);
            }),
            "statement C: an element of C is written twice");
  EXPECT_EQ(Matmul([](Compute& c) { c.statements[StatementId(1)].writes.clear(); }),
            "statement C: nothing is written");
}

TEST(VerifyCompute, Values) {
  EXPECT_EQ(Matmul([](Compute& c) { c.statements[StatementId(1)].values.clear(); }),
            "statement C: 0 values for 1 writes");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(1)].values[0] = Expr::Constant(1, DataType::kI64);
            }),
            "statement C: values 0 is i64, but C is f32");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(1)].values[0] = Expr::Read(1, DataType::kF32);
            }),
            "statement C: slot 1 of 1 in an expression");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(1)].values[0] =
                  Expr::Cast(Expr::Read(0, DataType::kF64), DataType::kF32);
            }),
            "statement C: slot 0 is used as f64, its tensor acc is f32");
  EXPECT_EQ(Matmul([](Compute& c) {
              const Expr x = Expr::Read(0, DataType::kF32);
              c.statements[StatementId(1)].values[0] = Expr::Apply(ScalarOp::kXor, {x, x});
            }),
            "statement C: xor is not defined for f32");
  EXPECT_EQ(Matmul([](Compute& c) {
              c.statements[StatementId(1)].values[0] = Expr::Accumulator(0, DataType::kF32);
            }),
            "statement C: an accumulator outside combine and finalise");
}

TEST(VerifyCompute, Reducers) {
  const auto reducer = [](const std::function<void(Reducer&)>& spoil) {
    return Matmul([&](Compute& c) { spoil(*c.statements[StatementId(0)].reducer); });
  };
  EXPECT_EQ(reducer([](Reducer& r) { r.identity.clear(); }),
            "statement acc: 0 identities for 1 writes");
  EXPECT_EQ(reducer([](Reducer& r) { r.combine[0] = Expr::Read(0, DataType::kF32); }),
            "statement acc: a reducer reads slot 0");
  EXPECT_EQ(reducer([](Reducer& r) { r.identity[0] = Expr::Accumulator(0, DataType::kF32); }),
            "statement acc: an accumulator outside combine and finalise");
  EXPECT_EQ(reducer([](Reducer& r) { r.finalise = {Expr::Incoming(0, DataType::kF32)}; }),
            "statement acc: an incoming value outside combine");
  EXPECT_EQ(reducer([](Reducer& r) { r.combine[0] = Expr::Accumulator(1, DataType::kF32); }),
            "statement acc: slot 1 of 1 in an expression");
  EXPECT_EQ(reducer([](Reducer& r) {
              r.combine[0] = Expr::Index(IndexExpr::Var(VarId(0)), DataType::kF32);
            }),
            "statement acc: a reducer uses variables");
}

// Returns the error of the parser or the verifier for a nest with this body, or an empty string.
// The nest has an input A, an output C and a local t, each f32[16]. `spoil` changes the nest after
// parsing.
std::string Nest(std::string_view body, const std::function<void(LoopNest&)>& spoil = {}) {
  const std::string text = fmt::format(
      "nest n {{\n input A: f32[16]\n output C: f32[16]\n local t: f32[16]\n"
      " phase p {{\n{}\n }}\n}}\n",
      body);
  auto nest = ParseLoopNest(text, "n");
  if (!nest) return nest.error().Format();
  if (spoil) spoil(*nest);
  (void)Print(*nest);
  const Status status = Verify(*nest);
  return status ? "" : status.error().message;
}

template <class T>
T& First(LoopNest& nest) {
  return std::get<T>(nest.phases[0].body[0].value);
}

TEST(VerifyLoopNest, Variables) {
  constexpr std::string_view kLoop = "for i in 0 .. 16 {\n s: C[i] = A[i]\n}";
  EXPECT_EQ(Nest(kLoop), "");
  EXPECT_EQ(Nest(kLoop, [](LoopNest& n) { n.variables.push_back("i"); }),
            "variable name 'i' is empty or used twice");
  EXPECT_EQ(Nest(kLoop, [](LoopNest& n) { First<Loop>(n).var = VarId(3); }),
            "phase p: loop number 3: there are 1 variables");
  EXPECT_EQ(Nest("for i in 0 .. 4 {\n for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}",
                 [](LoopNest& n) { std::get<Loop>(First<Loop>(n).body[0].value).var = VarId(0); }),
            "phase p: loop i: a loop around it binds the variable too");
  EXPECT_EQ(Nest(kLoop,
                 [](LoopNest& n) {
                   n.variables.push_back("j");
                   First<Loop>(n).upper = {IndexExpr::Var(VarId(1))};
                 }),
            "phase p: loop i: variable 1 is not in scope");
}

TEST(VerifyLoopNest, Loops) {
  constexpr std::string_view kLoop = "for i in 0 .. 16 {\n s: C[i] = A[i]\n}";
  EXPECT_EQ(Nest(kLoop, [](LoopNest& n) { First<Loop>(n).upper.clear(); }),
            "phase p: loop i: a bound is missing");
  EXPECT_EQ(Nest(kLoop, [](LoopNest& n) { First<Loop>(n).unroll = 0; }),
            "phase p: loop i: unroll is 0, expected 1, or more on a serial loop");
  EXPECT_EQ(Nest("for i in 0 .. 4 {\n parallel for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a parallel loop must be at the top of a phase, in a chain");
  EXPECT_EQ(Nest("parallel for i in 0 .. 4 {\n wave for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a wave loop must be around all else that its phase has");
  EXPECT_EQ(Nest("wave for i in 0 .. 4 {\n s: C[i] = 0.0\n}\n t: C[0] = 0.0"),
            "phase p: loop i: a wave loop must be around all else that its phase has");
  EXPECT_EQ(Nest("parallel for i in 0 .. 4 {\n s: C[i] = 0.0\n parallel for j in 0 .. 4 {\n"
                 " s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a parallel loop must be at the top of a phase, in a chain");
  EXPECT_EQ(Nest("parallel for i in 0 .. 4 {\n parallel for j in i .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a parallel loop must have constant bounds");
  EXPECT_EQ(Nest("vector for i in 0 .. 4 {\n for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop i: a vector loop must be innermost");
  EXPECT_EQ(Nest("unrolled for i in 0 .. 5000 {\n s: C[0] = 0.0\n}"),
            "phase p: loop i: an unrolled loop must have at most 4096 iterations");
  EXPECT_EQ(Nest("for i in 0 .. 16 {\n s: C[i] = A[i + 1]\n}"),
            "phase p: store s: index 0 of A is 1 to 16, its extent 16");
  EXPECT_EQ(Nest("if (0 >= 0) {\n s: C[0] = 0.0\n}",
                 [](LoopNest& n) { First<If>(n).nonnegative.clear(); }),
            "phase p: an if has no condition");
}

TEST(VerifyLoopNest, Bindings) {
  EXPECT_EQ(Nest("grid.y for i in 0 .. 4 {\n block.x for j in 0 .. 4 {\n s: C[4*i + j] = 0.0\n}\n"
                 " barrier\n block.x for k in 0 .. 2 {\n u: C[k] = 0.0\n}\n}"),
            "");
  EXPECT_EQ(Nest("for i in 0 .. 4 {\n grid.x for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a parallel loop must be at the top of a phase, in a chain");
  EXPECT_EQ(Nest("grid.x for i in 0 .. 4 {\n grid.x for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: loop i is bound to grid.x too");
  EXPECT_EQ(Nest("grid.x for i in 0 .. 4 {\n parallel for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a parallel loop stands inside a grid loop");
  EXPECT_EQ(Nest("parallel for i in 0 .. 4 {\n block.x for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a block.x loop stands inside a parallel loop");
  EXPECT_EQ(Nest("for i in 0 .. 4 {\n block.x for j in 0 .. i {\n s: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a block.x loop must have constant bounds from 0 on");
  EXPECT_EQ(Nest("block.y for i in 0 .. 4 {\n s: C[i] = 0.0\n block.x for j in 0 .. 4 {\n"
                 " u: C[j] = 0.0\n}\n}"),
            "phase p: loop j: a block.x loop must be all that the block loop around it holds");
  EXPECT_EQ(Nest("block.y for i in 0 .. 1 {\n block.x for j in 0 .. 4 {\n s: C[j] = 0.0\n}\n}\n"
                 " block.y for k in 0 .. 512 {\n u: C[0] = 0.0\n}"),
            "phase p: 2048 threads a block, at most 1024");
  EXPECT_EQ(Nest("block.x for i in 0 .. 4 {\n barrier\n}"),
            "phase p: a barrier inside a block or parallel loop");
  EXPECT_EQ(Nest("block.x for i in 0 .. 4 {\n alloc t: shared {\n s: t[i] = 0.0\n}\n}"),
            "phase p: alloc of t: shared storage inside a block loop");
  EXPECT_EQ(Nest("alloc t: register {\n block.x for i in 0 .. 4 {\n s: t[i] = 0.0\n}\n}"), "");
}

TEST(VerifyLoopNest, Allocations) {
  EXPECT_EQ(Nest("s: C[0] = t[0]"), "phase p: store s: t is used outside an alloc of it");
  EXPECT_EQ(Nest("alloc A: packed {\n s: C[0] = 0.0\n}"),
            "phase p: alloc of A, whose role is input, expected a local tensor");
  EXPECT_EQ(Nest("alloc t: packed {\n alloc t: packed {\n s: C[0] = 0.0\n}\n}"),
            "phase p: alloc of t inside another alloc of it");
  EXPECT_EQ(Nest("alloc t: packed stages 0 {\n s: C[0] = 0.0\n}"),
            "phase p: alloc of t with 0 stages");
  EXPECT_EQ(Nest("alloc t: packed stages 3 {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t with 3 stages, which its first dimension hasn't");
  EXPECT_EQ(Nest("alloc t: shared swizzle 8 of 128 {\n s: t[0] = 0.0\n}"), "");
  EXPECT_EQ(Nest("alloc t: packed swizzle 8 of 128 {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t: a swizzle of 8 chunks in rows of 128 bytes, of packed storage");
  EXPECT_EQ(Nest("alloc t: shared swizzle 6 of 128 {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t: a swizzle of 6 chunks in rows of 128 bytes, of shared storage");
  EXPECT_EQ(Nest("alloc t: shared swizzle 8 of 64 {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t: a swizzle of 8 chunks in rows of 64 bytes, of shared storage");
  EXPECT_EQ(Nest("alloc t: shared swizzle 2 of 96 {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t: a swizzle of 2 chunks in rows of 96 bytes, of shared storage");
  EXPECT_EQ(Nest("alloc t: register per_thread {\n s: t[0] = 0.0\n}"), "");
  EXPECT_EQ(Nest("alloc t: shared per_thread {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t: shared storage is not per thread");
  EXPECT_EQ(Nest("alloc t: fragment per_thread {\n s: t[0] = 0.0\n}"),
            "phase p: alloc of t: fragment storage is not per thread");
  EXPECT_EQ(Nest("alloc t: register {\n for i in 0 .. 16 {\n s: t[i] = 0.0\n}\n}"), "");
  EXPECT_EQ(Nest("for o in 0 .. 2 {\n alloc t: register {\n vector for i in 8*o .. 8*o + 8 {\n"
                 " s: t[i mod 8] = 0.0\n u: t[i - 8*o + 8] = 0.0\n}\n}\n}"),
            "");
}

TEST(VerifyLoopNest, OtherNodes) {
  EXPECT_EQ(Nest("prefetch A[0] level 4"), "phase p: prefetch to cache level 4, expected 1 to 3");
  EXPECT_EQ(Nest("prefetch A[999] level 1"), "");
  EXPECT_EQ(Nest("arrive 1 stage 0"), "phase p: arrive: token 1 belongs to no copy");
  EXPECT_EQ(Nest("wait 1 stage 0 parity 0"), "phase p: wait: token 1 belongs to no copy");
  EXPECT_EQ(Nest("async_copy 0 A[0] -> C[0] extent []"), "");
  EXPECT_EQ(Nest("async_copy 0 A[0] -> C[0] extent [4, 4]"),
            "phase p: async_copy of A to C has 2 extents");
  EXPECT_EQ(Nest("async_copy 0 C[0] -> A[0] extent [4]"),
            "phase p: async_copy of C to A: another type, or not writable");
  EXPECT_EQ(Nest("roles {\n role r threads 0 registers 0 {\n s: C[0] = 0.0\n}\n}"),
            "phase p: role 'r' has 0 threads");
  EXPECT_EQ(Nest("tile x {\n s: C[0] = 0.0\n}"), "phase p: tile x: there is no such intrinsic");
  EXPECT_EQ(Nest("s: A[0] = 0.0"), "phase p: store s: input A is written");
}

}  // namespace
}  // namespace tunec
