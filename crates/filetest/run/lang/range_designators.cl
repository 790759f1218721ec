// Ranges of elements in initial values: each element gets the value, in constant data and in variables.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

struct pair { int x; int y[2]; };

constant int table[10] = {[0 ... 2] = 5, 6, [7 ... 8] = 7};
constant struct pair pairs[3] = {[0 ... 2] = {1, {2}}, [1].y[1] = 3};
constant int *constant addresses[3] = {[0 ... 1] = &table[3]};

int next(int *count) {
  return ++*count;
}

kernel void test(global int *out) {
  int id = get_global_id(0);
  CHECK(table[0] == 5 && table[2] == 5 && table[3] == 6 && table[4] == 0 && table[7] == 7 && table[9] == 0);
  for (int i = 0; i < 3; i++)
    CHECK(pairs[i].x == 1 && pairs[i].y[0] == 2 && pairs[i].y[1] == (i == 1 ? 3 : 0));
  CHECK(*addresses[0] == 6 && *addresses[1] == 6 && !addresses[2]);

  int calls = 0;
  int many[100] = {[3 ... 98] = id + next(&calls)};
  int sum = 0;
  for (int i = 0; i < 100; i++)
    sum += many[i];
  // The value is computed once.
  CHECK(calls == 1 && sum == 96 * (id + 1) && many[2] == 0 && many[3] == id + 1 && many[98] == id + 1 && many[99] == 0);

  struct pair list[40] = {[0 ... 39] = {id, {1, 2}}, [20 ... 29].y[1] = 9, [25] = {7}};
  for (int i = 0; i < 40; i++) {
    CHECK(list[i].x == (i == 25 ? 7 : id));
    CHECK(list[i].y[0] == (i == 25 ? 0 : 1));
    CHECK(list[i].y[1] == (i == 25 ? 0 : i >= 20 && i < 30 ? 9 : 2));
  }

  char grid[3][5] = {[0 ... 1][1 ... 3] = 4, [2][0 ... 4] = 8};
  int wrong = 0;
  for (int y = 0; y < 3; y++)
    for (int x = 0; x < 5; x++)
      wrong += grid[y][x] != (y == 2 ? 8 : x >= 1 && x <= 3 ? 4 : 0);
  CHECK(wrong == 0);

  float4 vectors[5] = {[1 ... 3] = (float4)(id, 1, 2, 3)};
  CHECK(all(vectors[3] == (float4)(id, 1, 2, 3)) && all(vectors[4] == 0.0f) && vectors[1].x == id);
  int open[] = {[0 ... 4] = 1, 2};
  CHECK(sizeof(open) == 24 && open[4] == 1 && open[5] == 2);
  DONE;
}
