// check: --arg in=32:index --arg limit=3 --arg exceeded=2 --global 32 --local 16
// All work-items that store the flag store the same value: that is a race all the same.
kernel void any_above(global const int *in, int limit, global int *exceeded)
{
    local int any_one;
    if (get_local_id(0) == 0)
        any_one = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[get_global_id(0)] > limit)
        any_one = 1; //~ race-local
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        exceeded[get_group_id(0)] = any_one;
}
