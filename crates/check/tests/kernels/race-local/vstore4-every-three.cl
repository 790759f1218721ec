// check: --arg rgb=96:index --arg grey=32 --global 32 --local 16
// Four components are stored for each pixel of three: the fourth is the first one of the next pixel.
kernel void to_grey(global const float *rgb, global float *grey)
{
    local float row[49];
    size_t l = get_local_id(0), g = get_global_id(0);
    float3 c = vload3(g, rgb);
    vstore4((float4)(c, 0.0f), 0, row + 3 * l); //~ race-local
    barrier(CLK_LOCAL_MEM_FENCE);
    float3 mine = vload3(l, row), other = vload3(15 - l, row);
    grey[g] = dot(mine + other, (float3)(0.3f, 0.6f, 0.1f));
}
