// All work-items of a vector use a pipe at the same time, in divergent code: each packet is written once and read once.
// (Others want -cl-std=CL3.0.)
// arg: pipe 4 500
// arg: again 1
// arg: pipe 8 4
// arg: again 3
#define CHECK(c) do { if (!(c)) { out[get_global_linear_id()] = __LINE__; return; } } while (0)
#define DONE out[get_global_linear_id()] = 0

global atomic_uint seen[500];

kernel void test(global int *out, write_only pipe uint w, read_only pipe uint r, write_only pipe ulong few_w,
                 read_only pipe ulong few_r) {
  const uint id = get_global_linear_id(), n = get_global_size(0) * get_global_size(1) * get_global_size(2);

  // There is room for all. Where no other group runs at the same time, there is a packet for each, too.
  if (id % 3 == 1) {
    reserve_id_t two = reserve_write_pipe(w, 2);
    CHECK(is_valid_reserve_id(two));
    uint x[2] = {2 * id, 2 * id + 1};
    for (uint i = 0; i < 2; i++) CHECK(write_pipe(w, two, 1 - i, &x[i]) == 0);
    commit_write_pipe(w, two);
  } else {
    for (uint i = 0; i < 2; i++) {
      uint x = 2 * id + i;
      CHECK(write_pipe(w, &x) == 0);
    }
  }
  uint got = 0;
  for (int tries = 0; tries < 4 && got < 2; tries++) {
    uint x;
    if (read_pipe(r, &x)) continue;
    CHECK(x < 2 * n && atomic_fetch_add(&seen[x], 1u) == 0);
    got++;
  }
  CHECK(got == 2 || get_num_groups(0) * get_num_groups(1) * get_num_groups(2) > 1);

  // A pipe that is too small for all: some fail, and what was written can be read.
  ulong y = ~(ulong)id, z = 0;
  int wrote = write_pipe(few_w, &y);
  CHECK(wrote <= 0 && get_pipe_num_packets(few_r) <= 4);
  if (wrote == 0 && read_pipe(few_r, &z) == 0) CHECK(~z < n);
  DONE;
}
