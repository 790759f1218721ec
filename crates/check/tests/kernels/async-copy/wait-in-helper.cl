// check: --arg points=48:index --arg centres=4:1 --arg nearest=48 --global 48 --local 16
// Both events are waited for in a function that gets the array of them.
void wait_for_all(event_t *events)
{
    wait_group_events(2, events);
}

kernel void classify(global const float3 *points, global const float3 *centres, global float *nearest)
{
    local float3 part[16], centre[4];
    event_t events[2];
    size_t l = get_local_id(0);
    events[0] = async_work_group_copy(part, points + get_group_id(0) * 16, 16, 0);
    events[1] = async_work_group_copy(centre, centres, 4, 0);
    wait_for_all(events);
    float best = INFINITY;
    for (int c = 0; c < 4; c++)
        best = fmin(best, distance(part[l], centre[c]));
    nearest[get_global_id(0)] = best;
}
