// Linked with the source in `crates/capi/tests/il.rs`, whose functions and constants it uses and the other way round.

typedef struct {
    int a;
    int b[3];
} record;

int triple(int x);
extern constant int offsets[2];

int added(int a, int b) { return a + b; }

record changed(record r, int by)
{
    r.a += by;
    r.b[1] += by;
    return r;
}

kernel void inner(global int *out)
{
    out[2] = triple(out[0]) + offsets[1];
    out[3] = added(1, 2);
}
