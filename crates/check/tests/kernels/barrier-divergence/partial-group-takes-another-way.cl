// check: --arg in=27:index --arg out=27 --global 27 --local 8 -cl-std=CL3.0
// Full groups pass a barrier, the partial group passes none.
kernel void reverse_blocks(global const int *in, global int *out)
{
    local int tile[8];
    size_t l = get_local_id(0), g = get_global_id(0);
    if (get_local_size(0) == get_enqueued_local_size(0)) {
        tile[l] = in[g];
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        out[g] = tile[7 - l];
    } else {
        out[g] = in[g];
    }
}
