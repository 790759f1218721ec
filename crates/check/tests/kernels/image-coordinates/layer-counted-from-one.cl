// check: --arg out=16 --arg layers=4x4x3:r,float:random --global 4x4 --local 4x2
// The layers are 0 to 2, and the loop runs from 1 to 3.
kernel void brightest(global float *out, read_only image2d_array_t layers) {
    int x = get_global_id(0), y = get_global_id(1);
    int count = get_image_array_size(layers);
    float most = 0.0f;
    for (int layer = 1; layer <= count; layer++)
        most = fmax(most, read_imagef(layers, (int4)(x, y, layer, 0)).x); //~ image-coordinates
    out[4 * y + x] = most;
}
