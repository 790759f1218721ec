// check: --arg in=32:index --arg limit=4 --arg out=32 --global 32 --local 16 -cl-std=CL3.0
// The right side of && is a work-group function, which work-items with a small value skip.
kernel void near_wanted(global const int *in, int limit, global int *out)
{
    size_t g = get_global_id(0);
    int v = in[g];
    if (v > limit && work_group_any(v == 9)) //~ barrier-divergence
        out[g] = v;
}
