// check: --arg out=1 --arg in=64:index --global 64 --local 64 --enable shift-range
// A group of 64 does not fit into a mask of 32 bits.
kernel void vote(global uint *out, global const uint *in) {
    local uint mask;
    uint l = get_local_id(0);
    if (l == 0)
        mask = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[l] % 3 == 0)
        atomic_or(&mask, 1u << l); //~ shift-range
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[0] = mask;
}
