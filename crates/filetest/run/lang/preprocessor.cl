// The preprocessor seen from the language.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define STR_(x) #x
#define STR(x) STR_(x)
#define MAXOF(a, b) ((a) > (b) ? (a) : (b))
#define EMPTY
#define VARIADIC(first, ...) first + sum3(__VA_ARGS__)
#define SELF SELF + 1
#define T float
#define F(n) CAT(value_, n)
#if defined(__OPENCL_VERSION__) && __OPENCL_VERSION__ >= 100 && !defined NOT_THERE
#  define OK1 1
#elif 1
#  define OK1 2
#else
#  error "not here"
#endif
#ifdef __ENDIAN_LITTLE__
#define OK2 1
#endif
#if (1 ? 2 : 3) == 2 && (-1 < 0u) == 0 && 0x10 == 16 && 077 == 63 && (5 / 2) == 2 && (1 << 4) == 16
#define OK3 1
#endif
#undef NOT_THERE
#pragma OPENCL EXTENSION all : disable
#pragma unknown thing
int sum3(int a, int b, int c) { return a + b + c; }
constant int value_7 = 70;
constant char name[] = STR(CAT(x, 1) "q");
kernel void test(global int *out) {
  int SELF_ = 1;
  CHECK(OK1 == 1 && OK2 == 1 && OK3 == 1);
  CHECK(F(7) == 70);
  CHECK(MAXOF(3, 2 + 5) == 7);
  CHECK(VARIADIC(1, 2, 3, 4) == 10);
  CHECK(name[0] == 120 && name[1] == 49 && sizeof(name) == 7);
  CAT(flo, at) f = 1.5f;
  CHECK(f EMPTY == 1.5f);
  int x = 3; /* a comment
     of two lines */ x++; // and \
     x = 100;
  CHECK(x == 4);
#line 500
  CHECK(__LINE__ == 500);
  CHECK(sizeof(__FILE__) > 0);
  CHECK(__OPENCL_C_VERSION__ >= 120 && CL_VERSION_1_2 == 120 && CL_VERSION_1_0 == 100);
  CHECK(CHAR_BIT == 8 && INT_MAX == 2147483647 && SHRT_MIN == -32768 && UCHAR_MAX == 255);
  CHECK(FLT_DIG == 6 && FLT_MANT_DIG == 24 && FLT_EPSILON == 0x1.0p-23f && FLT_MAX > 3.4e38f && DBL_MANT_DIG == 53);
  CHECK(M_PI_F > 3.14159f && M_PI > 3.14159265358979 && isinf(HUGE_VALF) && isinf(INFINITY) && isnan(NAN));
  CHECK(MAXFLOAT == FLT_MAX);
  x = __LINE__ -
      __LINE__;
  CHECK(x == 0 || x == -1);
  DONE;
}
