// Votes, reductions, scans and shuffles by the active work-items of a sub-group: in branches, in loops that they leave
// one after the other, after these; and reductions of clusters.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)
#define HASH(i) (((uint)(i) * 2654435761u) >> 7 ^ (uint)(i) * 40503u)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LOWER(a, b) ((b) < (a) ? (b) : (a))
#define HIGHER(a, b) ((b) > (a) ? (b) : (a))
#define BOTH(a, b) ((a) & (b))
#define EITHER(a, b) ((a) | (b))
#define ONLY(a, b) ((a) ^ (b))

int part(int i) { return HASH(i + 5) % 3; }

// Over those of the same part as this work-item.
#define OVER(T, name, OP, NONE, SAME)                                              \
  {                                                                                \
    T all = (T)(NONE), before = (T)(NONE), upto;                                   \
    int any = 0, any_before = 0;                                                   \
    for (int i = 0; i < size; i++) {                                               \
      if (!(SAME)) continue;                                                       \
      T y = v[first + i];                                                          \
      all = any++ ? (T)OP(all, y) : y;                                             \
      if (i < own) before = any_before++ ? (T)OP(before, y) : y;                   \
    }                                                                              \
    upto = any_before ? (T)OP(before, x) : x;                                      \
    CHECK(sub_group_non_uniform_reduce_##name(x) == all);                          \
    CHECK(sub_group_non_uniform_scan_inclusive_##name(x) == upto);                 \
    CHECK(sub_group_non_uniform_scan_exclusive_##name(x) == before);               \
  }

#define CLUSTER(T, name, OP, n)                                                    \
  if (n <= most) {                                                                 \
    int begin = own & ~(n - 1), end = min(begin + n, size);                        \
    T all = v[first + begin];                                                      \
    for (int i = begin + 1; i < end; i++) all = (T)OP(all, v[first + i]);          \
    CHECK(sub_group_clustered_reduce_##name(x, n) == all);                         \
  }

#define NUMBERS(T, LEAST, MOST, SAME)                                              \
  OVER(T, add, ADD, 0, SAME)                                                       \
  OVER(T, mul, MUL, 1, SAME)                                                       \
  OVER(T, min, LOWER, MOST, SAME)                                                  \
  OVER(T, max, HIGHER, LEAST, SAME)

#define BITS(T, SAME)                                                              \
  OVER(T, and, BOTH, ~0, SAME)                                                     \
  OVER(T, or, EITHER, 0, SAME)                                                     \
  OVER(T, xor, ONLY, 0, SAME)

#define BEGIN(T, VALUE)                                                            \
  local T *v = (local T *)memory;                                                  \
  T x = (T)(VALUE);                                                                \
  barrier(CLK_LOCAL_MEM_FENCE);                                                    \
  v[me] = x;                                                                       \
  barrier(CLK_LOCAL_MEM_FENCE);

#define INTS(T, LEAST, MOST)                                                       \
  {                                                                                \
    BEGIN(T, HASH(me + 3))                                                         \
    if (part(me) == 1) {                                                           \
      NUMBERS(T, LEAST, MOST, part(first + i) == 1)                                \
      BITS(T, part(first + i) == 1)                                                \
    } else {                                                                       \
      BITS(T, part(first + i) != 1)                                                \
    }                                                                              \
    CLUSTER(T, add, ADD, 1)                                                        \
    CLUSTER(T, max, HIGHER, 2)                                                     \
    CLUSTER(T, mul, MUL, 4)                                                        \
    CLUSTER(T, xor, ONLY, 4)                                                       \
    CLUSTER(T, and, BOTH, 8)                                                       \
    CLUSTER(T, min, LOWER, 16)                                                     \
    CLUSTER(T, or, EITHER, 64)                                                     \
  }

// Powers of two, so that products and sums are exact.
#define FLOATS(T)                                                                  \
  {                                                                                \
    BEGIN(T, HASH(me) & 1 ? 2 : 1)                                                 \
    if (part(me) != 2) { NUMBERS(T, -INFINITY, INFINITY, part(first + i) != 2) }   \
    CLUSTER(T, add, ADD, 2)                                                        \
    CLUSTER(T, mul, MUL, 8)                                                        \
    CLUSTER(T, min, LOWER, 4)                                                      \
    CLUSTER(T, max, HIGHER, 16)                                                    \
  }

#define TRUTH_AND(a, b) ((a) && (b))
#define TRUTH_OR(a, b) ((a) || (b))
#define TRUTH_XOR(a, b) (!(a) != !(b))

kernel void test(global int *out) {
  local ulong memory[128];
  int bad = 0, me = get_local_linear_id();
  int own = get_sub_group_local_id(), size = get_sub_group_size(), most = get_max_sub_group_size();
  int first = me - own;
  INTS(char, CHAR_MIN, CHAR_MAX)
  INTS(ushort, 0, USHRT_MAX)
  INTS(int, INT_MIN, INT_MAX)
  INTS(ulong, 0, ULONG_MAX)
  FLOATS(float)
  FLOATS(double)
  FLOATS(half)
  {
    BEGIN(int, HASH(me + 9) & 1)
    if (part(me)) {
      OVER(int, logical_and, TRUTH_AND, 1, part(first + i))
      OVER(int, logical_or, TRUTH_OR, 0, part(first + i))
      OVER(int, logical_xor, TRUTH_XOR, 0, part(first + i))
      // Any number but zero is true.
      CHECK(sub_group_non_uniform_reduce_logical_and(x << 4) == sub_group_non_uniform_reduce_logical_and(x));
    }
    CLUSTER(int, logical_and, TRUTH_AND, 2)
    CLUSTER(int, logical_or, TRUTH_OR, 4)
    CLUSTER(int, logical_xor, TRUTH_XOR, 8)
  }

  // Votes of some.
  if (part(me) == 0) {
    CHECK(sub_group_non_uniform_all(part(me) == 0));
    CHECK(!sub_group_non_uniform_any(part(me)));
    CHECK(sub_group_non_uniform_all_equal(part(me)));
  }
  int same = 1;
  for (int i = 0; i < size; i++) same &= part(first + i) == part(first);
  CHECK(!sub_group_non_uniform_all_equal(part(me)) == !same);

  // Work-items leave the loop one after the other; each iteration has fewer active ones.
  int rounds = 0, sum = 0;
  do {
    int left = 0;
    for (int i = 0; i < size; i++) left += part(first + i) >= rounds;
    CHECK(sub_group_non_uniform_reduce_add(1) == left);
    sum += sub_group_non_uniform_reduce_max(own);
    if (rounds == 1) {
      // Deeper in.
      if (own & 1) {
        int odd = 0;
        for (int i = 1; i < size; i += 2) odd += part(first + i) >= rounds;
        CHECK(sub_group_non_uniform_scan_inclusive_add(1) <= odd);
        CHECK(sub_group_non_uniform_reduce_add(1) == odd);
      }
    }
  } while (rounds++ < part(me));
  CHECK(rounds == part(me) + 1);
  CHECK(sub_group_reduce_add(1) == size);

  // Each takes its own path; its result is used at the join.
  int got;
  switch (own % 3) {
  case 0: got = sub_group_non_uniform_reduce_add(1); break;
  case 1: got = sub_group_non_uniform_reduce_min(own) * 100; break;
  default: got = sub_group_non_uniform_scan_exclusive_add(10);
  }
  CHECK(got == (own % 3 == 0 ? (size + 2) / 3 : own % 3 == 1 ? 100 : own / 3 * 10));
  // Values of the active ones, by number.
  if (part(me) != 1) {
    int next = own;
    do next = (next + 1) % size; while (part(first + next) == 1);
    CHECK(sub_group_shuffle(me * 3, next) == (first + next) * 3);
  }
  // An early end of some.
  out[get_global_linear_id()] = bad;
  if (part(me) == 2) return;
  int rest = 0;
  for (int i = 0; i < size; i++) rest += part(first + i) != 2;
  CHECK(sub_group_non_uniform_reduce_add(1) == rest);
  out[get_global_linear_id()] = bad;
}
