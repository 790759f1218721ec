// The finished picture in 8 bits a channel.
__kernel void video_output(__global const float4 *restrict in, __global uchar4 *restrict out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float4 p = in[y * w + x] * 255.0f;
    out[y * w + x] = convert_uchar4_sat_rte((float4)(p.x, p.y, p.z, 255.0f));
}
