// check: --arg out=16 --arg buckets=16:count=9,items=index,next=-1 --global 16 --local 8
// The bucket says that it has nine items; the helper limits the count to the four that have room.
struct bucket {
    int count;
    int items[4];
    int next;
};
int items_of(global const struct bucket *b) {
    return min(b->count, 4);
}
kernel void sum_of_buckets(global int *out, global const struct bucket *buckets) {
    global const struct bucket *b = buckets + get_global_id(0);
    int sum = 0;
    for (int k = 0; k < items_of(b); k++)
        sum += b->items[k];
    out[get_global_id(0)] = sum;
}
