// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The miss has no identity; the whole hit is copied and passed on, but only hits are asked for theirs.
struct hit {
    bool found;
    int id;
};
struct hit trace(int x) {
    struct hit h;
    h.found = x % 4 == 0;
    if (h.found)
        h.id = x / 4;
    return h;
}
int id_of(struct hit h) {
    return h.found ? h.id : -1;
}
kernel void identities(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    struct hit best = trace(in[i]);
    struct hit copy = best;
    out[i] = id_of(copy);
}
