// check: --arg out=64 --arg in=64:index --global 4x4x4 --local 4x4x4
// Each of the three indices is tested on its own.
kernel void slopes(global float *out, global const float *in) {
    local float block[4][4][4];
    int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    int i = 16 * z + 4 * y + x;
    block[z][y][x] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = x < 3 ? block[z][y][x + 1] : 0.0f;
    sum += y < 3 ? block[z][y + 1][x] : 0.0f;
    sum += z < 3 ? block[z + 1][y][x] : 0.0f;
    out[i] = sum - 3.0f * block[z][y][x];
}
