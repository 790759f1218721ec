// Generic pointers in memory and in calls that stay: lists, volatile pointers, unions, functions that are not inlined.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0
#define KEPT __attribute__((noinline))

typedef struct node { int value; struct node *next; } node;
typedef union { int *p; ulong bits; } both;

KEPT int length(const node *n) {
  int count = 0;
  for (; n; n = n->next) count++;
  return count;
}

KEPT void scale(int *p, int n, int by) {
  for (int i = 0; i < n; i++) p[i] *= by;
}

KEPT node *push(node *list, node *n, int value) {
  n->value = value;
  n->next = list;
  return n;
}

// Where it is asked, too deep to be inlined by chance.
KEPT int where(const int *p) { return to_local(p) ? 1 : to_private(p) ? 2 : to_global(p) ? 3 : 4; }
KEPT int outer(int *a, int *b, int which) { return where(which ? a : b); }

int digits(const node *n) {
  int d = 0;
  for (; n; n = n->next) d = 10 * d + n->value;
  return d;
}

kernel void test(global int *out) {
  local node shared[16];
  local int numbers[16][3];
  node own[3];
  int mine[3] = {1, 2, 3};
  int id = get_local_id(0), me = get_global_id(0);
  global int *result = out + me;

  // A list through private and local memory, in an order that the work-item decides.
  node *list = 0;
  for (int i = 0; i < 4; i++) {
    node *n = (i + me) % 4 == 3 ? (node *)&shared[id] : (node *)&own[(i + me) % 4];
    list = push(list, n, i + 1);
  }
  CHECK(length(list) == 4 && digits(list) == 4321);
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(length(list) == 4 && digits(list) == 4321);
  // Reversed in place.
  node *back = 0;
  while (list) {
    node *next = list->next;
    list->next = back;
    back = list;
    list = next;
  }
  CHECK(digits(back) == 1234 && length(back->next) == 3);

  // Calls that stay.
  for (int i = 0; i < 3; i++) numbers[id][i] = 5 + i;
  scale(mine, 3, 2);
  scale(numbers[id], 3, 3);
  scale(me % 2 ? (int *)mine : (int *)numbers[id], 2, 10);
  scale(result, 1, -7);
  CHECK(mine[0] == (me % 2 ? 20 : 2) && mine[1] == (me % 2 ? 40 : 4) && mine[2] == 6);
  CHECK(numbers[id][0] == (me % 2 ? 15 : 150) && numbers[id][1] == (me % 2 ? 18 : 180) && numbers[id][2] == 21);
  CHECK(*result == 7);
  CHECK(where(mine) == 2 && where(numbers[id]) == 1 && where(result) == 3 && where(0) == 4);
  CHECK(outer(mine, numbers[id], me % 2) == (me % 2 ? 2 : 1) && outer(numbers[id], result, me % 2) == (me % 2 ? 1 : 3));

  // Volatile pointers, and pointers seen as numbers.
  int *volatile v = mine;
  v[1] = 8;
  CHECK(mine[1] == 8 && to_private(v) == mine && !to_local(v) && get_fence(v) == 0);
  v = numbers[id];
  CHECK(*v == numbers[id][0] && to_local(v) && get_fence(v) == CLK_LOCAL_MEM_FENCE);
  both u;
  u.p = mine + 2;
  both w;
  w.bits = u.bits;
  CHECK(*w.p == 6 && w.p == mine + 2);

  // The same memory under several names: no access may pass another.
  int *a = me % 3 ? (int *)mine : (int *)numbers[id];
  int before = mine[1];
  a[1] = before + 1;
  int between = mine[1];
  mine[1] = 50;
  CHECK(between == (me % 3 ? before + 1 : before) && a[1] == (me % 3 ? 50 : before + 1));
  int *g = v == 0 ? (int *)mine : (int *)result;
  *result = 1;
  *g += 1;
  CHECK(*result == 2);
  int s = 0;
  for (int i = 0; i < 3; i++) {
    s += *result;
    *g = i;
  }
  CHECK(s == 2 + 0 + 1);
  DONE;
}
