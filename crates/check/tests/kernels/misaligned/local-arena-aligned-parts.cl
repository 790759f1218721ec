// check: --arg out=32 --arg in=32:index --global 32 --local 16
// The parts of the arena begin at multiples of 16.
kernel void staged(global float *out, global const int *in) {
    local uchar arena[16 + 16 * 16] __attribute__((aligned(16)));
    local ushort *count = (local ushort *)(arena + 6);
    local float4 *slots = (local float4 *)(arena + 16);
    int l = get_local_id(0), i = get_global_id(0);
    if (l == 0)
        *count = get_local_size(0);
    slots[l] = (float4)(in[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = slots[l ^ 1].w + *count;
}
