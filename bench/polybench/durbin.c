// The PolyBench kernel durbin, a recursion that solves the Yule-Walker equations of r / n.

static void Kernel(const double r[restrict r_0], double y[restrict y_0]) {
  enum { n = r_0 };
  static double z[n], w[n];
  for (int i = 0; i < n; ++i) w[i] = r[i] / n;
  y[0] = -w[0];
  double beta = 1, alpha = -w[0];
  for (int k = 1; k < n; ++k) {
    beta = (1 - alpha * alpha) * beta;
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += w[k - i - 1] * y[i];
    alpha = -(w[k] + sum) / beta;
    for (int i = 0; i < k; ++i) z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; ++i) y[i] = z[i];
    y[k] = alpha;
  }
}

void Run(void** a) { Kernel(a[0], a[1]); }
