// check: --arg in=16:index --arg out=16 --arg rounds=16 --global 16 --local 16
// Work-items that are done leave the loop, and wait at another barrier than those that go on.
kernel void halve(global const float *in, global float *out, int rounds)
{
    local float values[16];
    size_t l = get_local_id(0);
    values[l] = in[l];
    for (int i = 0; i < rounds; i++) {
        if (values[l] < 1.0f)
            break;
        values[l] *= 0.5f;
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    }
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    out[l] = values[l];
}
