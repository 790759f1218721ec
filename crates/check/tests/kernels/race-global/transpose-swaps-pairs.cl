// check: --arg m=128:index --global 8x16 --local 8x8
// In place without a barrier: only the work-item above the diagonal touches a pair.
kernel void transpose(global float *m)
{
    size_t x = get_local_id(0), y = get_local_id(1);
    global float *matrix = m + get_group_id(1) * 64;
    if (x > y) {
        float v = matrix[y * 8 + x];
        matrix[y * 8 + x] = matrix[x * 8 + y];
        matrix[x * 8 + y] = v;
    }
}
