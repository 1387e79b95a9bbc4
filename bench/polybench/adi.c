// The PolyBench kernel adi, an alternating-direction implicit method. Each step solves tridiagonal
// systems along the inner columns of v, then along the inner rows of u.

static void Kernel(const double U[restrict U_0][U_1], double u[restrict u_0][u_1]) {
  enum { n = U_0 };
  static double v[n][n], p[n][n], q[n][n];
  const double step = 1.0 / n;
  const double mul1 = 2.0 * (1.0 / step_t) / (step * step);
  const double mul2 = 1.0 * (1.0 / step_t) / (step * step);
  const double a = -mul1 / 2, b = 1 + mul1, c = a, d = -mul2 / 2, e = 1 + mul2, f = d;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) u[i][j] = U[i][j];
  for (int i = 1; i < n - 1; ++i) u[i][0] = u[i][n - 1] = 1;
  for (int t = 0; t < step_t; ++t) {
    for (int i = 1; i < n - 1; ++i) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; ++j) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                  (a * p[i][j - 1] + b);
      }
      v[n - 1][i] = 1;
      for (int j = n - 2; j >= 1; --j) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; ++i) {
      u[i][0] = 1;
      p[i][0] = 0;
      q[i][0] = u[i][0];
      for (int j = 1; j < n - 1; ++j) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                  (d * p[i][j - 1] + e);
      }
      u[i][n - 1] = 1;
      for (int j = n - 2; j >= 1; --j) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
}

void Run(void** a) { Kernel(a[0], a[1]); }
