// The PolyBench kernel gemver: A = A0 + u1 v1^T + u2 v2^T, x = 1.2 A^T y + z, w = 1.5 A x.

static void Kernel(const double A0[restrict A0_0][A0_1], const double u1[restrict u1_0],
                   const double v1[restrict v1_0], const double u2[restrict u2_0],
                   const double v2[restrict v2_0], const double y[restrict y_0],
                   const double z[restrict z_0], double A[restrict A_0][A_1],
                   double x[restrict x_0], double w[restrict w_0]) {
  enum { n = A_0 };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) A[i][j] = A0[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < n; ++i) x[i] = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) x[i] += 1.2 * A[j][i] * y[j];
  for (int i = 0; i < n; ++i) x[i] += z[i];
  for (int i = 0; i < n; ++i) w[i] = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) w[i] += 1.5 * A[i][j] * x[j];
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]); }
