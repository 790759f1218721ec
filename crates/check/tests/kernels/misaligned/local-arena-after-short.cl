// check: --arg out=32 --arg in=32:index --global 32 --local 16
// The slots are behind a ushort, and so two bytes off any address for an int.
kernel void staged(global int *out, global const int *in) {
    local uchar arena[80] __attribute__((aligned(16)));
    local ushort *count = (local ushort *)arena;
    local int *slots = (local int *)(arena + sizeof(ushort));
    int l = get_local_id(0), i = get_global_id(0);
    if (l == 0)
        *count = get_local_size(0);
    slots[l] = in[i]; //~ misaligned
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = slots[l ^ 1] + *count; //~ misaligned
}
