// check: --arg in=64:index --arg finished=1 --arg rank=4 --global 64 --local 16
// The counter that other groups increment by atomics is read without one.
kernel void rank_groups(global const int *in, volatile global int *finished, global int *rank)
{
    size_t group = get_group_id(0);
    if (get_local_id(0) == 0 && in[get_global_id(0)] >= 0) {
        rank[group] = *finished; //~ race-groups
        atomic_inc(finished);    //~ race-groups
    }
}
