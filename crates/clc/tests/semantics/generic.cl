// options: -cl-std=CL3.0
// Wrong use of the generic address space.
constant int fixed[2] = {1, 2};

void take(int *p);
void take_local(local int *p);
generic int everywhere;

kernel void args(int *p, generic float *q, global int *ok) {}

struct with { generic int a; };

kernel void conversions(global int *g, local int *l) {
  int own = 0;
  generic int variable;
  int *p = g;
  // Back only by a cast.
  local int *lp = p;
  global int *gp = p;
  private int *pp = p;
  take_local(p);
  gp = (global int *)p;
  // Never constant memory.
  int *c = fixed;
  take(fixed);
  p = (int *)fixed;
  constant int *cp = (constant int *)p;
  to_global(fixed);
  // Disjoint address spaces have nothing in common.
  p = own ? g : l;
  own = g == l;
  own = g - l;
  own = p == g;
  own = p == fixed;
  // Below the top, nothing is converted.
  global int **below = &p;
  int **names = &gp;
  const int *readonly = p;
  int *writes = readonly;
}

kernel void functions(global int *g, local float *l) {
  int *p = g;
  atomic_add(p, 1);
  to_global(1);
  to_local(p, p);
  float *f = to_global(p);
  async_work_group_copy(p, g, 1, 0);
  const int *c = g;
  int *d = to_global(c);
  fract(1.5f, c);
}
