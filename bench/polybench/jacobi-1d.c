// The PolyBench kernel jacobi-1d, relaxation in one dimension. An iteration does two steps.

static void Kernel(const double X[restrict X_0], double Y[restrict Y_0]) {
  enum { n = X_0 };
  static double B[n];
  for (int i = 0; i < n; ++i) Y[i] = B[i] = X[i];
  for (int t = 0; t < A_t; t += 2) {
    for (int i = 1; i < n - 1; ++i) B[i] = 0.33333 * (Y[i - 1] + Y[i] + Y[i + 1]);
    for (int i = 1; i < n - 1; ++i) Y[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }
}

void Run(void** a) { Kernel(a[0], a[1]); }
