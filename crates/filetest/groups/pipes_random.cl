// A sub-group, and then a work-group, alone with a pipe: reservations of random lengths, up to three at a time on each
// side, committed in random order. Which of them fail, as the pipe is too full or too empty, and which packet is read, is
// told by counters of packets that are reserved and committed. A failure is the step, or 1000 and the step of the group.
// arg: pipe 4 13
// arg: again 1
// arg: pipe 8 6
// arg: again 3
#define OPEN 3
#define STEPS 150

typedef struct { reserve_id_t id; uint begin; uint length; } reservation;

// The number of the first packet that is reserved and not committed, if there is one; else of the next one.
uint first_open(const reservation *list, uint next) {
  uint first = next;
  for (int k = 0; k < OPEN; k++)
    if (list[k].length != 0) first = min(first, list[k].begin);
  return first;
}

// All work-items of the group do the same, and share the packets of a reservation. The first one commits for all, so that
// it knows how many packets there are.
#define DEFINE(group, T, me, all) \
  int group##_steps(write_only pipe T w, read_only pipe T r, uint capacity) { \
    reservation writes[OPEN] = {{CLK_NULL_RESERVE_ID, 0, 0}}, reads[OPEN] = {{CLK_NULL_RESERVE_ID, 0, 0}}; \
    uint written = 0, read = 0, random = capacity; \
    int bad = 0; \
    for (int step = 1; step <= STEPS; step++) { \
      random = random * 1664525u + 1013904223u; \
      const uint n = (random >> 20) % (capacity / 2 + 3), slot = (random >> 16) % OPEN; \
      const bool for_writing = (random >> 12) % 2; \
      reservation *list = for_writing ? writes : reads; \
      if (list[slot].length != 0) { \
        if (for_writing) group##_commit_write_pipe(w, list[slot].id); \
        else group##_commit_read_pipe(r, list[slot].id); \
        list[slot].length = 0; \
      } else if (for_writing) { \
        const reserve_id_t id = group##_reserve_write_pipe(w, n); \
        const bool is_possible = n != 0 && written + n - first_open(reads, read) <= capacity; \
        if (is_valid_reserve_id(id) != is_possible) bad = step; \
        if (!is_valid_reserve_id(id)) continue; \
        for (uint i = me; i < n; i += all) { \
          T x = 7 * (written + i) + 3; \
          if (write_pipe(w, id, i, &x)) bad = step; \
        } \
        list[slot] = (reservation){id, written, n}; \
        written += n; \
      } else { \
        const reserve_id_t id = group##_reserve_read_pipe(r, n); \
        const bool is_possible = n != 0 && read + n <= first_open(writes, written); \
        if (is_valid_reserve_id(id) != is_possible) bad = step; \
        if (!is_valid_reserve_id(id)) continue; \
        for (uint i = me; i < n; i += all) { \
          T x = 0; \
          if (read_pipe(r, id, i, &x) || x != 7 * (read + i) + 3) bad = step; \
        } \
        list[slot] = (reservation){id, read, n}; \
        read += n; \
      } \
      if (me == 0 && get_pipe_num_packets(r) != first_open(writes, written) - read) bad = step; \
    } \
    return bad; \
  }

DEFINE(sub_group, uint, get_sub_group_local_id(), get_sub_group_size())
DEFINE(work_group, ulong, get_local_linear_id(), get_local_size(0) * get_local_size(1) * get_local_size(2))

kernel void test(global int *out, write_only pipe uint w, read_only pipe uint r, write_only pipe ulong gw,
                 read_only pipe ulong gr) {
  int bad = 0;
  if (get_group_id(0) + get_group_id(1) + get_group_id(2) == 0) {
    if (get_sub_group_id() == 0) bad = sub_group_steps(w, r, 13);
    const int of_group = work_group_steps(gw, gr, 6);
    if (bad == 0 && of_group != 0) bad = 1000 + of_group;
  }
  out[get_global_linear_id()] = bad;
}
