// Macros: rescanning, operands of # and ##, variable arguments, conditions, predefined names.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#define STR(x) #x
#define XSTR(x) STR(x)
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define CAT3(a, b, c) a##b##c
#define ONE 1
#define NAME(n) value_##n
#define APPLY(f, x) f(x)
#define TWICE(x) ((x) * 2)
#define NOTHING
#define PARENS ()
#define CALL(f) f PARENS
#define DEFER(x) x NOTHING
#define LAST(a, ...) __VA_ARGS__
#define COUNT_(a, b, c, d, n, ...) n
#define COUNT(...) COUNT_(__VA_ARGS__, 4, 3, 2, 1, 0)
#define LIST(X) X(a, 1) X(b, 2) X(c, 3)
#define AS_ENUM(n, v) E_##n = v,
#define AS_SUM(n, v) + v * E_##n
#define SWAP(T, a, b) do { T t_ = (a); (a) = (b); (b) = t_; } while (0)
#define fool fool + barn
#define barn fool
#define f(a) a*g
#define g(a) f(a)
#define QUOTE(...) #__VA_ARGS__
#define LONG_ONE \
  (1 + \
   2)
#define COMMENTED(a) /* nothing */ a // here
#define ARG0() 5
#define STRINGY "a" XSTR(ONE) STR(ONE)

enum { LIST(AS_ENUM) E_end };

#if ONE && defined(ONE) && defined ONE && !defined(TWO) && TWO == 0
#define C1 1
#else
#define C1 0
#endif
#if 0
# this is not even a directive ' "
#if 1
#error "skipped"
#else
#endif
#elif ONE + 1 == 2
#define C2 1
#elif 1 / 0
#define C2 2
#endif
#if (2 || 1 / 0) && !(0 && 1 / 0) && (1 ? 1 : 1 / 0)
#define C3 1
#endif
#if -1 > 0u && -1 < 0 && (-1 >> 1) == -1 && 'a' == 97 && '\n' == 10
#define C4 1
#endif
#if 10 % 4 == 2 && 7 / -2 == -3 && (3 ^ 5) == 6 && (6 & 3 | 8) == 10 && 1 << 3 >> 1 == 4 && 5 > 3 == 1
#define C5 1
#endif
#ifndef UNDEFINED_NAME
#ifdef ONE
#define C6 1
#endif
#endif
#undef ONE
#define ONE 10
#if __OPENCL_VERSION__ >= 120 && __OPENCL_C_VERSION__ >= 100 && CL_VERSION_1_2 == 120 && defined(__ENDIAN_LITTLE__)
#define C7 1
#endif
#if CHAR_BIT == 8 && INT_MAX == 2147483647 && INT_MIN < 0 && SCHAR_MIN == -128 && USHRT_MAX == 65535
#define C8 1
#endif

int value_7(void) { return 77; }
int zero_args() { return 3; }
int lines(int a, int b) { return b - a; }

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  CHECK(C1 == 1 && C2 == 1 && C3 == 1 && C4 == 1 && C5 == 1 && C6 == 1 && C7 == 1 && C8 == 1);
  CHECK(ONE == 10 && XCAT(O, NE) == 10 && XCAT(1, 2) == 12 && CAT(1, 2) == 12 && CAT3(1, 2, 3) == 123 && CAT(, 4) == 4);
  CHECK(NAME(7)() == 77 && APPLY(TWICE, 5) == 10 && APPLY(TWICE, TWICE(3)) == 12 && CALL(zero_args) == 3);
  CHECK(LAST(1, 2) == 2 && COUNT(a) == 1 && COUNT(a, b, c) == 3 && COUNT((a, b), c) == 2 && ARG0() == 5);
  CHECK(E_b == 2 && E_end == 4 && (0 LIST(AS_SUM)) == 14 && LONG_ONE == 3 && COMMENTED(6) == 6);
  CHECK(sizeof(STR(a  +   b)) == 6 && sizeof(STR("x\n")) == 6 && sizeof(XSTR(ONE)) == 3 && sizeof(STR(ONE)) == 4);
  CHECK(sizeof(QUOTE(a, b,c)) == 7 && sizeof(STR()) == 1 && sizeof(STRINGY) == 7 && sizeof(STR('\'')) == 5);
  CHECK(STR(a\b)[1] == 8 && STR("q")[0] == 34);
  int a = 1, b = 2;

  SWAP(int, a, b);
  CHECK(a == 2 && b == 1);
  int f2 = 3, g = 4;
  CHECK(f(2)(9) == 2*9*g);
  CHECK(sizeof(__FILE__) > 1 && __LINE__ > 90 && lines(__LINE__, __LINE__) == 0);
  int here = __LINE__, there =
    __LINE__;
  CHECK(there == here + 1);
#line 1000
  here = __LINE__;
  CHECK(here == 1000);
  CHECK(zero == 0 && __COUNTER__ + 1 == __COUNTER__);
  DONE;
}
