// check: --arg in=21:index --arg out=21 --global 21 --local 8 -cl-std=CL3.0
// The last group has five work-items, and reads only what they stored.
kernel void differences(global const int *in, global int *out)
{
    local int tile[8];
    uint l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = l + 1 < n ? tile[l + 1] - tile[l] : 0;
}
