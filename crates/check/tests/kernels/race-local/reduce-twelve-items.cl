// check: --arg in=36:index --arg out=3 --global 36 --local 12
// Levels of 6, 3, 2 and 1 items: the halves never overlap, and a barrier precedes each level.
kernel void reduce(global const int *in, global int *out)
{
    local int buf[12];
    uint l = get_local_id(0);
    buf[l] = in[get_global_id(0)];
    for (uint n = 12; n > 1; n = (n + 1) / 2) {
        uint upper = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l + upper < n)
            buf[l] += buf[l + upper];
    }
    if (l == 0)
        out[get_group_id(0)] = buf[0];
}
