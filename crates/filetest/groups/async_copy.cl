// Copies of lines and planes between global and local memory: elements of one to sixteen bytes, lines longer and shorter
// than the group, offsets, gaps between lines and planes that stay as they were; and copies in an order that a fence
// keeps.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)

#define VALUE(i) ((uchar)((i) * 37 + 11))

// What a copy leaves in the byte of the target: that of the source, or what was there (0xee).
static uchar expected(size_t i, size_t from, size_t to, size_t size, size_t line, size_t lines, size_t planes,
                      size_t from_line, size_t from_plane, size_t to_line, size_t to_plane)
{
  for (size_t p = 0; p < planes; p++)
    for (size_t l = 0; l < lines; l++) {
      size_t begin = (to + p * to_plane + l * to_line) * size;
      if (i >= begin && i < begin + line * size)
        return VALUE((from + p * from_plane + l * from_line) * size + (i - begin));
    }
  return 0xee;
}

// Through `there`, which is filled with numbers, to `here`, which is cleared, and back.
#define COPY(size, line, lines, planes, from, to, from_line, from_plane, to_line, to_plane)                      \
  {                                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                         \
    for (size_t i = me; i < BYTES; i += n) { there[i] = VALUE(i); here[i] = 0xee; }                              \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                         \
    event_t e = planes == 1                                                                                      \
      ? async_work_group_copy_2D2D(here, to, there, from, size, line, lines, from_line, to_line, 0)              \
      : async_work_group_copy_3D3D(here, to, there, from, size, line, lines, planes, from_line, from_plane,      \
                                   to_line, to_plane, 0);                                                        \
    wait_group_events(1, &e);                                                                                    \
    for (size_t i = me; i < BYTES; i += n)                                                                       \
      CHECK(here[i] == expected(i, from, to, size, line, lines, planes, from_line, from_plane, to_line, to_plane)); \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                         \
    for (size_t i = me; i < BYTES; i += n) { here[i] = VALUE(i); there[i] = 0xee; }                              \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                         \
    e = async_work_group_copy_3D3D((global uint *)there, to, (const local float *)here, from, size, line, lines, \
                                   planes, from_line, from_plane, to_line, to_plane, 0);                         \
    wait_group_events(1, &e);                                                                                    \
    for (size_t i = me; i < BYTES; i += n)                                                                       \
      CHECK(there[i] == expected(i, from, to, size, line, lines, planes, from_line, from_plane, to_line, to_plane)); \
  }

// Global memory of a group: its part of the result, which every work-item writes in the end.
kernel void test(global int *out) {
  local uint words[128];
  local uchar *here = (local uchar *)words;
  size_t n = get_local_size(0), me = get_local_id(0);
  size_t first = get_group_id(0) * get_enqueued_local_size(0);
  global uchar *there = (global uchar *)(out + first);
  int bad = 0;
  const size_t BYTES = n * 4;
  COPY(1, BYTES, 1, 1, 0, 0, BYTES, 0, BYTES, 0)
  COPY(4, n, 1, 1, 0, 0, n, 0, n, 0)
  COPY(1, 1, n, 1, 0, 1, 2, 0, 3, 0)
  COPY(1, 2, n / 2, 1, 1, 0, 3, 0, 5, 0)
  COPY(3, 1, n / 2, 1, 0, 0, 1, 0, 2, 0)
  COPY(4, 1, n / 2, 1, 1, 0, 1, 0, 2, 0)
  COPY(1, 1, 2, n / 4, 0, 2, 1, 3, 2, 5)
  COPY(2, n / 4, 1, 2, 1, 0, n / 4, n / 4, n / 2, n / 2)
  COPY(4, 1, 2, n / 4, 0, 0, 1, 2, 2, 4)
  barrier(CLK_LOCAL_MEM_FENCE);
  // Out, and only then in again from another place.
  words[me] = (uint)me + 3;
  out[first + me] = -1;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  event_t e = async_work_group_copy((global uint *)out + first, words, n, 0);
  async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  e = async_work_group_strided_copy(words, (const global uint *)out + first, (n + 1) / 2, 2, e);
  wait_group_events(1, &e);
  CHECK(words[me] == (me < (n + 1) / 2 ? 2 * me + 3 : me + 3));
  barrier(CLK_LOCAL_MEM_FENCE);
  out[first + me] = bad;
}
