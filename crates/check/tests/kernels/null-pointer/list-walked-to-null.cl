// check: --arg out=16 --arg nodes=16:value=index --global 16 --local 8
// The walk over the list ends when the pointer is null.
struct node {
    int value;
};
global const struct node *after(global const struct node *nodes, global const struct node *n) {
    return n->value + 4 < 16 ? nodes + n->value + 4 : 0;
}
kernel void sums(global int *out, global const struct node *nodes) {
    int sum = 0;
    for (global const struct node *n = nodes + get_global_id(0); n; n = after(nodes, n))
        sum += n->value;
    out[get_global_id(0)] = sum;
}
