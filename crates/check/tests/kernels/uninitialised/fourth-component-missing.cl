// check: --arg out=16 --arg points=48:index --global 16 --local 8
// Points have three coordinates; the plane's distance is multiplied with a component that nothing has set.
constant float4 plane = (float4)(0.5f, 0.25f, 0.125f, -2.0f);
kernel void distances(global float *out, global const float *points) {
    size_t i = get_global_id(0);
    float4 p;
    p.xyz = vload3(i, points);
    out[i] = dot(p, plane); //~ uninitialised
}
