// check: --arg out=64 --arg in=64:index --global 64 --local 16
// The offset wraps below zero, and the addition in the index wraps it back.
kernel void wrapped(global int *out, global const int *in) {
    uint i = get_global_id(0);
    uint offset = i - 4u;
    out[i] = in[offset + 4u];
}
