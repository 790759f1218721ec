// Program-scope constant data: scalars, arrays, structures, strings, addresses, expressions.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

struct pair { int a; float b; };
constant int one = 1;
constant int table[4] = {1, 2 << 3, -7 % 4, sizeof(double)};
constant float weights[3][3] = {{1.0f / 9, 2, 3}, {4}, {7, 8, (float)(1 + 1)}};
constant struct pair pairs[] = {{1, 2.5f}, {.b = 3, .a = 4}};
constant char text[] = "ab\tc\x41\102";
constant char *constant words[2] = {"zero", "one"};
constant float4 vec = (float4)(1, 2, 3, 4);
constant uint mask = ~0u >> 4;
constant ulong big = 0x123456789abcdef0UL;
constant double third = 1.0 / 3.0;
constant int *constant where = &table[1];
enum { N = 3, M = N * 2 };
constant int sized[M] = {[N] = 5};
constant bool flag = 3 > 2;
constant int choose = sizeof(int) == 4 ? 10 : 20;
int at(constant int *p, int i) { return p[i]; }
int length_of(constant char *s) { int n = 0; while (s[n]) n++; return n; }
kernel void test(global int *out) {
  CHECK(one == 1 && table[1] == 16 && table[2] == -3 && table[3] == 8);
  CHECK(weights[0][0] == 1.0f / 9 && weights[1][0] == 4 && weights[1][2] == 0 && weights[2][2] == 2);
  CHECK(pairs[1].a == 4 && pairs[1].b == 3 && sizeof(pairs) == 16);
  CHECK(sizeof text == 7 && text[2] == 9 && text[4] == 65 && text[5] == 66 && text[6] == 0);
  CHECK(length_of(words[0]) == 4 && words[1][0] == 111);
  CHECK(vec.z == 3);
  CHECK(mask == 0x0fffffffu && big >> 60 == 1 && third * 3 == 1.0);
  CHECK(*where == 16 && where[1] == -3);
  CHECK(sized[3] == 5 && sized[5] == 0 && M == 6);
  CHECK(flag && choose == 10);
  CHECK(at(table, 1) == 16 && at(&sized[2], 1) == 5);
  constant int inner[2] = {42, 43};
  CHECK(inner[1] == 43);
  CHECK(length_of("hello" " " "world") == 11);
  DONE;
}
