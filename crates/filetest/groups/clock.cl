// Clocks: they never run backwards within a work-item, nor from before a barrier to after it; they stand still for no
// long loop, and each read is one of its own.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)

static ulong both(uint2 halves)
{
  return (ulong)halves.hi << 32 | halves.lo;
}

kernel void test(global int *out) {
  local ulong first[128];
  int bad = 0;
  size_t me = get_local_id(0), n = get_local_size(0);
  ulong begin = clock_read_device();
  ulong group = clock_read_work_group(), sub = clock_read_sub_group();
  CHECK((long)(group - begin) >= 0 && (long)(sub - group) >= 0);
  first[me] = begin;
  // As many rounds as the work-item's number says, so that work-items leave at different times; without effects but
  // that of the clock.
  ulong last = begin;
  for (size_t i = 0; i < 20 + me * 3; i++) {
    ulong now = clock_read_device();
    CHECK((long)(now - last) >= 0);
    last = now;
  }
  CHECK(last != begin);
  if (me & 1)
    last = clock_read_sub_group();
  barrier(CLK_LOCAL_MEM_FENCE);
  ulong after = both(clock_read_hilo_device());
  CHECK((long)(after - last) >= 0);
  for (size_t i = 0; i < n; i++)
    CHECK((long)(after - first[i]) >= 0);
  ulong word = clock_read_work_group();
  CHECK((long)(word - after) >= 0 && word - begin < (1ul << 40));
  CHECK((long)(both(clock_read_hilo_work_group()) - word) >= 0);
  CHECK((long)(both(clock_read_hilo_sub_group()) - word) >= 0);
  out[get_global_id(0)] = bad;
}
