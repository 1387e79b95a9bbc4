// The loops of jacobi_1d.compute as typical C code. Each iteration over t does two time steps.
enum { kSteps = 100, kPoints = 4000002 };

void Run(const float* restrict X, float* restrict Y, float* restrict work) {
  float* restrict A = work;
  float* restrict B = work + kPoints;
  for (int i = 0; i < kPoints; ++i) A[i] = B[i] = X[i];
  for (int t = 0; t < kSteps / 2; ++t) {
    for (int i = 1; i < kPoints - 1; ++i) B[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.33333334f;
    for (int i = 1; i < kPoints - 1; ++i) A[i] = (B[i - 1] + B[i] + B[i + 1]) * 0.33333334f;
  }
  for (int i = 0; i < kPoints; ++i) Y[i] = A[i];
}
