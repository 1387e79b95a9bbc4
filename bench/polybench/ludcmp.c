// The PolyBench kernel ludcmp: x solves (X + n I) x = b, by LU decomposition and substitution.

static void Kernel(const double X[restrict X_0][X_1], const double b[restrict b_0],
                   double x[restrict x_0]) {
  enum { n = X_0 };
  static double L[n][n], y[n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) L[i][j] = X[i][j] + (i == j ? n : 0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) L[i][j] -= L[i][k] * L[k][j];
      L[i][j] /= L[j][j];
    }
    for (int j = i; j < n; ++j)
      for (int k = 0; k < i; ++k) L[i][j] -= L[i][k] * L[k][j];
  }
  for (int i = 0; i < n; ++i) {
    y[i] = b[i];
    for (int j = 0; j < i; ++j) y[i] -= L[i][j] * y[j];
  }
  for (int i = n - 1; i >= 0; --i) {
    x[i] = y[i];
    for (int j = i + 1; j < n; ++j) x[i] -= L[i][j] * x[j];
    x[i] /= L[i][i];
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2]); }
