// check: --arg out=128 --arg volume=8x4x4:r,float:random --global 8x4x4 --local 4x4x2
// The last slice of the volume has no next one.
kernel void depth_slopes(global float *out, read_only image3d_t volume) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float here = read_imagef(volume, (int4)(x, y, z, 0)).x;
    float next = read_imagef(volume, (int4)(x, y, z + 1, 0)).x; //~ image-coordinates
    out[(4 * z + y) * 8 + x] = next - here;
}
