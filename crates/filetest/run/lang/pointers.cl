// Pointers and arrays: arithmetic, comparison, multi-dimensional arrays, pointers to pointers, structures through
// pointers.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct node { int value; int next; } node;
void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
int sum(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
void fill(int (*m)[3], int rows) { for (int i = 0; i < rows; i++) for (int j = 0; j < 3; j++) m[i][j] = i * 3 + j; }
node step(node n) { n.value *= 2; n.next++; return n; }
kernel void test(global int *out) {
  int a[5] = {1, 2, 3};
  CHECK(a[3] == 0 && a[4] == 0 && sum(a, 5) == 6);
  int *p = a + 1, *q = &a[4];
  CHECK(q - p == 3 && p < q && *(p + 1) == 3 && p[-1] == 1 && 2[a] == 3);
  swap(&a[0], p);
  CHECK(a[0] == 2 && a[1] == 1);
  int m[2][3];
  fill(m, 2);
  CHECK(m[1][2] == 5 && *(*(m + 1) + 1) == 4 && sizeof m == 24 && sizeof m[0] == 12);
  int *rows[2] = {m[0], m[1]};
  int **pp = rows;
  pp++;
  CHECK((*pp)[0] == 3 && pp[-1][2] == 2);
  node list[3] = {{10, 1}, {20, 2}, {.next = -1, .value = 30}};
  int s = 0;
  for (int i = 0; i != -1; i = list[i].next) s += list[i].value;
  CHECK(s == 60);
  node *h = list;
  (h + 1)->value = 5;
  h++->value = 6;
  CHECK(list[0].value == 6 && h->value == 5);
  node r = step(list[2]);
  CHECK(r.value == 60 && r.next == 0 && list[2].value == 30);
  CHECK(step(step(list[1])).value == 20);
  node t = (node){7, 8};
  CHECK(t.value == 7 && (&(node){1, 2})->next == 2);
  int d[3][2] = {{1}, [2] = {[1] = 9}};
  CHECK(d[0][0] == 1 && d[0][1] == 0 && d[1][0] == 0 && d[2][1] == 9);
  int flat[2][2] = {1, 2, 3, 4};
  CHECK(flat[1][0] == 3);
  char c[] = {65, 66};
  CHECK(sizeof c == 2);
  int x = 0x01020304;
  uchar *bytes = (uchar *)&x;
  CHECK(bytes[0] == 4 && bytes[3] == 1);
  bytes[1] = 0xff;
  CHECK(x == 0x0102ff04);
  float4 v = (float4)(1, 2, 3, 4);
  float *pf = (float *)&v;
  pf[2] = 30;
  CHECK(v.z == 30 && pf[3] == 4);
  void *any = &x;
  CHECK(*(int *)any == x && any != 0);
  int *null = 0;
  CHECK(!null && null == NULL);
  const int *pc = a;
  int *const cp = a;
  *cp = 3;
  CHECK(*pc == 3);
  DONE;
}
