// check: --arg in=32:index --arg count=2 --arg out=32 --global 32 --local 16
// The counter is also read by an atomic, so that no barrier is needed.
kernel void progress(global const int *in, volatile global int *count, global int *out)
{
    size_t group = get_group_id(0);
    if (in[get_global_id(0)] % 3 == 0)
        atomic_inc(&count[group]);
    out[get_global_id(0)] = atomic_or(&count[group], 0) >= 0;
}
