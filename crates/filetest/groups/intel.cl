// cl_intel_subgroups: shuffles of scalars and vectors, of one value and of two, and blocks of memory.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)
#define HASH(i) (((uint)(i) * 2654435761u) >> 7 ^ (uint)(i) * 40503u)

// Room for the blocks of one group.
#define ROOM 1024
global ulong data[16 * ROOM];

#define SHUFFLES(T, SAME)                                                                    \
  {                                                                                          \
    local T *v = (local T *)memory, *w = v + 64;                                             \
    T x = (T)(HASH(me + 11) & 127), y = (T)(HASH(me + 77) & 127);                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
    v[me] = x, w[me] = y;                                                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
    uint any = HASH(me) % size;                                                              \
    CHECK(SAME(intel_sub_group_shuffle(x, any), v[first + any]));                            \
    CHECK(SAME(intel_sub_group_shuffle(x, 0), v[first]));                                    \
    for (uint k = 0; k <= most && k < 5; k++) {                                              \
      T r = intel_sub_group_shuffle_xor(x, k);                                               \
      if ((own ^ k) < size) CHECK(SAME(r, v[first + (own ^ k)]));                            \
      r = intel_sub_group_shuffle_down(x, y, k);                                             \
      if (own + k < most && own + k < size) CHECK(SAME(r, v[me + k]));                       \
      if (own + k >= most) CHECK(SAME(r, w[first + own + k - most]));                        \
      r = intel_sub_group_shuffle_up(y, x, k);                                               \
      if (own >= k) CHECK(SAME(r, v[me - k]));                                               \
      if (own < k && own + most - k < size) CHECK(SAME(r, w[first + own + most - k]));       \
    }                                                                                        \
  }

#define EQUAL(a, b) ((a) == (b))
#define ALL(a, b) (all((a) == (b)))

#define BLOCK(T, N, NAME, GET)                                                               \
  {                                                                                          \
    global T *p = (global T *)room;                                                          \
    for (uint k = 0; k < N; k++) p[own + k * most] = (T)HASH(own + 99 * k);                  \
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                 \
    GET r = intel_sub_group_block_read##NAME(p);                                             \
    for (uint k = 0; k < N; k++) CHECK(((T *)&r)[k] == (T)HASH(own + 99 * k));               \
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                 \
    intel_sub_group_block_write##NAME(p, r + (GET)3);                                        \
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                 \
    for (uint k = 0; k < N; k++) CHECK(p[own + k * most] == (T)(HASH(own + 99 * k) + 3));    \
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                 \
  }

kernel void test(global int *out) {
  local ulong memory[1024];
  int bad = 0;
  uint me = get_local_linear_id(), own = get_sub_group_local_id(), size = get_sub_group_size();
  uint most = get_max_sub_group_size(), first = me - own;
  uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);
  // The second half of the memory is for the second values.
  if (items <= 64) {
    SHUFFLES(char, EQUAL)
    SHUFFLES(ushort, EQUAL)
    SHUFFLES(int, EQUAL)
    SHUFFLES(ulong, EQUAL)
    SHUFFLES(float, EQUAL)
    SHUFFLES(double, EQUAL)
    SHUFFLES(half, EQUAL)
    SHUFFLES(uint2, ALL)
    SHUFFLES(float4, ALL)
    SHUFFLES(short8, ALL)
    SHUFFLES(uchar3, ALL)
  }
  size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  uint at = get_sub_group_id() * most * 8;
  if (at + 8 * most <= ROOM) {
    global ulong *room = data + group % 16 * ROOM + at;
    BLOCK(uint, 1, , uint)
    BLOCK(uint, 2, 2, uint2)
    BLOCK(uint, 4, _ui4, uint4)
    BLOCK(uint, 8, 8, uint8)
    BLOCK(uchar, 1, _uc, uchar)
    BLOCK(uchar, 16, _uc16, uchar16)
    BLOCK(ushort, 1, _us, ushort)
    BLOCK(ushort, 8, _us8, ushort8)
    BLOCK(ulong, 1, _ul, ulong)
    BLOCK(ulong, 4, _ul4, ulong4)
  }
  out[get_global_linear_id()] = bad;
}
