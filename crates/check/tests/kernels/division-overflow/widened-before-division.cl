// check: --arg out=16 --arg start=-2147483648 --arg step=-1 --global 16 --local 8
// The division is one of long, which has room for 2147483648.
kernel void steps(global long *out, int start, int step) {
    int i = get_global_id(0);
    int distance = start + i;
    out[i] = (long)distance / step;
}
