// check: --arg keys=16:index --arg table=64 --global 16 --local 16
// The hash should be an index of the table; it is not reduced, and the table is not in the sum.
kernel void insert(global const ulong *keys, global int *table) {
    size_t i = get_global_id(0);
    ulong hash = (keys[i] + 1) * 0x9e3779b97f4a7c15UL;
    if (table[i] == 0) {
        global int *slot = (global int *)(uintptr_t)(hash & ~63UL);
        *slot = 1; //~ invalid-pointer
    }
}
