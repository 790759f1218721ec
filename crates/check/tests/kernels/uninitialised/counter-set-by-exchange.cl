// check: --arg out=4 --global 4 --local 4
// An exchange sets the variable, whatever it held before.
kernel void reset(global int *out) {
    local int t;
    atomic_xchg(&t, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t;
}
