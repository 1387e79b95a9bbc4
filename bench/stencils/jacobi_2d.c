// The loops of jacobi_2d.compute as typical C code. Each iteration over t does two time steps.
enum { kSteps = 100, kRows = 2002 };
typedef float Plane[kRows][kRows];

void Run(const float* restrict x, float* restrict y, float* restrict work) {
  const float(*restrict X)[kRows] = (const void*)x;
  float(*restrict Y)[kRows] = (void*)y;
  float(*restrict A)[kRows] = (void*)work;
  float(*restrict B)[kRows] = (void*)(work + sizeof(Plane) / sizeof(float));
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j) A[i][j] = B[i][j] = X[i][j];
  for (int t = 0; t < kSteps / 2; ++t) {
    for (int i = 1; i < kRows - 1; ++i)
      for (int j = 1; j < kRows - 1; ++j)
        B[i][j] = (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]) * 0.2f;
    for (int i = 1; i < kRows - 1; ++i)
      for (int j = 1; j < kRows - 1; ++j)
        A[i][j] = (B[i][j] + B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]) * 0.2f;
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j) Y[i][j] = A[i][j];
}
