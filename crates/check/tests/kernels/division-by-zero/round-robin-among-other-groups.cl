// check: --arg out=16 --arg in=16:index --global 16 --local 16
// With one group there is no other one.
kernel void next_group(global uint *out, global const uint *in) {
    size_t i = get_global_id(0);
    uint others = get_num_groups(0) - 1;
    out[i] = in[i] % others; //~ division-by-zero
}
