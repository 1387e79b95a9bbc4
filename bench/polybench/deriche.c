// The PolyBench kernel deriche, a filter for edge detection. Recursive filters run forwards and
// backwards along the rows, then along the columns.

static void Kernel(const float X[restrict X_0][X_1], float Y[restrict Y_0][Y_1]) {
  static float y1[Y_0][Y_1], y2[Y_0][Y_1];
  const float a1 = -0.188681659f, a2 = 0.110209068f, a3 = -0.183681779f, a4 = 0.114441211f;
  const float b1 = 0.840896415f, b2 = -0.60653066f;
  for (int i = 0; i < Y_0; ++i) {
    float before1 = 0, before2 = 0, last = 0;
    for (int j = 0; j < Y_1; ++j) {
      y1[i][j] = a1 * X[i][j] + a2 * last + b1 * before1 + b2 * before2;
      last = X[i][j];
      before2 = before1;
      before1 = y1[i][j];
    }
  }
  for (int i = 0; i < Y_0; ++i) {
    float before1 = 0, before2 = 0, last1 = 0, last2 = 0;
    for (int j = Y_1 - 1; j >= 0; --j) {
      y2[i][j] = a3 * last1 + a4 * last2 + b1 * before1 + b2 * before2;
      last2 = last1;
      last1 = X[i][j];
      before2 = before1;
      before1 = y2[i][j];
    }
  }
  for (int i = 0; i < Y_0; ++i)
    for (int j = 0; j < Y_1; ++j) Y[i][j] = y1[i][j] + y2[i][j];
  for (int j = 0; j < Y_1; ++j) {
    float before1 = 0, before2 = 0, last = 0;
    for (int i = 0; i < Y_0; ++i) {
      y1[i][j] = a1 * Y[i][j] + a2 * last + b1 * before1 + b2 * before2;
      last = Y[i][j];
      before2 = before1;
      before1 = y1[i][j];
    }
  }
  for (int j = 0; j < Y_1; ++j) {
    float before1 = 0, before2 = 0, last1 = 0, last2 = 0;
    for (int i = Y_0 - 1; i >= 0; --i) {
      y2[i][j] = a3 * last1 + a4 * last2 + b1 * before1 + b2 * before2;
      last2 = last1;
      last1 = Y[i][j];
      before2 = before1;
      before1 = y2[i][j];
    }
  }
  for (int i = 0; i < Y_0; ++i)
    for (int j = 0; j < Y_1; ++j) Y[i][j] = y1[i][j] + y2[i][j];
}

void Run(void** a) { Kernel(a[0], a[1]); }
