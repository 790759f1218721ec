// check: --arg out=64 --arg in=64:index --global 4x4x4 --local 4x4x4
// The test is of z and should be of y: the row behind the last one of a slice is the next slice's first.
kernel void slope(global float *out, global const float *in) {
    local float block[4][4][4];
    int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    int i = 16 * z + 4 * y + x;
    block[z][y][x] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float below = 0.0f;
    if (z < 3)
        below = block[z][y + 1][x]; //~ array-index
    out[i] = below - block[z][y][x];
}
