// The edge cases of the inverse trigonometric functions: C99 F.9.1 and the specification's "additional requirements
// beyond C99 TC2".
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

// Equal with the sign of zero.
#define IS(T, x, y) ({ T got = (x), want = (y); got == want && signbit(got) == signbit(want); })
// f(x) and f(-x), an odd function.
#define ODD(T, f, x, y) (IS(T, f(x), y) && IS(T, f(-(x)), -(y)))
#define ODD2(T, f, y, x, r) (IS(T, f(y, x), r) && IS(T, f(-(y), x), -(r)))

#define EDGES(T, zero, one, pi, half_pi)                                                              \
  do {                                                                                                \
    T inf = INFINITY, nan = NAN, big = one + 1;                                                       \
    T small = sizeof(T) == 4 ? (T)1e-40f : (T)1e-310;                                                 \
    T large = sizeof(T) == 4 ? (T)3e38f : (T)(1e30f) * (T)(1e30f) * (T)(1e30f) * (T)(1e30f);          \
    CHECK(IS(T, acos(one), 0) && isnan(acos(big)) && isnan(acos(-big)) && isnan(acos(nan)));          \
    CHECK(acos(-one) == pi && acos(zero) == half_pi && acos(-zero) == half_pi && isnan(acos(inf)));   \
    CHECK(ODD(T, asin, zero, zero) && isnan(asin(big)) && isnan(asin(-big)) && isnan(asin(nan)));     \
    CHECK(ODD(T, asin, one, half_pi) && ODD(T, atan, zero, zero) && ODD(T, atan, inf, half_pi));      \
    CHECK(isnan(atan(nan)) && isnan(atanpi(nan)));                                                    \
    CHECK(IS(T, acospi(one), 0) && isnan(acospi(big)) && isnan(acospi(-big)) && isnan(acospi(nan)));  \
    CHECK(acospi(-one) == 1 && acospi(zero) == 0.5f && acospi(-zero) == 0.5f);                        \
    CHECK(ODD(T, asinpi, zero, zero) && isnan(asinpi(big)) && isnan(asinpi(-big)));                   \
    CHECK(ODD(T, asinpi, one, 0.5f) && isnan(asinpi(nan)));                                           \
    CHECK(ODD(T, atanpi, zero, zero) && ODD(T, atanpi, inf, 0.5f) && ODD(T, atanpi, one, 0.25f));     \
    for (int i = 0; i < 4; i++) {                                                                     \
      T x = i == 0 ? one : i == 1 ? large : i == 2 ? (T)0.3f : small;                                 \
      CHECK(ODD2(T, atan2, zero, x, zero) && ODD2(T, atan2, zero, -x, pi));                           \
      CHECK(ODD2(T, atan2, x, zero, half_pi) && ODD2(T, atan2, x, -zero, half_pi));                   \
      CHECK(ODD2(T, atan2, x, -inf, pi) && ODD2(T, atan2, x, inf, zero));                             \
      CHECK(ODD2(T, atan2, inf, x, half_pi) && ODD2(T, atan2, inf, -x, half_pi));                     \
      CHECK(isnan(atan2(x, nan)) && isnan(atan2(nan, x)));                                            \
      CHECK(ODD2(T, atan2pi, zero, x, zero) && ODD2(T, atan2pi, zero, -x, 1));                        \
      CHECK(ODD2(T, atan2pi, x, zero, 0.5f) && ODD2(T, atan2pi, x, -zero, 0.5f));                     \
      CHECK(ODD2(T, atan2pi, x, -inf, 1) && ODD2(T, atan2pi, x, inf, zero));                          \
      CHECK(ODD2(T, atan2pi, inf, x, 0.5f) && ODD2(T, atan2pi, inf, -x, 0.5f));                       \
      CHECK(ODD2(T, atan2pi, x, x, 0.25f) && ODD2(T, atan2pi, x, -x, 0.75f));                         \
      CHECK(isnan(atan2pi(x, nan)) && isnan(atan2pi(nan, x)));                                        \
    }                                                                                                 \
    CHECK(ODD2(T, atan2, zero, -zero, pi) && ODD2(T, atan2, zero, zero, zero));                       \
    CHECK(ODD2(T, atan2, inf, inf, half_pi / 2) && fabs(atan2(inf, -inf) - 3 * pi / 4) < 1e-6f);      \
    CHECK(ODD2(T, atan2, inf, -inf, atan2(inf, -inf)));                                               \
    CHECK(ODD2(T, atan2pi, zero, -zero, 1) && ODD2(T, atan2pi, zero, zero, zero));                    \
    CHECK(ODD2(T, atan2pi, inf, -inf, 0.75f) && ODD2(T, atan2pi, inf, inf, 0.25f));                   \
    CHECK(isnan(atan2(nan, inf)) && isnan(atan2pi(inf, nan)) && isnan(atan2pi(zero, nan)));           \
  } while (0)

void floats(global int *out) {
  float zero = 0.0f * get_global_id(0), one = zero + 1;
  EDGES(float, zero, one, M_PI_F, M_PI_2_F);
  DONE;
}

void doubles(global int *out) {
  double zero = 0.0 * get_global_id(0), one = zero + 1;
  EDGES(double, zero, one, M_PI, M_PI_2);
  DONE;
}

kernel void test(global int *out) {
  floats(out);
  if (out[get_global_id(0)] == 0)
    doubles(out);
}
