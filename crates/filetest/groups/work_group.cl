// Work-group functions, compared with a loop over local memory: reductions, scans, broadcasts, votes; several in a row,
// in loops and in branches that the whole group takes.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)
#define HASH(i) (((uint)(i) * 2654435761u) >> 7 ^ (uint)(i) * 40503u)

#define LINEAR get_local_linear_id()
#define COUNT (get_local_size(0) * get_local_size(1) * get_local_size(2))

#define ADD(a, b) ((a) + (b))
#define LOWER(a, b) ((b) < (a) ? (b) : (a))
#define HIGHER(a, b) ((b) > (a) ? (b) : (a))

#define ONE(T, name, OP, NONE)                                                     \
  {                                                                                \
    T all = v[0], before = NONE, upto;                                             \
    for (int i = 1; i < n; i++) all = OP(all, v[i]);                               \
    for (int i = 0; i < me; i++) before = i ? OP(before, v[i]) : v[i];             \
    upto = me ? OP(before, x) : x;                                                 \
    CHECK(work_group_reduce_##name(x) == all);                                     \
    CHECK(work_group_scan_inclusive_##name(x) == upto);                            \
    CHECK(work_group_scan_exclusive_##name(x) == before);                          \
  }

// Small whole numbers, so that sums of floats are exact in any order.
#define TYPE(T, RANGE, LEAST, MOST)                                                \
  {                                                                                \
    local T *v = (local T *)memory;                                                \
    T x = (T)(HASH(get_global_id(0) + 3 * get_global_id(1)) % RANGE) - (T)(RANGE * 3 / 10); \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
    v[me] = x;                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
    ONE(T, add, ADD, 0)                                                            \
    ONE(T, min, LOWER, MOST)                                                       \
    ONE(T, max, HIGHER, LEAST)                                                     \
    for (int i = 0; i < 3; i++) {                                                  \
      size_t a = (i * 7 + 1) % get_local_size(0), b = (i * 5) % get_local_size(1); \
      size_t c = i % get_local_size(2);                                            \
      if (get_work_dim() == 1) CHECK(work_group_broadcast(x, a) == v[a]);          \
      if (get_work_dim() == 2)                                                     \
        CHECK(work_group_broadcast(x, a, b) == v[b * get_local_size(0) + a]);      \
      if (get_work_dim() == 3)                                                     \
        CHECK(work_group_broadcast(x, a, b, c) ==                                  \
              v[(c * get_local_size(1) + b) * get_local_size(0) + a]);             \
    }                                                                              \
  }

kernel void test(global int *out) {
  local ulong memory[128];
  int bad = 0, me = LINEAR, n = COUNT;
  TYPE(int, 1000, INT_MIN, INT_MAX)
  TYPE(uint, 1000, 0, UINT_MAX)
  TYPE(long, 1000, LONG_MIN, LONG_MAX)
  TYPE(ulong, 1000, 0, ULONG_MAX)
  TYPE(float, 1000, -INFINITY, INFINITY)
  TYPE(double, 1000, -INFINITY, INFINITY)
  TYPE(half, 20, -INFINITY, INFINITY)
  CHECK(work_group_all(1));
  CHECK(work_group_all(n));
  CHECK(!work_group_all(me != n - 1));
  CHECK(work_group_any(me == n - 1));
  CHECK(!work_group_any(0));
  CHECK(work_group_any(me == 0 ? -8 : 0));

  // As the end of a loop: in each iteration one work-item more votes for the end.
  int rounds = 0;
  while (work_group_any(rounds < me)) {
    CHECK(work_group_reduce_max(rounds) == rounds);
    rounds++;
  }
  CHECK(rounds == n - 1);
  // Types alternate, without another barrier between them.
  for (int i = 0; i < 4; i++) {
    long wide = work_group_scan_inclusive_add((long)(me + i));
    int narrow = work_group_scan_inclusive_add(me + i);
    CHECK(wide == narrow);
    CHECK(work_group_broadcast((float)me, 0, 0, 0) == 0.0f);
    CHECK(work_group_reduce_add(1) == n);
    if (work_group_reduce_max(me) == n - 1)
      CHECK(work_group_scan_exclusive_add(2u) == 2u * me);
  }
  out[get_global_linear_id()] = bad;
}
