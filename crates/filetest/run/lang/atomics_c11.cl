// C11 atomics: the functions with an order and a scope, and those without, on objects of each type. (Others want
// -cl-std=CL3.0.)
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { atomic_int count; int rest; } counter;

void add_to(local atomic_uint *sum, uint x) {
  atomic_fetch_add_explicit(sum, x, memory_order_relaxed, memory_scope_work_group);
}

kernel void test(global int *out) {
  local atomic_uint sum;
  local atomic_int most, least, bits, flips, masks;
  local atomic_ulong wide;
  local atomic_float real;
  local atomic_flag taken;
  local counter pair;
  local atomic_int winners;
  int id = get_local_id(0), n = get_local_size(0);
  if (id == 0) {
    atomic_init(&sum, 5u);
    atomic_init(&most, -100);
    atomic_init(&least, 100);
    atomic_init(&bits, 0);
    atomic_init(&flips, 0);
    atomic_init(&masks, -1);
    atomic_init(&wide, 1ul << 40);
    atomic_init(&real, 0.5f);
    atomic_flag_clear_explicit(&taken, memory_order_relaxed, memory_scope_work_group);
    atomic_store_explicit(&pair.count, 0, memory_order_release, memory_scope_work_group);
    pair.rest = 7;
    atomic_init(&winners, 0);
  }
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  add_to(&sum, id + 1);
  atomic_fetch_max_explicit(&most, id - 50, memory_order_acq_rel, memory_scope_work_group);
  atomic_fetch_min_explicit(&least, -id, memory_order_seq_cst, memory_scope_device);
  atomic_fetch_or_explicit(&bits, 1 << (id & 7), memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_xor_explicit(&flips, 3, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_and_explicit(&masks, ~(1 << (id & 7)), memory_order_acquire, memory_scope_work_group);
  atomic_fetch_sub_explicit(&wide, 1ul, memory_order_relaxed, memory_scope_all_devices);
  atomic_fetch_sub_explicit(&wide, 1ul, memory_order_seq_cst, memory_scope_all_svm_devices);
  atomic_fetch_add(&pair.count, 1);
  if (!atomic_flag_test_and_set_explicit(&taken, memory_order_acq_rel, memory_scope_work_group))
    atomic_fetch_add_explicit(&winners, 1, memory_order_relaxed, memory_scope_work_group);
  // A sum of floats by compare and exchange.
  float old = atomic_load_explicit(&real, memory_order_relaxed, memory_scope_work_group);
  while (!atomic_compare_exchange_weak_explicit(&real, &old, old + 1.0f, memory_order_relaxed, memory_order_relaxed,
                                                memory_scope_work_group)) {
  }
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  int low = n < 8 ? (1 << n) - 1 : 255;
  CHECK(atomic_load_explicit(&sum, memory_order_relaxed, memory_scope_work_group) == 5u + n * (n + 1) / 2);
  CHECK(atomic_load(&most) == n - 51);
  CHECK(atomic_load_explicit(&least, memory_order_acquire) == 1 - n);
  CHECK(atomic_load(&bits) == low);
  CHECK(atomic_load(&flips) == (n & 1 ? 3 : 0));
  CHECK(atomic_load(&masks) == ~low);
  CHECK(atomic_load(&wide) == (1ul << 40) - 2ul * n);
  CHECK(atomic_load(&real) == 0.5f + n);
  CHECK(atomic_load(&pair.count) == n && pair.rest == 7);
  CHECK(atomic_load(&winners) == 1);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  if (id == 0) {
    int expected = 12345;
    CHECK(!atomic_compare_exchange_strong(&most, &expected, 1));
    CHECK(expected == n - 51 && atomic_load(&most) == n - 51);
    CHECK(atomic_compare_exchange_strong_explicit(&most, &expected, 77, memory_order_acq_rel, memory_order_relaxed));
    CHECK(atomic_exchange_explicit(&most, -3, memory_order_release, memory_scope_work_group) == 77);
    CHECK(atomic_exchange(&most, 4) == -3);
    atomic_store(&most, 9);
    CHECK(atomic_load(&most) == 9);
    atomic_flag_clear(&taken);
    CHECK(!atomic_flag_test_and_set(&taken) && atomic_flag_test_and_set(&taken));
  }
  CHECK(sizeof(atomic_int) == 4 && sizeof(atomic_ulong) == 8 && sizeof(counter) == 8);
  DONE;
}
