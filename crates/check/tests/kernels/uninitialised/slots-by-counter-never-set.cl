// check: --arg out=4 --global 4 --local 4
// The counter that gives out slots has no first value.
kernel void slots(global int *out) {
    local uint n;
    local int t[64];
    t[atomic_inc(&n)] = 1; //~ uninitialised
    out[get_global_id(0)] = 0;
}
