// Copies by the group between global and local memory, plain and strided, of scalars and vectors.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  local int t[16];
  local char4 wide[16];
  local int2 p[4];
  size_t i = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * get_enqueued_local_size(0);
  out[first + i] = (int)i + 5;
  barrier(CLK_GLOBAL_MEM_FENCE);
  event_t e = async_work_group_copy(t, out + first, n, 0);
  wait_group_events(1, &e);
  CHECK(t[n - 1] == (int)n + 4 && t[i] == (int)i + 5);
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_strided_copy(t, out + first, (n + 1) / 2, 2, (event_t)0);
  wait_group_events(1, &e);
  CHECK(t[i / 2] == (int)(i / 2 * 2) + 5);
  barrier(CLK_LOCAL_MEM_FENCE);
  t[i] = -(int)i;
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_copy(out + first, (const local int *)t, n, 0);
  wait_group_events(1, &e);
  CHECK(out[first + i] == -(int)i);
  prefetch(out, 1);
  // A vector of three components is four wide in memory: its padding is copied, too.
  wide[i] = (char4)(4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4);
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_copy((global char3 *)(out + first), (const local char3 *)wide, n, 0);
  wait_group_events(1, &e);
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  wide[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_strided_copy((local char3 *)wide, (const global char3 *)(out + first), (n + 1) / 2, 2, 0);
  wait_group_events(1, &e);
  CHECK(wide[i / 2].x == (char)(8 * (i / 2) + 1) && wide[i / 2].w == (char)(8 * (i / 2) + 4));
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  DONE;
}
