// check: --arg out=16 --arg layers=4x4x3:r,float:random --arg s=pixels,edge,nearest --global 4x4 --local 4x2
// A read with a sampler clamps the number of the layer to the layers that exist.
kernel void brightest(global float *out, read_only image2d_array_t layers, sampler_t s) {
    int x = get_global_id(0), y = get_global_id(1);
    float most = 0.0f;
    for (int layer = -1; layer <= 3; layer++)
        most = fmax(most, read_imagef(layers, s, (int4)(x, y, layer, 0)).x);
    out[4 * y + x] = most;
}
