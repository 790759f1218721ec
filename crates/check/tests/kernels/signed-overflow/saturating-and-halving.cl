// check: --arg out=8 --arg low=1500000000 --arg high=2000000000 --global 8 --local 8 --enable signed-overflow
// Built-in functions for sums that do not fit: one stops at the greatest int, one halves before it is too late.
kernel void midpoints(global int *out, int low, int high) {
    size_t i = get_global_id(0);
    out[i] = add_sat(low, high) - hadd(low, high);
}
