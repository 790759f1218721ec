// Work-item functions, variable and out-of-range dimensions.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  CHECK(get_work_dim() == 1);
  CHECK(get_global_size(0) >= 1 && get_global_size(1) == 1 && get_global_size(5) == 1);
  CHECK(get_global_id(1) == 0 && get_global_id(7) == 0 && get_local_id(3) == 0 && get_group_id(9) == 0);
  CHECK(get_local_size(4) == 1 && get_num_groups(3) == 1 && get_global_offset(0) == 0 && get_global_offset(3) == 0);
  // The last group may be smaller than the others.
  size_t full = (get_global_size(0) + get_num_groups(0) - 1) / get_num_groups(0);
  CHECK(get_global_id(0) == get_group_id(0) * full + get_local_id(0) && get_local_size(0) <= full);
  size_t product = 1;
  for (uint d = 0; d < 4; d++) product *= get_local_size(d);
  CHECK(product == get_local_size(0));
  volatile uint dim = 0;
  CHECK(get_global_id(dim) == get_global_id(0) && get_local_id(dim) == get_local_id(0));
  dim = 1000;
  CHECK(get_global_id(dim) == 0 && get_num_groups(dim) == 1);
  CHECK(sizeof(get_global_id(0)) == 8 && sizeof(get_work_dim()) == 4);
  DONE;
}
