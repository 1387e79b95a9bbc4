// The PolyBench kernel covariance: the covariances of all pairs of columns of `data`.

static void Kernel(const double data[restrict data_0][data_1], double cov[restrict cov_0][cov_1]) {
  enum { n = data_0, m = data_1 };
  static double mean[m], d[n][m];
  for (int j = 0; j < m; ++j) {
    mean[j] = 0;
    for (int i = 0; i < n; ++i) mean[j] += data[i][j];
    mean[j] /= n;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) d[i][j] = data[i][j] - mean[j];
  for (int i = 0; i < m; ++i)
    for (int j = i; j < m; ++j) {
      cov[i][j] = 0;
      for (int k = 0; k < n; ++k) cov[i][j] += d[k][i] * d[k][j];
      cov[i][j] /= n - 1.0;
      cov[j][i] = cov[i][j];
    }
}

void Run(void** a) { Kernel(a[0], a[1]); }
