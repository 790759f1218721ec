// check: --arg out=8 --global 8 --local 8
// The address of a register of some board, which is no address of a kernel's memory.
#define STATUS ((volatile global const uint *)0x7edc00000000UL)
kernel void poll_status(global uint *out) {
    size_t i = get_global_id(0);
    out[i] = STATUS[i] & 1u; //~ invalid-pointer
}
