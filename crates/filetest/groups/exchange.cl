// Shuffles and rotations of types of every width, by constants and by numbers that differ between work-items.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)
#define HASH(i) (((uint)(i) * 2654435761u) >> 7 ^ (uint)(i) * 40503u)

#define TYPE(T, BITS)                                                              \
  {                                                                                \
    local T *v = (local T *)memory;                                                \
    T x = (T)(HASH(me + 11) & BITS);                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
    v[me] = x;                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                  \
    int any = HASH(me) % size;                                                     \
    CHECK(sub_group_shuffle(x, any) == v[first + any]);                            \
    CHECK(sub_group_shuffle(x, 0) == v[first]);                                    \
    CHECK(sub_group_shuffle(x, size - 1 - own) == v[first + size - 1 - own]);      \
    for (int k = 0; k < 5; k++) {                                                  \
      T r = sub_group_shuffle_xor(x, k);                                           \
      if ((own ^ k) < size) CHECK(r == v[first + (own ^ k)]);                      \
      r = sub_group_shuffle_up(x, k);                                              \
      if (own >= k) CHECK(r == v[me - k]);                                         \
      r = sub_group_shuffle_down(x, k);                                            \
      if (own + k < size) CHECK(r == v[me + k]);                                   \
      r = sub_group_rotate(x, k);                                                  \
      if ((own + k) % most < size) CHECK(r == v[first + (own + k) % most]);        \
      r = sub_group_rotate(x, -k);                                                 \
      if ((own + 8 * most - k) % most < size)                                      \
        CHECK(r == v[first + (own + 8 * most - k) % most]);                        \
    }                                                                              \
    T r = sub_group_shuffle_xor(x, 1);                                             \
    if ((own ^ 1) < size) CHECK(r == v[first + (own ^ 1)]);                        \
    r = sub_group_shuffle_down(x, 2);                                              \
    if (own + 2 < size) CHECK(r == v[me + 2]);                                     \
    r = sub_group_clustered_rotate(x, 1, 1);                                       \
    CHECK(r == x);                                                                 \
    if (most >= 4) {                                                               \
      r = sub_group_clustered_rotate(x, 3, 4);                                     \
      int from = (own & ~3) + ((own + 3) & 3);                                     \
      if (from < size) CHECK(r == v[first + from]);                                \
      r = sub_group_clustered_rotate(x, -1, 2);                                    \
      from = own ^ 1;                                                              \
      if (from < size) CHECK(r == v[first + from]);                                \
    }                                                                              \
  }

kernel void test(global int *out) {
  local ulong memory[128];
  int bad = 0, me = get_local_linear_id();
  int own = get_sub_group_local_id(), size = get_sub_group_size(), most = get_max_sub_group_size();
  int first = me - own;
  TYPE(char, ~0)
  TYPE(ushort, ~0)
  TYPE(int, ~0)
  TYPE(long, ~0)
  TYPE(float, ~0)
  TYPE(double, ~0)
  TYPE(half, 0x7ff)
  out[get_global_linear_id()] = bad;
}
