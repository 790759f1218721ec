// check: --arg out=16 --arg a=16:index --arg b=16:3 --global 16 --local 8
// Structures with pointers to constant memory are swapped; the structures themselves are private.
struct source {
    constant int *data;
    int factor;
};
kernel void ordered(global int *out, constant int *a, constant int *b) {
    size_t i = get_global_id(0);
    struct source x = {a, 1}, y = {b, -1};
    if (a[i] < b[i]) {
        struct source t = x;
        x = y;
        y = t;
    }
    out[i] = x.factor * x.data[i] + y.factor * y.data[i];
}
