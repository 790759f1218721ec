// check: --arg out=8 --arg in=32:index --global 32 --local 16
// One work-item in four gets a slot of the group's table; the others write through a null pointer.
kernel void leaders(global int *out, global const int *in) {
    local int table[4];
    int l = get_local_id(0);
    local int *slot = 0;
    if (l % 4 == 0)
        slot = &table[l / 4];
    *slot = in[get_global_id(0)]; //~ null-pointer
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4)
        out[4 * get_group_id(0) + l] = table[l];
}
