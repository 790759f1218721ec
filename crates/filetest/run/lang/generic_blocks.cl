// Blocks: what they capture and when, their types, nested ones, and those of program scope.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct pair { short a; long b; } pair;
typedef int (^unary)(int);
typedef float (^binary)(float, float);

constant int seven = 7;
int (^times_seven)(int) = ^(int x) { return x * seven; };
constant binary larger = ^(float a, float b) { return a > b ? a : b; };

int through(int n) {
  const unary add = ^(int x) { return x + n; };
  n = 100;
  return add(1) + ^(int x) { return x * n; }(2);
}

global int *element(global int *p, int i) {
  global int *(^at)(int) = ^(int k) { return p + k; };
  return at(i);
}

// A copy for each block that is passed, also through another function.
int twice(int x, unary f);
int twice(int x, unary f) { return f(f(x)); }
int both(int x, unary f, int (^g)(int)) {
  int own = 1000;
  return twice(x, f) + g(own);
}

kernel void test(global int *out) {
  int me = get_global_id(0);
  int n = me + 3;
  unary plus = ^(int x) { return x + n; };
  CHECK(twice(1, plus) == 1 + 2 * n && twice(me, times_seven) == 49 * me);
  CHECK(both(2, plus, ^(int x) { return x - me; }) == 2 + 2 * n + 1000 - me);
  CHECK(both(2, ^(int x) { return -x; }, plus) == 2 + 1000 + n);
  unary times = ^(int x) { return x * n; };
  n = 50;
  CHECK(times(4) == 4 * (me + 3));
  CHECK(times_seven(me) == 7 * me && larger(1.5f, me) == (me > 1 ? me : 1.5f));
  CHECK(through(me) == me + 1 + 200);
  CHECK(element(out, me) == out + me);
  // Structures by value, arrays by reference.
  pair p = {(short)me, 1000};
  int list[3] = {1, 2, 3};
  long (^sum)(pair) = ^long(pair q) { return q.a + q.b + p.a + p.b + list[1]; };
  p.b = 5;
  list[1] = 20;
  pair q = {1, 2};
  CHECK(sum(q) == 1 + 2 + me + 1000 + 20);
  pair (^changed)(pair) = ^pair(pair r) { r.a++; return r; };
  CHECK(changed(q).a == 2 && q.a == 1);
  // Blocks in blocks capture what is around both.
  float4 v = (float4)(1, 2, 3, me);
  int (^outer)(int) = ^(int x) {
    int y = x + 1;
    int (^inner)(int) = ^(int z) { return z * y + (int)v.w + n; };
    y = 1000;
    return inner(2) + ^{ return y + me; }();
  };
  v.w = -1;
  n = 0;
  CHECK(outer(3) == 2 * 4 + me + 50 + 1000 + me);
  // In a loop, each evaluation captures anew.
  int total = 0;
  for (int i = 0; i < 4; i++) {
    int (^power)(void) = ^{ return i * i; };
    total += power();
  }
  CHECK(total == 14);
  // Divergent calls, loops and jumps inside.
  int (^steps)(uint) = ^(uint x) {
    int count = 0;
    while (x > 1) {
      x = x & 1 ? 3 * x + 1 : x / 2;
      if (++count > 100) goto end;
    }
  end:
    return count;
  };
  int expected = 0;
  for (uint x = me + 5; x > 1; expected++) x = x & 1 ? 3 * x + 1 : x / 2;
  CHECK(me & 1 ? steps(me + 5) == expected : true);
  int (*unused)[3] = &list;
  int *kept = *unused;
  void (^store)(int) = ^(int x) { kept[2] = x; };
  store(9 + me);
  CHECK(list[2] == 9 + me);
  bool flag = me > 2;
  bool (^negated)(void) = ^{ return (bool)!flag; };
  CHECK(negated() == !flag);
  void (^nothing)(void) = ^(){};
  nothing();
  ^{ }();
  // One that returns early, in a group with a barrier.
  local int shared[16];
  shared[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int (^exchange)(int) = ^(int x) {
    shared[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    int first = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return first;
  };
  CHECK(exchange(me) == me - (int)get_local_id(0));
  DONE;
}
