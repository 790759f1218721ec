// Generic pointers in calls that stay, where nobody asks for their address space.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0
#define KEPT __attribute__((noinline))

typedef struct node { int value; struct node *next; } node;

KEPT int digits(const node *n) {
  int d = 0;
  for (; n; n = n->next) d = 10 * d + n->value;
  return d;
}

KEPT void scale(int *p, int n, int by) {
  for (int i = 0; i < n; i++) p[i] *= by;
}

KEPT node *push(node *list, node *n, int value) {
  n->value = value;
  n->next = list;
  return n;
}

KEPT int *larger(int *a, int *b) { return *a > *b ? a : b; }

kernel void test(global int *out) {
  local node shared[16];
  local int numbers[16];
  node own[3];
  int mine[3] = {1, 2, 3};
  int id = get_local_id(0), me = get_global_id(0);
  global int *result = out + me;
  node *list = 0;
  for (int i = 0; i < 4; i++) {
    node *n = (i + me) % 4 == 3 ? (node *)&shared[id] : (node *)&own[(i + me) % 4];
    list = push(list, n, i + 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(digits(list) == 4321 && digits(list->next->next) == 21);
  numbers[id] = 5 + id;
  scale(mine, 3, 2);
  scale(&numbers[id], 1, 3);
  scale(me % 2 ? (int *)mine : (int *)&numbers[id], 1, 10);
  scale(result, 1, -7);
  CHECK(mine[0] == (me % 2 ? 20 : 2) && mine[1] == 4 && mine[2] == 6 && *result == 7);
  CHECK(numbers[id] == (me % 2 ? 15 + 3 * id : 150 + 30 * id));
  mine[0] = me;
  numbers[id] = 4;
  int *most = larger(larger(mine, &numbers[id]), result);
  CHECK(*most == max(me, 7) && (me <= 7 || most == mine) && (me > 7 || most == result));
  *most = -1;
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(mine[0] == (me > 7 ? -1 : me) && *result == (me > 7 ? 7 : -1));
  DONE;
}
