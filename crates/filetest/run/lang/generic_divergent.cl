// Generic pointers that lead into private, local or global memory as the work-item decides: through branches, loops,
// calls, structures and memory, and across barriers.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { int *at; int count; } span;

void add(int *p, int n, int by) {
  for (int i = 0; i < n; i++) p[i] += by * (i + 1);
}

int total(span s) {
  int t = 0;
  for (int i = 0; i < s.count; i++) t = 3 * t + s.at[i];
  return t;
}

int *pick(int which, int *a, int *b, int *c) {
  switch (which % 3) {
    case 0: return a;
    case 1: return b;
    default: return c;
  }
}

kernel void test(global int *out) {
  local int shared[16][2];
  int *local between[16];
  int own[2], more[3] = {7, 8, 9};
  int id = get_local_id(0), me = get_global_id(0), n = get_local_size(0);
  global int *result = out + me;
  own[0] = 100 + id;
  own[1] = 200 + id;
  shared[id][0] = 300 + id;
  shared[id][1] = 400 + id;
  *result = 500;
  barrier(CLK_LOCAL_MEM_FENCE);

  // One of three, through a call and a phi.
  int *p = pick(me, own, shared[id], (int *)result);
  int first = me % 3 == 0 ? 100 + id : me % 3 == 1 ? 300 + id : 500;
  CHECK(*p == first);
  *p += 1;
  CHECK(*p == first + 1 && own[0] == 100 + id + (me % 3 == 0) && shared[id][0] == 300 + id + (me % 3 == 1));
  CHECK(*result == 500 + (me % 3 == 2));
  CHECK((to_private(p) != 0) == (me % 3 == 0) && (to_local(p) != 0) == (me % 3 == 1));
  CHECK((to_global(p) != 0) == (me % 3 == 2));
  *p -= 1;

  // In a loop, with a pointer that changes its address space.
  int *q = own;
  int s = 0;
  for (int i = 0; i < 4 + me % 3; i++) {
    s = 5 * s + q[i % 2] % 100;
    q = q == (int *)own ? (int *)shared[id] : (int *)own;
  }
  int t = 0;
  for (int i = 0; i < 4 + me % 3; i++) t = 5 * t + id;
  CHECK(s == t);

  // In a structure, and from memory.
  int *table[4] = {own, shared[id], more, 0};
  for (int i = 0; i < 3; i++) {
    span v = {table[(i + me) % 3], 2};
    int k = (i + me) % 3;
    int a = k == 0 ? 100 + id : k == 1 ? 300 + id : 7, b = k == 0 ? 200 + id : k == 1 ? 400 + id : 8;
    CHECK(total(v) == 3 * a + b);
    add(v.at, v.count, 10);
    CHECK(total(v) == 3 * (a + 10) + b + 20);
    add(v.at, v.count, -10);
  }
  CHECK(table[3] == 0 && own[1] == 200 + id && more[1] == 8 && more[2] == 9);

  // Across a barrier: private objects that only memory points to.
  span kept[2];
  kept[0].at = me % 2 ? more + 1 : own;
  kept[0].count = 2;
  kept[1].at = me % 2 ? (int *)shared[id] : (int *)more;
  kept[1].count = 1;
  between[id] = &shared[id][1];
  barrier(CLK_LOCAL_MEM_FENCE);
  int next = (id + 1) % n;
  *between[next] += 1000;
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(shared[id][1] == 1400 + id);
  CHECK(total(kept[0]) == (me % 2 ? 3 * 8 + 9 : 3 * (100 + id) + 200 + id));
  CHECK(total(kept[1]) == (me % 2 ? 300 + id : 7));
  kept[1].at[0] = -1;
  CHECK(me % 2 ? shared[id][0] == -1 && more[0] == 7 : shared[id][0] == 300 + id && more[0] == -1);
  DONE;
}
