// check: --arg u=64:index --arg colour=1 --global 8x8 --local 4x4
// In place across groups: only cells of one colour are written, and they read only cells of the other.
kernel void relax(global float *u, uint colour)
{
    uint x = get_global_id(0), y = get_global_id(1), i = y * 8 + x;
    if (((x + y) & 1) != colour || x == 0 || y == 0 || x == 7 || y == 7)
        return;
    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - 8] + u[i + 8]);
}
