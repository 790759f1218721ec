// check: --arg out=16 --arg buckets=16:count=4,items=index,next=-1 --global 16 --local 8
// The loop runs to count inclusive: behind the four items of a full bucket comes the member next.
struct bucket {
    int count;
    int items[4];
    int next;
};
kernel void sum_of_buckets(global int *out, global const struct bucket *buckets) {
    global const struct bucket *b = buckets + get_global_id(0);
    int sum = 0;
    for (int k = 0; k <= b->count; k++)
        sum += b->items[k]; //~ array-index
    out[get_global_id(0)] = sum;
}
