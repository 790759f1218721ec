// check: --arg n=1:0 --arg out=1 --global 4 --local 4
kernel void last(global int *n, global int *out)
{
    atomic_inc(n); //~ race-global
    if (get_global_id(0) == get_global_size(0) - 1)
        *out = *n; //~ race-global
}
