// check: --arg a=32:index --arg b=32:3 --arg out=32 --global 32 --local 16
// The second copy joins the event of the first: one wait is for both.
kernel void product(global const float *a, global const float *b, global float *out)
{
    local float ta[16], tb[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    event_t loaded = async_work_group_copy(ta, a + base, 16, 0);
    loaded = async_work_group_copy(tb, b + base, 16, loaded);
    wait_group_events(1, &loaded);
    out[base + l] = ta[15 - l] * tb[(l + 1) % 16];
}
