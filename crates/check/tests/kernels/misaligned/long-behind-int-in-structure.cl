// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The structure pads behind the int, so that a pointer to the ulong is aligned.
struct entry {
    int key;
    ulong value;
};
ulong next(const ulong *p) {
    return *p + 1;
}
kernel void entries(global ulong *out, global const int *in) {
    size_t i = get_global_id(0);
    struct entry e[2];
    e[1].key = in[i];
    e[1].value = (ulong)e[1].key << 32;
    out[i] = next(&e[1].value);
}
