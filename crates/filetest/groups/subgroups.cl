// Sub-groups: which work-items form one, votes, broadcasts, reductions, scans, and exchange through local memory.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)
#define HASH(i) (((uint)(i) * 2654435761u) >> 7 ^ (uint)(i) * 40503u)
#define ADD(a, b) ((a) + (b))
#define LOWER(a, b) ((b) < (a) ? (b) : (a))
#define HIGHER(a, b) ((b) > (a) ? (b) : (a))

#define ONE(T, name, OP, NONE)                                                     \
  {                                                                                \
    T all = v[first], before = NONE, upto;                                         \
    for (int i = 1; i < size; i++) all = OP(all, v[first + i]);                    \
    for (int i = 0; i < own; i++) before = i ? OP(before, v[first + i]) : v[first];\
    upto = own ? OP(before, x) : x;                                                \
    CHECK(sub_group_reduce_##name(x) == all);                                      \
    CHECK(sub_group_scan_inclusive_##name(x) == upto);                             \
    CHECK(sub_group_scan_exclusive_##name(x) == before);                           \
  }

#define TYPE(T, RANGE, LEAST, MOST)                                                \
  {                                                                                \
    local T *v = (local T *)memory;                                                \
    T x = (T)((T)(HASH(get_global_id(0) + 3 * get_global_id(1)) % RANGE) - (T)(RANGE * 3 / 10)); \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
    v[me] = x;                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
    ONE(T, add, (T)ADD, 0)                                                         \
    ONE(T, min, LOWER, MOST)                                                       \
    ONE(T, max, HIGHER, LEAST)                                                     \
    for (int i = 0; i < size; i++)                                                 \
      CHECK(sub_group_broadcast(x, i) == v[first + i]);                            \
    T##3 three = sub_group_broadcast((T##3)(x, x + (T)1, x * (T)2), size - 1);     \
    T last = v[first + size - 1];                                                  \
    CHECK(three.x == last && three.y == (T)(last + (T)1) && three.z == (T)(last * (T)2)); \
  }

kernel void test(global int *out) {
  local ulong memory[128];
  int bad = 0, me = get_local_linear_id();
  int own = get_sub_group_local_id(), size = get_sub_group_size(), most = get_max_sub_group_size();
  int id = get_sub_group_id(), count = get_num_sub_groups(), first = me - own;
  int n = get_local_size(0) * get_local_size(1) * get_local_size(2);

  // Sub-groups are runs within rows, numbered along them, and all but the last of a row are full.
  CHECK(own >= 0 && own < size && size >= 1 && size <= most && most <= 64);
  CHECK(get_local_id(0) % most == own);
  int row = (get_local_size(0) + most - 1) / most;
  int full = get_local_id(0) / most + 1 < row || get_local_size(0) % most == 0;
  CHECK(size == (full ? most : get_local_size(0) % most));
  CHECK(count == row * get_local_size(1) * get_local_size(2));
  CHECK(id == (get_local_id(2) * get_local_size(1) + get_local_id(1)) * row + get_local_id(0) / most);
  int enqueued_row = (get_enqueued_local_size(0) + most - 1) / most;
  CHECK(get_enqueued_num_sub_groups() ==
        enqueued_row * get_enqueued_local_size(1) * get_enqueued_local_size(2));
  CHECK(sub_group_reduce_add(1) == size);
  CHECK(sub_group_reduce_min(me) == first && sub_group_reduce_max(me) == first + size - 1);
  CHECK(work_group_reduce_max(id) == count - 1);
  CHECK(work_group_reduce_add(own == 0) == count);

  TYPE(char, 1000, CHAR_MIN, CHAR_MAX)
  TYPE(ushort, 1000, 0, USHRT_MAX)
  TYPE(int, 1000, INT_MIN, INT_MAX)
  TYPE(ulong, 1000, 0, ULONG_MAX)
  TYPE(float, 1000, -INFINITY, INFINITY)
  TYPE(double, 1000, -INFINITY, INFINITY)
  TYPE(half, 20, -INFINITY, INFINITY)

  CHECK(sub_group_all(1) && sub_group_all(me - 1000) && !sub_group_all(own != size - 1));
  CHECK(!sub_group_any(0) && sub_group_any(own == 0) && sub_group_any(own == size - 1));

  // Neighbours exchange values through memory; a barrier of the sub-group is enough.
  barrier(CLK_LOCAL_MEM_FENCE);
  local int *t = (local int *)memory;
  for (int i = 0; i < 3; i++) {
    t[me] = HASH(me + i);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    int other = first + (own + 1) % size;
    CHECK(t[other] == (int)HASH(other + i));
    sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);
  }
  // A loop that the sub-group leaves together, and a branch that it takes together; others may not.
  int rounds = 0, sum = 0;
  while (sub_group_any(rounds < me)) {
    sum += sub_group_broadcast(me, rounds % size);
    rounds++;
  }
  CHECK(rounds == first + size - 1);
  if (id % 2) {
    CHECK(sub_group_scan_inclusive_add(1) == own + 1);
    sum = sub_group_reduce_add(1);
  } else {
    sum = sub_group_reduce_add(2);
  }
  CHECK(sum == size * (id % 2 ? 1 : 2));
  // Across a barrier of the group.
  int kept = sub_group_reduce_add(me);
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(kept == sub_group_reduce_add(me) && own == get_sub_group_local_id() && id == get_sub_group_id());
  CHECK(sub_group_reduce_add(n) == n * size);
  out[get_global_linear_id()] = bad;
}
