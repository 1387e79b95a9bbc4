// What the order of a sum and the flushing of small numbers may make of a result where a contract
// lets operands be rounded (tf32, bf16). There the judge has the sequential evaluation with rounded
// operands, whose error is mostly that of the operands; what its own order adds or takes is luck.
//
// Order. Let p[1..n] be the products of a sum, S the sum of their magnitudes, u = 2^-24 for
// float32. However a sum is put together (one after the other, in lanes, in pieces of 128, in pairs
// of an instruction, split among tasks), it is a binary tree with n leaves and n - 1 additions;
// additions of zero are exact. Each is off by at most u times its result, which is at most the sum
// of the magnitudes below it, so at most u * S. Products that are rounded by themselves are off by
// u * |p[k]| each, all together u * S at most. So, to first order in u, for every order
//   |error| <= n u S
// That is reached only where all roundings go one way. Taken as independent and of mean zero, which
// rounding to nearest is for operands that nobody chose, their sum is a martingale whose steps are
// at most u S, and Azuma's inequality has (Higham, Mary: A new approach to probabilistic rounding
// error analysis, SIAM J. Sci. Comput. 41, 2019)
//   |error| <= lambda sqrt(n) u S    but for a probability of 2 exp(-lambda^2 / 2)
// With lambda = 8 that is 3e-14 for an element. The lesser of both holds. Operands in t bfloat16
// terms make up to 6 n products (three terms); the small ones count as if they were large.
// The candidate is compared with the sequential evaluation, which has roundings of its own: n more.
//
// Flushing. Instructions for bfloat16 (VDPBF16PS, AMX) take operands below the normal numbers,
// |x| < 2^-126, for zero, and make zero of such results. A product a * b then loses less than
// 2^-126 (|a| + |b|), with low terms of an operand twice that, and each of at most two results for
// a product less than 2^-126. That counts only where all of a sum is near the smallest numbers.
//
// Operands that the group computes. Where an operand of the last sum is the result of another one
// (a chain, attention), legal evaluations round other numbers: the first sum's own operands may be
// rounded or not, and attention may scale its exponentials before or after. Then the errors of both
// are draws of one distribution, and the largest of few results differs by luck. Each term p[k] is
// off by |p[k]| u at most, u the unit of the contract's rounding; as rounding errors that spread
// evenly, by |p[k]| u / sqrt(3) in the mean, so their sum by u sqrt(sum p[k]^2 / 3). Five times
// that is allowed beside the sequential evaluation's error: 6e-7 for an element. It stays a third
// of what one lost term of n like ones makes up to n = 870, and reaches it at 7900.
#pragma once

#include <span>

#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// How far two evaluations may lie apart for the order of the compute's sums of 32 and 64 bits,
/// relative to the sum of the terms' magnitudes. Of several sums the squares are added up.
double OrderAllowance(const Compute& compute);
/// The same of one sum.
double OrderAllowance(const Statement& sum);

/// How many factors of a sum's products are computed from other sums of the group.
int ComputedFactors(const Compute& compute, StatementId sum);

/// How far two evaluations may lie apart for the roundings of so many computed factors, absolute.
/// `unit`: the largest relative error of one rounding. `squares`: the sum of the terms' squares.
double RoundingAllowance(int factors, double unit, double squares);

/// What flushing may take from a sum of products of arguments, absolute; 0 of other sums.
/// `arguments`: inputs and weights in tensor order.
double FlushAllowance(const Compute& compute, StatementId sum, std::span<const Array> arguments);

}  // namespace tunec
