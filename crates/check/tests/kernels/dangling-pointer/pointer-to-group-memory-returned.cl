// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The helper returns an address of local memory, which lasts as long as the group.
local int *slot_of(local int *table, int l) {
    local int *slot = table + (l ^ 1);
    return slot;
}
kernel void swap_pairs(global int *out, global const int *in) {
    local int table[8];
    int l = get_local_id(0);
    {
        local int *slot = slot_of(table, l);
        *slot = in[get_global_id(0)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[l];
}
