// check: --arg position=16:index --arg force=16 --global 16 --local 16
// Each work-item passes the barrier 15 times, but skips it in a different round.
kernel void forces(global const float *position, global float *force)
{
    local float p[16];
    int l = get_local_id(0);
    float f = 0.0f;
    p[l] = position[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++) {
        if (i == l)
            continue;
        f += 1.0f / (p[i] - p[l]);
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    }
    force[l] = f;
}
