// Pipes that one work-item fills and empties, with reservations in many orders; the others of its vector are off.
// (Others want -cl-std=CL3.0.) A pipe is passed twice, as one that is written and one that is read.
// arg: pipe 4 5
// arg: again 1
// arg: pipe 12 3
// arg: again 3
// arg: pipe 16 8
// arg: again 5
#define CHECK(c) do { if (!(c)) { out[get_global_linear_id()] = __LINE__; return; } } while (0)
#define DONE out[get_global_linear_id()] = 0

typedef struct { short a; bool is_set; int b[2]; } item;
typedef struct { reserve_id_t id; uint n; } reservation;

#ifndef __opencl_c_pipes
#error pipes are missing
#endif

bool put(write_only pipe int p, int x) { return write_pipe(p, &x) == 0; }
int take(pipe int p) { int x = -7; return read_pipe(p, &x) ? -1 : x; }
uint in(write_only pipe int p) { return get_pipe_num_packets(p); }

kernel void test(global int *out, write_only pipe int w, read_only pipe int r, write_only pipe item iw,
                 read_only pipe item ir, write_only pipe int3 vw, read_only pipe int3 vr) {
  if (get_global_id(0) != get_global_size(0) / 2 || get_global_id(1) + get_global_id(2) != 0) { DONE; return; }

  // One at a time, around the end of the slots several times.
  CHECK(get_pipe_max_packets(w) == 5 && get_pipe_max_packets(r) == 5 && in(w) == 0);
  CHECK(take(r) == -1);
  for (int round = 0; round < 7; round++) {
    for (int i = 0; i < 5; i++) CHECK(put(w, 10 * round + i) && in(w) == i + 1);
    CHECK(!put(w, 99) && get_pipe_num_packets(r) == 5);
    for (int i = 0; i < 5 - (round & 1); i++) CHECK(take(r) == 10 * round + i);
    if (round & 1) { CHECK(take(r) == 10 * round + 4); }
    CHECK(take(r) == -1 && in(w) == 0);
  }

  // Reservations that are committed in another order become visible in the order that they were made in.
  reserve_id_t none = CLK_NULL_RESERVE_ID;
  CHECK(!is_valid_reserve_id(none));
  reservation list[3] = {{CLK_NULL_RESERVE_ID, 2}, {none, 1}, {none, 2}};
  for (int k = 0; k < 3; k++) {
    list[k].id = reserve_write_pipe(w, list[k].n);
    CHECK(is_valid_reserve_id(list[k].id));
  }
  CHECK(!is_valid_reserve_id(reserve_write_pipe(w, 1)) && !put(w, 1));
  int x;
  for (int k = 2; k >= 0; k--) {
    for (uint i = list[k].n; i-- > 0;) {
      x = 10 * k + i;
      CHECK(write_pipe(w, list[k].id, i, &x) == 0);
    }
    CHECK(write_pipe(w, list[k].id, list[k].n, &x) < 0);
    CHECK(in(w) == 0 && !is_valid_reserve_id(reserve_read_pipe(r, 1)));
    commit_write_pipe(w, list[k].id);
  }
  CHECK(in(w) == 5);
  CHECK(!is_valid_reserve_id(reserve_read_pipe(r, 6)) && !is_valid_reserve_id(reserve_read_pipe(r, 0)));
  reserve_id_t first = reserve_read_pipe(r, 3), second = reserve_read_pipe(r, 2);
  CHECK(is_valid_reserve_id(first) && is_valid_reserve_id(second) && take(r) == -1 && in(w) == 0);
  CHECK(read_pipe(r, second, 1, &x) == 0 && x == 21 && read_pipe(r, second, 0, &x) == 0 && x == 20);
  CHECK(read_pipe(r, second, 2, &x) < 0 && read_pipe(r, none, 0, &x) < 0 && x == 20);
  commit_read_pipe(r, second);
  // What is read later was reserved before: there is no room yet.
  CHECK(!put(w, 1));
  CHECK(read_pipe(r, first, 0, &x) == 0 && x == 0 && read_pipe(r, first, 1, &x) == 0 && x == 1);
  CHECK(read_pipe(r, first, 2, &x) == 0 && x == 10);
  commit_read_pipe(r, first);
  for (int i = 0; i < 5; i++) CHECK(put(w, i));
  CHECK(!put(w, 5));

  // Structures and vectors; through pointers to any memory.
  item a = {-3, true, {4, 5}}, b = {0, false, {0, 0}};
  const item *from = &a;
  CHECK(write_pipe(iw, from) == 0 && write_pipe(iw, &a) == 0 && a.a-- == -3 && write_pipe(iw, &a) == 0);
  CHECK(write_pipe(iw, &a) < 0 && get_pipe_num_packets(ir) == 3);
  for (int i = 0; i < 3; i++) {
    CHECK(read_pipe(ir, &b) == 0);
    CHECK(b.is_set && b.a == (i == 2 ? -4 : -3) && b.b[0] == 4 && b.b[1] == 5);
  }
  int3 v = (int3)(1, 2, 3), u[2];
  CHECK(write_pipe(vw, &v) == 0 && read_pipe(vr, u + 1) == 0 && all(u[1] == v));

  // A pipe that another type of packet was meant for takes nothing.
  CHECK(get_pipe_max_packets(vw) == 8 && get_pipe_num_packets(vw) == 0);
  DONE;
}
