// C11 atomics through generic pointers, in each address space.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int bump(volatile atomic_int *p, int by) {
  return atomic_fetch_add_explicit(p, by, memory_order_relaxed, memory_scope_work_group);
}

bool take(atomic_int *p, int *expected, int wanted) {
  return atomic_compare_exchange_strong(p, expected, wanted);
}

kernel void test(global int *out) {
  local atomic_int shared, count;
  atomic_int own;
  int id = get_local_id(0), n = get_local_size(0);
  if (id == 0) {
    atomic_init(&shared, 0);
    atomic_init(&count, 0);
  }
  atomic_init(&own, 3);
  barrier(CLK_LOCAL_MEM_FENCE);
  bump(&shared, 2);
  bump(id % 2 ? (atomic_int *)&own : (atomic_int *)&count, 1);
  CHECK(bump((global atomic_int *)out + get_global_id(0), 5) == -1);
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(atomic_load(&shared) == 2 * n && atomic_load(&count) == (n + 1) / 2 && atomic_load(&own) == 3 + id % 2);
  int seen = 9;
  CHECK(!take(&own, &seen, 7) && seen == 3 + id % 2);
  CHECK(take(&own, &seen, 7) && atomic_load(&own) == 7);
  local int winner[16];
  winner[id] = 7;
  CHECK(take(&own, (int *)&winner[id], 8) && atomic_exchange(&own, 1) == 8);
  DONE;
}
