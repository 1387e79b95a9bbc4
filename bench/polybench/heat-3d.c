// The PolyBench kernel heat-3d, the heat equation in three dimensions. An iteration does two steps.

static void Kernel(const double X[restrict X_0][X_1][X_2], double Y[restrict Y_0][Y_1][Y_2]) {
  enum { n = X_0 };
  static double B[n][n][n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) Y[i][j][k] = B[i][j][k] = X[i][j][k];
  for (int t = 0; t < A_t; t += 2) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 1; k < n - 1; ++k)
          B[i][j][k] = 0.125 * (Y[i + 1][j][k] - 2 * Y[i][j][k] + Y[i - 1][j][k]) +
                       0.125 * (Y[i][j + 1][k] - 2 * Y[i][j][k] + Y[i][j - 1][k]) +
                       0.125 * (Y[i][j][k + 1] - 2 * Y[i][j][k] + Y[i][j][k - 1]) + Y[i][j][k];
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 1; k < n - 1; ++k)
          Y[i][j][k] = 0.125 * (B[i + 1][j][k] - 2 * B[i][j][k] + B[i - 1][j][k]) +
                       0.125 * (B[i][j + 1][k] - 2 * B[i][j][k] + B[i][j - 1][k]) +
                       0.125 * (B[i][j][k + 1] - 2 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
  }
}

void Run(void** a) { Kernel(a[0], a[1]); }
