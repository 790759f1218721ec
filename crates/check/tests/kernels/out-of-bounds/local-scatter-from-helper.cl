// check: --arg out=32 --arg keys=32:index --global 32 --local 16
// Keys of the second group are not reduced to the table's size before the helper uses them.
#define SLOTS 16
void put(local int *table, int slot, int v) {
    table[slot] = v; //~ out-of-bounds
}
kernel void scatter(global int *out, global const int *keys) {
    local int table[SLOTS];
    int lid = get_local_id(0);
    table[lid] = -1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int i = get_global_id(0);
    put(table, keys[i], i);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = table[lid];
}
