// check: --arg in=8:index --arg limit=100 --global 8 --local 8
// No element is above the limit, so that there is no index to print.
kernel void report(global const int *in, int limit) {
    if (get_global_id(0) != 0)
        return;
    int where;
    for (int k = 0; k < 8; k++)
        if (in[k] > limit)
            where = k;
    printf("first above the limit: %d\n", where); //~ uninitialised
}
