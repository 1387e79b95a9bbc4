// The PolyBench kernel gesummv: y = 1.5 A x + 1.2 B x.

static void Kernel(const double A[restrict A_0][A_1], const double B[restrict B_0][B_1],
                   const double x[restrict x_0], double y[restrict y_0]) {
  for (int i = 0; i < A_0; ++i) {
    double tmp = 0;
    y[i] = 0;
    for (int j = 0; j < A_1; ++j) {
      tmp += A[i][j] * x[j];
      y[i] += B[i][j] * x[j];
    }
    y[i] = 1.5 * tmp + 1.2 * y[i];
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2], a[3]); }
