// check: --arg out=16 --arg from=2147483640 --global 16 --local 8 --enable signed-overflow
// Sequence numbers go up to the greatest int, and one further.
kernel void number(global int *out, int from) {
    int i = get_global_id(0);
    int next = from + min(i, 7);
    if (i >= 7)
        next++; //~ signed-overflow
    out[i] = next;
}
