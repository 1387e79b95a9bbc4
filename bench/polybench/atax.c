// The PolyBench kernel atax: y = A^T (A x).

static void Kernel(const double A[restrict A_0][A_1], const double x[restrict x_0],
                   double y[restrict y_0]) {
  for (int j = 0; j < A_1; ++j) y[j] = 0;
  for (int i = 0; i < A_0; ++i) {
    double sum = 0;
    for (int j = 0; j < A_1; ++j) sum += A[i][j] * x[j];
    for (int j = 0; j < A_1; ++j) y[j] += A[i][j] * sum;
  }
}

void Run(void** a) { Kernel(a[0], a[1], a[2]); }
