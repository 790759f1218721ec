// Pipes: types, access qualifiers, reservations, packets, and what they are not for.
typedef struct { int a; float4 b; } item;
typedef pipe item items;
kernel void right(read_only pipe int in, write_only pipe item made, pipe int plain, const write_only items typed,
                  global int *out, global item *from) {
  reserve_id_t id = reserve_read_pipe(in, 4), none = CLK_NULL_RESERVE_ID, ids[2];
  if (is_valid_reserve_id(id)) {
    for (uint i = 0; i < 4; i++) read_pipe(in, id, i, &out[i]);
    commit_read_pipe(in, id);
  }
  ids[0] = work_group_reserve_write_pipe(made, get_local_size(0));
  work_group_commit_write_pipe(made, ids[0]);
  none = sub_group_reserve_write_pipe(typed, 1);
  sub_group_commit_write_pipe(typed, none);
  write_pipe(made, from);
  *out = read_pipe(plain, out) + get_pipe_num_packets(made) + get_pipe_max_packets(in);
}
void callee(write_only pipe int p);
kernel void types(read_write pipe int both, pipe pipe int nested, pipe image2d_t pictures, pipe void nothing,
                  pipe reserve_id_t ids, pipe int *pointer, pipe int several[2], reserve_id_t id,
                  struct { reserve_id_t id; } held, write_only int no_pipe, pipe unknown_t missing,
                  pipe event_t events, pipe struct later unfinished, pipe struct { char c[100000]; } large);
pipe int result(void);
struct holder { pipe int p; reserve_id_t id; };
pipe int at_file;
reserve_id_t id_at_file;
kernel void calls(read_only pipe int in, write_only pipe int out, global int *i, global float *f,
                  global const int *c) {
  pipe int local_pipe;
  reserve_id_t id = 5;
  write_pipe(in, i);
  read_pipe(out, i);
  read_pipe(in, f);
  read_pipe(in, c);
  write_pipe(out, c);
  read_pipe(in, 0, 0, i);
  read_pipe(in, id, 1.0f, i);
  read_pipe(in, id, i);
  reserve_write_pipe(out);
  reserve_write_pipe(out, f);
  commit_read_pipe(out, id);
  work_group_commit_write_pipe(in, id);
  is_valid_reserve_id(i);
  get_pipe_num_packets(i);
  reserve_pipe(in, 1);
  callee(in);
  id = id + 1;
  if (id) { }
}
void operators(pipe int a, pipe int b) {
  a = b;
  &a;
  a + b;
  a == b;
  !a;
  callee((write_only pipe int)a);
  get_pipe_num_packets(true ? a : b);
  get_pipe_num_packets((a, b));
  a.x;
  *a;
}
