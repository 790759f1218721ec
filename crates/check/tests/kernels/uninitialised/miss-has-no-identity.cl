// check: --arg out=32 --arg in=32:index --global 32 --local 8
// A ray that hits nothing gives a hit without an identity.
struct hit {
    float distance;
    int id;
};
struct hit trace(float x) {
    struct hit h;
    h.distance = 1000.0f;
    for (int k = 0; k < 4; k++)
        if (fabs(x - 4.0f * k) < 1.0f) {
            h.distance = x;
            h.id = k;
        }
    return h;
}
kernel void identities(global int *out, global const float *in) {
    size_t i = get_global_id(0);
    struct hit h = trace(in[i]);
    out[i] = h.id; //~ uninitialised
}
