// check: --arg in=72:index --arg out=72 --global 20x4 --local 10x4
// Tiles of 8 columns with a halo of one on each side: each group also writes its halo.
kernel void edges(global const float *in, global float *out)
{
    size_t x = get_group_id(0) * 8 + get_local_id(0), y = get_local_id(1);
    float v = in[y * 18 + x];
    float right = x + 1 < 18 ? in[y * 18 + x + 1] : v;
    out[y * 18 + x] = fabs(v - right); //~ race-groups
}
