// check: --arg signal=32:index --arg taps=8:2 --arg out=32 --global 32 --local 16
// Two copies, and the wait before the use names only the first event.
kernel void filter(global const float *signal, global const float *taps, global float *out)
{
    local float part[16], weight[16];
    size_t l = get_local_id(0);
    weight[l] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t events[2];
    events[0] = async_work_group_copy(part, signal + get_group_id(0) * 16, 16, 0);
    events[1] = async_work_group_copy(weight, taps, 8, 0); //~ async-copy
    wait_group_events(1, &events[0]);
    float v = part[15 - l] * weight[l]; //~ async-copy
    wait_group_events(1, &events[1]);
    out[get_global_id(0)] = v;
}
