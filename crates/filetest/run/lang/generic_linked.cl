// A function of another file with generic parameters, which asks where they lead.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int value_at(const int *p, int *where);
int *further(int *p, int by);

kernel void test(global int *out) {
  local int shared[16];
  int own[2] = {4, 5}, where = 0;
  int id = get_local_id(0), me = get_global_id(0);
  shared[id] = 7 + id;
  out[me] = 70 + id;
  CHECK(value_at(own, &where) == 4 && where == 2);
  CHECK(value_at(shared + id, &where) == 7 + id && where == 1);
  CHECK(value_at(out + me, &where) == 70 + id && where == 3);
  CHECK(value_at(further(own, 1), own) == 5 && own[0] == 2);
  CHECK(value_at(me % 2 ? (int *)&shared[id] : (int *)&own[1], &where) == (me % 2 ? 7 + id : 5));
  CHECK(where == (me % 2 ? 1 : 2));
  DONE;
}
// ---- second file ----
int value_at(const int *p, int *where) {
  *where = to_local(p) ? 1 : to_private(p) ? 2 : to_global(p) ? 3 : 4;
  return *p;
}
int *further(int *p, int by) { return p + by; }
