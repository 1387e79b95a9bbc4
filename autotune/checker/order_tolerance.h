// Tolerances for the order of a sum, for flushing of small numbers and for the roundings of
// computed operands, in modes that round operands (tf32, bf16). They are added to the error of the
// sequential evaluation with rounded operands. Most of this error is due to the operands; the part
// due to the order of the sum is random.
//
// Order. Let p[1..n] be the products of a sum, S the sum of their magnitudes, u = 2^-24 for
// float32. Every order of a sum (sequential, in lanes, in blocks of 128, in pairs of an
// instruction, split among tasks) is a binary tree with n leaves and n - 1 additions; additions of
// zero are exact. The error of each addition is at most u times its result. The result is at most
// the sum of the magnitudes below it, so each error is at most u * S. A product that is rounded
// separately has an error of at most u * |p[k]|, all together at most u * S. So, to first order in
// u, for every order
//   |error| <= n u S
// This bound is reached only if all roundings have the same sign. Assume that they are independent
// with mean zero, which is true for rounding to nearest unless the operands are chosen on purpose.
// Then their sum is a martingale whose steps are at most u S, and Azuma's inequality gives (Higham,
// Mary: A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41, 2019)
//   |error| <= lambda sqrt(n) u S    except with a probability of 2 exp(-lambda^2 / 2)
// With lambda = 8 that probability is 3e-14 for an element. The smaller of both bounds is used.
// Operands in up to three bfloat16 limbs have up to 6 n products; small products count as large
// ones. The candidate is compared with the sequential evaluation, which has n more roundings.
//
// Flushing. Instructions for bfloat16 (VDPBF16PS, AMX) flush operands below the normal numbers,
// where |x| is less than 2^-126, to zero, and also such results. So a product a * b loses less than
// 2^-126 times (|a| + |b|), twice that with low limbs of an operand. Each of at most two results
// per product loses less than 2^-126. The tolerance matters only if a whole sum is near the
// smallest numbers.
//
// Operands that the group computes. An operand of the last sum may be the result of another sum (a
// chain, attention). Then legal evaluations round different numbers: the first sum's own operands
// may be rounded or not, and attention may scale its exponentials before or after. The errors of
// two evaluations are then samples of one distribution, and with few results the largest error
// differs by luck. The error of each term p[k] is at most |p[k]| u, where u is the unit of the
// mode's rounding. Uniformly distributed rounding errors have the standard deviation |p[k]| u /
// sqrt(3), and their sum has u sqrt(sum p[k]^2 / 3). Five times that is added to the sequential
// evaluation's error; the probability of a larger error is 6e-7 for an element. In mode bf16 with
// one such operand, compare this tolerance with the effect of one lost term among n equal terms. It
// is at most a third of the effect up to n = 870, and equals it at n = 7900.
#pragma once

#include <span>

#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// Returns the largest distance of two evaluations due to the order of the compute's float sums,
/// relative to the sum of the terms' magnitudes. For several sums the result is the root of the sum
/// of squares. Sums of 16-bit floats are skipped.
double OrderTolerance(const Compute& compute);
/// Returns the OrderTolerance of one sum of any float type.
double OrderTolerance(const Statement& sum);

/// Returns the number of factors of a sum's products that are computed from other sums of the
/// group.
int ComputedFactors(const Compute& compute, StatementId sum);

/// Returns the largest absolute distance of two evaluations due to the roundings of `factors`
/// computed factors. `unit` is the largest relative error of one rounding, `squares` the sum of the
/// terms' squares.
double RoundingTolerance(int factors, double unit, double squares);

/// Returns the largest absolute error by flushing in a sum of products whose factors are all
/// arguments; 0 for other sums. `arguments` are inputs and weights in tensor order.
double FlushTolerance(const Compute& compute, StatementId sum, std::span<const Array> arguments);

}  // namespace tunec
