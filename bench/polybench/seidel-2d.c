// The PolyBench kernel seidel-2d, Gauss-Seidel relaxation by the mean of nine points.

static void Kernel(const double X[restrict X_0][X_1], double A[restrict A_0][A_1]) {
  enum { n = X_0 };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) A[i][j] = X[i][j];
  for (int t = 0; t < A_t; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] +
                   A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                  9.0;
}

void Run(void** a) { Kernel(a[0], a[1]); }
