// Reservations that all sub-groups make at the same time, of packets of several types and sizes, in loops that sub-groups
// leave at different times. Each reservation has three packets, so that each one that is read is one that was written,
// whole and in its order, whatever runs meanwhile. Sub-groups have less and more work-items than that.
// arg: pipe 1 2000
// arg: again 1
// arg: pipe 8 2000
// arg: again 3
// arg: pipe 20 2000
// arg: again 5
// arg: pipe 64 2000
// arg: again 7
#define EACH 3

typedef struct { int tag; short index; uchar end[13]; } record;

uchar make_byte(uint tag, uint i) { return 3 * (tag % 80) + i; }
uint byte_tag(uchar x) { return x / 3; }
uint byte_index(uchar x) { return x % 3; }

short3 make_short(uint tag, uint i) { return (short3)(tag, i, ~tag); }
uint short_tag(short3 x) { return x.z == ~x.x ? x.x : ~0u; }
uint short_index(short3 x) { return x.y; }

record make_record(uint tag, uint i) {
  record x = {tag, i, {0}};
  x.end[12] = 5 * tag + i;
  return x;
}
uint record_tag(record x) { return x.end[12] == (uchar)(5 * x.tag + x.index) ? x.tag : ~0u; }
uint record_index(record x) { return x.index; }

ulong8 make_long(uint tag, uint i) { return ((ulong8)(0, 1, 2, 3, 4, 5, 6, 7) << 40) + ((ulong)i << 20) + tag; }
uint long_tag(ulong8 x) { return x.s7 - x.s0 == 7ul << 40 ? x.s0 & 0xfffff : ~0u; }
uint long_index(ulong8 x) { return x.s0 >> 20; }

// What comes out of each pipe: how often, by tag. (Bytes have no room for tags that are different in all.)
global atomic_uint seen[3][1000];

#define WRITE(T, pipe, name) \
  for (uint round = 0; round < rounds; round++) { \
    reserve_id_t own = sub_group_reserve_write_pipe(pipe, EACH); \
    if (!is_valid_reserve_id(own)) { bad = __LINE__; continue; } \
    for (uint i = lane; i < EACH; i += lanes) { \
      T x = make_##name(first + round, i); \
      if (write_pipe(pipe, own, i, &x)) bad = __LINE__; \
    } \
    if (write_pipe(pipe, own, EACH + lane, &(T){0}) == 0) bad = __LINE__; \
    sub_group_commit_write_pipe(pipe, own); \
  }

// The tag is that of all three.
#define READ(T, pipe, name, mark) \
  for (uint round = 0; round < rounds; round++) { \
    reserve_id_t own = sub_group_reserve_read_pipe(pipe, EACH); \
    if (!is_valid_reserve_id(own)) { if (is_alone) bad = __LINE__; continue; } \
    uint tag = ~0u; \
    for (uint i = lane; i < EACH; i += lanes) { \
      T x = {0}; \
      if (read_pipe(pipe, own, i, &x) || name##_index(x) != i) bad = __LINE__; \
      if (i >= lanes && name##_tag(x) != tag) bad = __LINE__; \
      tag = name##_tag(x); \
    } \
    sub_group_commit_read_pipe(pipe, own); \
    if (lane < EACH && tag != sub_group_broadcast(tag, 0)) bad = __LINE__; \
    if (lane == 0) mark; \
  }

#define MARK(n) if (tag >= 1000 || atomic_fetch_add(&seen[n][tag], 1u) != 0) bad = __LINE__

// A group that is alone has read all.
#define END(pipe) \
  if (is_alone && (get_pipe_num_packets(pipe) != 0 || is_valid_reserve_id(sub_group_reserve_read_pipe(pipe, 1)))) \
    bad = __LINE__

kernel void test(global int *out, write_only pipe uchar bw, read_only pipe uchar br, write_only pipe short3 sw,
                 read_only pipe short3 sr, write_only pipe record rw, read_only pipe record rr,
                 write_only pipe ulong8 lw, read_only pipe ulong8 lr) {
  const uint lane = get_sub_group_local_id(), lanes = get_sub_group_size();
  const uint n = get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2);
  const uint group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  const bool is_alone = get_num_groups(0) * get_num_groups(1) * get_num_groups(2) == 1;
  const uint first = 3 * (group * n + get_sub_group_id());
  const uint rounds = 1 + get_sub_group_id() % 3;
  // The functions below wait for all: what fails is reported at the end.
  int bad = 0;

  WRITE(uchar, bw, byte)
  WRITE(short3, sw, short)
  barrier(CLK_GLOBAL_MEM_FENCE);
  READ(uchar, br, byte, (void)0)
  READ(short3, sr, short, MARK(0))
  WRITE(record, rw, record)
  WRITE(ulong8, lw, long)
  barrier(CLK_GLOBAL_MEM_FENCE);
  READ(record, rr, record, MARK(1))
  READ(ulong8, lr, long, MARK(2))
  barrier(CLK_GLOBAL_MEM_FENCE);
  END(br);
  END(sr);
  END(rr);
  END(lr);
  out[get_global_linear_id()] = bad;
}
