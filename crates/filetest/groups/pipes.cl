// Reservations that a work-group or a sub-group makes together, in control flow that is the same for it.
// arg: pipe 4 1024
// arg: again 1
kernel void test(global int *out, write_only pipe int w, read_only pipe int r) {
  const size_t at = get_global_linear_id();
  const uint id = get_local_linear_id();
  const uint n = get_local_size(0) * get_local_size(1) * get_local_size(2);
  const uint groups = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
  // The functions below wait for all: what fails is reported at the end.
  int bad = 0;

  // Packets of a group lie side by side, whatever other groups do.
  local reserve_id_t shared;
  shared = work_group_reserve_write_pipe(w, n);
  if (is_valid_reserve_id(shared)) {
    int x = (int)id;
    if (write_pipe(w, shared, n - 1 - id, &x)) bad = __LINE__;
    work_group_commit_write_pipe(w, shared);
  } else {
    bad = __LINE__;
  }
  reserve_id_t mine = work_group_reserve_read_pipe(r, n);
  if (is_valid_reserve_id(mine)) {
    int x = -1;
    if (read_pipe(r, mine, id, &x) || x < 0) bad = __LINE__;
    if (groups == 1 && x != (int)(n - 1 - id)) bad = __LINE__;
    work_group_commit_read_pipe(r, mine);
  } else if (groups == 1) {
    bad = __LINE__;
  }
  if (is_valid_reserve_id(work_group_reserve_read_pipe(r, 0))) bad = __LINE__;

  // Each second sub-group.
  const uint lane = get_sub_group_local_id(), lanes = get_sub_group_size();
  if (get_sub_group_id() % 2 == 0) {
    reserve_id_t own = sub_group_reserve_write_pipe(w, lanes);
    if (is_valid_reserve_id(own)) {
      int x = 5000 + (int)lane;
      if (write_pipe(w, own, lane, &x)) bad = __LINE__;
      sub_group_commit_write_pipe(w, own);
    } else {
      bad = __LINE__;
    }
    own = sub_group_reserve_read_pipe(r, lanes);
    if (is_valid_reserve_id(own)) {
      int x = -1;
      if (read_pipe(r, own, lane, &x)) bad = __LINE__;
      if (groups == 1 && get_num_sub_groups() == 1 && x != 5000 + (int)lane) bad = __LINE__;
      sub_group_commit_read_pipe(r, own);
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (groups == 1 && get_pipe_num_packets(r) != 0) bad = __LINE__;
  out[at] = bad;
}
