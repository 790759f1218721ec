// check: --arg in=32:index --arg out=16 --global 32 --local 16
// Two work-items fill one struct, each a member of its own.
struct range {
    float low;
    float high;
};

kernel void widths(global const float *in, global float *out)
{
    local struct range ranges[8];
    uint l = get_local_id(0);
    float v = in[get_global_id(0)];
    if (l & 1)
        ranges[l / 2].high = v;
    else
        ranges[l / 2].low = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        out[get_group_id(0) * 8 + l] = ranges[l].high - ranges[l].low;
}
