// Long lists of initial values: of constants, which become tables; with other values, holes, ranges and nested braces;
// anew in each iteration; of what is then written, passed on, or kept over a barrier.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { char c; int n[20]; float2 v; } record;

constant float weights[3] = {0.25f, 0.5f, 0.25f};

int at(const int *p, int i) { return p[i]; }
int square_of(int i) {
  const int squares[20] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361};
  return squares[i];
}
void set(int *p, int i) { p[i] = -1; }

kernel void test(global int *out) {
  int id = (int)get_global_id(0), k = id % 7;
  const int table[18] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3};
  const int same[18] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3};
  int sum = 0;
  for (int i = 0; i < 18; i++)
    sum += table[i] * (i + 1) - same[i] * i;
  CHECK(sum == 85 && table[k + 2] == same[k + 2] && &table[0] != &same[0]);
  CHECK(square_of(k) == k * k && square_of(19 - k) == (19 - k) * (19 - k));

  // Short ones stay stores, whose contents become a table as well.
  float kernel3[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  float total = 0;
  for (int i = 0; i <= k + 1; i++)
    total += kernel3[(i + k) % 9] * weights[i % 3];
  float expected = 0;
  for (int i = 0; i <= k + 1; i++)
    expected += ((i + k) % 9 == 4 ? 4.0f : (i + k) % 9 % 2 ? 2.0f : 1.0f) * (i % 3 == 1 ? 0.5f : 0.25f);
  CHECK(total == expected);

  // Written afterwards: no table.
  int mine[18] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3};
  mine[k] += id;
  CHECK(mine[k] == table[k] + id && mine[k + 1] == table[k + 1]);
  set(mine, 17 - k);
  CHECK(at(mine, 17 - k) == -1 && at(mine, 8) == 5);

  // Some values are not constant; one is written twice.
  int some[24] = {1, 2, 3, id, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, k, 16, 17, 18, 19, 20, 21, 22, 23, 24};
  CHECK(some[3] == id && some[14] == k && some[k + 15] == k + 16 && some[23] == 24);
  int twice[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, [2] = id};
  CHECK(twice[2] == id && twice[k + 3] == k + 4);

  // Holes.
  int holes[32] = {[3] = 1, [5] = id, [9 ... 12] = 7, [31] = 2};
  int zeros = 0;
  for (int i = 0; i < 32; i++)
    zeros += holes[i] == 0 && i != 5;
  CHECK(zeros == 25 && holes[5] == id && holes[9 + (k & 3)] == 7 && holes[31] == 2);
  uchar text[24] = "constant text";
  CHECK(text[k] == "constant text"[k] && text[13] == 0 && text[23 - k] == 0);

  // Nested, with padding.
  record r[3] = {{1, {1, 2, 3}, (float2)(1, 2)},
                 {2, {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, id}, (float2)(id, k)}};
  CHECK(r[1].n[19] == id && r[1].v.x == id && r[1].v.y == k && r[0].n[k + 3] == 0 && r[2].c == 0 && r[2].v.y == 0);
  CHECK(r[k & 1].c == (k & 1) + 1 && r[1].n[k] == k + 4);
  record copy = r[1];
  copy.n[k] = 100;
  CHECK(copy.n[k] == 100 && r[1].n[k] == k + 4 && copy.n[k + 8] == k + 12 && copy.v.y == k);

  // Anew in each iteration, which some work-items leave early.
  int found = 0;
  for (int i = 0; i < 5; i++) {
    int fresh[18] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3};
    const int constant_one[18] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3};
    CHECK(fresh[i] == table[i] && fresh[k + 5] == table[k + 5]);
    fresh[k + 5] = -7;
    fresh[i] = -8;
    found += constant_one[i + k];
    if (i > k)
      break;
  }
  int want = 0;
  const int digits[18] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3};
  for (int i = 0; i < 5 && i <= k + 1; i++)
    want += digits[i + k];
  CHECK(found == want);

  // In one branch only.
  int branch = 0;
  if (k & 1) {
    int odd[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    odd[k + 1] *= 2;
    branch = odd[k] + odd[k + 1];
  } else {
    const int even[20] = {21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
    branch = even[k] + even[k + 1];
  }
  CHECK(branch == (k & 1 ? k + 1 + 2 * (k + 2) : 2 * k + 43));

  // Compound literals.
  const int *literal = (int[18]){9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 12, 13, 14, 15, 16, 17, id};
  CHECK(literal[k] == 9 - k && literal[17] == id);

  // Over a barrier.
  int kept[40] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, k, id};
  const int fixed[20] = {20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  kept[k] = 50;
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(kept[k] == 50 && kept[k + 1] == k + 2 && kept[20] == k && kept[21] == id && kept[22 + k] == 0);
  CHECK(fixed[k] == 20 - k);
  DONE;
}
