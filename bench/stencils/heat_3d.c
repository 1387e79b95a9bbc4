// The loops of heat_3d.compute as typical C code. Each iteration over t does two time steps.
enum { kSteps = 40, kRows = 202 };
typedef float Volume[kRows][kRows][kRows];

void Run(const float* restrict x, float* restrict y, float* restrict work) {
  const float(*restrict X)[kRows][kRows] = (const void*)x;
  float(*restrict Y)[kRows][kRows] = (void*)y;
  float(*restrict A)[kRows][kRows] = (void*)work;
  float(*restrict B)[kRows][kRows] = (void*)(work + sizeof(Volume) / sizeof(float));
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j)
      for (int k = 0; k < kRows; ++k) A[i][j][k] = B[i][j][k] = X[i][j][k];
  for (int t = 0; t < kSteps / 2; ++t) {
    for (int i = 1; i < kRows - 1; ++i)
      for (int j = 1; j < kRows - 1; ++j)
        for (int k = 1; k < kRows - 1; ++k)
          B[i][j][k] = A[i][j][k] * 0.25f + (A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] +
                                             A[i][j + 1][k] + A[i][j][k - 1] + A[i][j][k + 1]) *
                                                0.125f;
    for (int i = 1; i < kRows - 1; ++i)
      for (int j = 1; j < kRows - 1; ++j)
        for (int k = 1; k < kRows - 1; ++k)
          A[i][j][k] = B[i][j][k] * 0.25f + (B[i - 1][j][k] + B[i + 1][j][k] + B[i][j - 1][k] +
                                             B[i][j + 1][k] + B[i][j][k - 1] + B[i][j][k + 1]) *
                                                0.125f;
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j)
      for (int k = 0; k < kRows; ++k) Y[i][j][k] = A[i][j][k];
}
