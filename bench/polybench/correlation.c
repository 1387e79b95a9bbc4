// The PolyBench kernel correlation: the correlations of all pairs of columns of `data`. A standard
// deviation of at most 0.1 counts as 1.
#include <math.h>

static void Kernel(const double data[restrict data_0][data_1],
                   double corr[restrict corr_0][corr_1]) {
  enum { n = data_0, m = data_1 };
  static double mean[m], deviation[m], d[n][m];
  for (int j = 0; j < m; ++j) {
    mean[j] = 0;
    for (int i = 0; i < n; ++i) mean[j] += data[i][j];
    mean[j] /= n;
  }
  for (int j = 0; j < m; ++j) {
    deviation[j] = 0;
    for (int i = 0; i < n; ++i) deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    deviation[j] = sqrt(deviation[j] / n);
    if (deviation[j] <= 0.1) deviation[j] = 1;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) d[i][j] = (data[i][j] - mean[j]) / (sqrt(n) * deviation[j]);
  for (int i = 0; i < m - 1; ++i) {
    corr[i][i] = 1;
    for (int j = i + 1; j < m; ++j) {
      corr[i][j] = 0;
      for (int k = 0; k < n; ++k) corr[i][j] += d[k][i] * d[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[m - 1][m - 1] = 1;
}

void Run(void** a) { Kernel(a[0], a[1]); }
