// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The mask is 0 where the flags have no value, and all ones elsewhere.
kernel void masked(global uint *out, global const uint *in) {
    size_t i = get_global_id(0);
    uint flags;
    uint mask = 0;
    if (in[i] % 3 == 0) {
        flags = in[i] << 4;
        mask = 0xffffffffu;
    }
    out[i] = flags & mask;
}
