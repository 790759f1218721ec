// check: --arg in=32:index --arg out=32 --global 32 --local 8 -cl-std=CL3.0
// The sum over the group is called only by work-items whose value is positive.
kernel void share(global const float *in, global float *out)
{
    size_t g = get_global_id(0);
    float v = in[g];
    if (v > 0.0f) {
        float total = work_group_reduce_add(v); //~ barrier-divergence
        out[g] = v / total;
    }
}
