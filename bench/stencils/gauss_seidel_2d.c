// The loops of gauss_seidel_2d.compute in C.
enum { kSteps = 40, kRows = 2002 };

void Run(const float* restrict x, float* restrict a, float* restrict work) {
  (void)work;
  const float(*restrict X)[kRows] = (const void*)x;
  float(*restrict A)[kRows] = (void*)a;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j) A[i][j] = X[i][j];
  for (int t = 0; t < kSteps; ++t)
    for (int i = 1; i < kRows - 1; ++i)
      for (int j = 1; j < kRows - 1; ++j)
        A[i][j] = (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]) * 0.2f;
}
