// Literals: suffixes and the types they give, bases, hexadecimal floats, characters, strings, wrapping at the top.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int __attribute__((overloadable)) kind(int x) { return 1; }
int __attribute__((overloadable)) kind(uint x) { return 2; }
int __attribute__((overloadable)) kind(long x) { return 3; }
int __attribute__((overloadable)) kind(ulong x) { return 4; }
int __attribute__((overloadable)) kind(float x) { return 5; }
int __attribute__((overloadable)) kind(double x) { return 6; }
int __attribute__((overloadable)) kind(char x) { return 7; }

constant char escapes[] = "\a\b\f\n\r\t\v\\\'\"\?\0\101\x41\377";
constant char joined[] = "ab" "c\0" "1";

kernel void test(global int *out) {
  // The first type of the list in which the value fits.
  CHECK(kind(1) == 1 && kind(1u) == 2 && kind(1l) == 3 && kind(1ul) == 4 && kind(1lu) == 4 && kind(1LU) == 4);
  CHECK(kind(2147483647) == 1 && kind(2147483648) == 3 && kind(0x7fffffff) == 1 && kind(0x80000000) == 2);
  CHECK(kind(4294967296) == 3 && kind(0xffffffff) == 2 && kind(0x100000000) == 3 && kind(0xffffffffffffffff) == 4);
  CHECK(kind(4294967295u) == 2 && kind(4294967296u) == 4 && kind(037777777777) == 2 && kind(040000000000) == 3);
  CHECK(kind(-2147483648) == 3 && kind(9223372036854775807) == 3);
  CHECK(kind(1.0f) == 5 && kind(1.F) == 5 && kind(1.0) == 6 && kind(1e3) == 6 && kind(.5f) == 5 && kind(0x1p3f) == 5);
  CHECK(kind('a') == 1 && kind((char)'a') == 7 && sizeof('a') == 4);
  CHECK(kind(true) == 1 || sizeof(true) == 1);

  // Bases.
  CHECK(0x1F == 31 && 0X1f == 31 && 017 == 15 && 0 == 00 && 0b101 == 5);
  CHECK(0xdeadbeefu == 3735928559u && 0x123456789abcdefL == 81985529216486895L);
  CHECK(18446744073709551615ul + 1ul == 0ul && 4294967295u + 1u == 0u);
  CHECK(-1 == (int)0xffffffffu && -(uint)1 == 0xffffffffu && -0x80000000 == 0x80000000);
  CHECK(0xffffffffffffffffUL == ULONG_MAX && ~0 == -1 && ~0u == UINT_MAX && ~0l == -1l);

  // Floats: rounded once, to the nearest.
  CHECK(0x1p0f == 1.0f && 0x1.8p1f == 3.0f && 0x.8p0f == 0.5f && 0xAp-1f == 5.0f && 0x1.fffffep127f == FLT_MAX);
  CHECK(1e2f == 100.0f && 1.5e-1 == 0.15 && 1E+2 == 100.0 && 5.e0 == 5.0 && .25e2f == 25.0f);
  CHECK(as_uint(0.1f) == 0x3dcccccdu && as_ulong(0.1) == 0x3fb999999999999aul);
  CHECK(as_uint(16777217.0f) == 0x4b800000u && as_uint(1e-45f) == 1u && as_uint(1e-46f) == 0u);
  CHECK(as_uint(3.4028235e38f) == 0x7f7fffffu && as_uint(1.17549435e-38f) == 0x00800000u);
  CHECK(as_ulong(0x1.23456789abcdep-5) == 0x3fa23456789abcdeul);
  CHECK(as_ulong(1.7976931348623157e308) == 0x7feffffffffffffful && as_ulong(4.9e-324) == 1ul);
  // 1 + 2^-24 + 2^-60 is above the midpoint: a float rounds it up; by way of double it would round down.
  CHECK(as_uint(1.000000059604644776f) == 0x3f800001u);

  // Characters and strings.
  CHECK('a' == 97 && '\n' == 10 && '\\' == 92 && '\'' == 39 && '"' == 34 && '\0' == 0 && '\x7f' == 127);
  CHECK('\377' == -1 && '\xff' == -1 && '\101' == 'A' && '\a' == 7 && '\v' == 11);
  CHECK(sizeof(escapes) == 16 && escapes[0] == 7 && escapes[1] == 8 && escapes[2] == 12 && escapes[3] == 10);
  CHECK(escapes[4] == 13 && escapes[5] == 9 && escapes[6] == 11 && escapes[7] == '\\' && escapes[8] == '\'');
  CHECK(escapes[9] == '"' && escapes[10] == '?' && escapes[11] == 0 && escapes[12] == 'A' && escapes[13] == 'A');
  CHECK(escapes[14] == -1 && escapes[15] == 0);
  CHECK(sizeof(joined) == 6 && joined[2] == 'c' && joined[3] == 0 && joined[4] == '1');
  CHECK(sizeof("") == 1 && sizeof("abc") == 4 && "abc"[1] == 'b' && 1["abc"] == 'b' && *"xyz" == 'x');

  // The least number of 64 bits, by a literal that only its negation gives a type.
  CHECK(-9223372036854775808 < 0 && -9223372036854775808 == LONG_MIN && sizeof(-9223372036854775808) == 8);
  CHECK(!(-1.0f < -9223372036854775808) && 1.0f > -9223372036854775808);
  DONE;
}
