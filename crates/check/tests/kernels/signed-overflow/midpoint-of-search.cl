// check: --arg out=8 --arg low=1500000000 --arg high=2000000000 --global 8 --local 8 --enable signed-overflow
// The sum of the two bounds is too great, though their mean is not.
kernel void midpoints(global int *out, int low, int high) {
    int i = get_global_id(0);
    int middle = (low + i + high) / 2; //~ signed-overflow
    out[i] = middle;
}
