// The PolyBench kernel jacobi-2d, relaxation in two dimensions. An iteration does two steps.

static void Kernel(const double X[restrict X_0][X_1], double Y[restrict Y_0][Y_1]) {
  enum { n = X_0 };
  static double B[n][n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) Y[i][j] = B[i][j] = X[i][j];
  for (int t = 0; t < A_t; t += 2) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        B[i][j] = 0.2 * (Y[i][j] + Y[i][j - 1] + Y[i][j + 1] + Y[i + 1][j] + Y[i - 1][j]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        Y[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
}

void Run(void** a) { Kernel(a[0], a[1]); }
