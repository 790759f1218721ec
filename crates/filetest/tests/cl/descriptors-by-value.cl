// RUN: stages asm for nvptx64-nvidia-cuda:sm_90
// FIRES: descriptors-by-value 2
// CHECK: .b8 k_param_1[80]
// NOT: ld.global.nc
kernel void k(read_only image2d_t from, write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, at));
}
