// check: --arg out=2 --arg in=64:index --global 64 --local 64 --enable shift-range
// Bits 32 to 63 are bits of the second word.
kernel void vote(global uint *out, global const uint *in) {
    local uint mask[2];
    uint l = get_local_id(0);
    if (l < 2)
        mask[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[l] % 3 == 0)
        atomic_or(&mask[l / 32], 1u << l % 32);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 2)
        out[l] = mask[l];
}
