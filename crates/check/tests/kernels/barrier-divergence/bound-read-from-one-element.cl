// check: --arg starts=3:index --arg in=2:5 --arg out=32 --global 32 --local 16
// The bounds of the loop are loaded by all work-items of a group from the same elements.
kernel void rows(global const int *starts, global const int *in, global int *out)
{
    local int value;
    size_t row = get_group_id(0);
    int sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) {
        if (get_local_id(0) == 0)
            value = in[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += value * (int)get_local_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
