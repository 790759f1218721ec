// check: --arg in=32:index --arg count=2:9 --global 32 --local 16
// The first work-item resets the group's counter, and nothing orders that before the atomics of the others.
kernel void count_odd(global const int *in, global int *count)
{
    size_t group = get_group_id(0);
    if (get_local_id(0) == 0)
        count[group] = 0; //~ race-global
    if (in[get_global_id(0)] & 1)
        atomic_inc(&count[group]); //~ race-global
}
