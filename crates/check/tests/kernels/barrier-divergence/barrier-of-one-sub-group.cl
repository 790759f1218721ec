// check: --arg in=64:index --arg out=64 --global 64 --local 64 -cl-std=CL3.0
// Only the first sub-group passes its barrier: that is uniform in the sub-group, however large it is.
kernel void first_of_group(global const int *in, global int *out)
{
    local int first;
    size_t l = get_local_id(0);
    if (get_sub_group_id() == 0) {
        if (get_sub_group_local_id() == 0)
            first = in[l];
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        out[l] = in[l] - first;
    }
}
