// check: --arg m=128:index --arg v=16:2 --arg out=16 --global 8 --local 8
// In each round a barrier stands where the wait belongs; the wait comes only after the use.
kernel void matrix_vector(global const float *m, global const float *v, global float *out)
{
    local float part[8];
    size_t l = get_local_id(0);
    float sum = 0.0f;
    part[l] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t < 16; t += 8) {
        event_t loaded = async_work_group_copy(part, v + t, 8, 0); //~ async-copy
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++)
            sum += m[l * 16 + t + k] * part[k]; //~ async-copy
        wait_group_events(1, &loaded);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}
