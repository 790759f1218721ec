// check: --arg out=16 --arg start=-2147483648 --arg step=-1 --global 16 --local 8
// The quotient of the first work-item would be 2147483648.
kernel void steps(global int *out, int start, int step) {
    int i = get_global_id(0);
    int distance = start + i;
    out[i] = distance / step; //~ division-overflow
}
