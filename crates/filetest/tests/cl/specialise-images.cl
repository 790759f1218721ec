// RUN: stages library for x86_64-unknown-linux-gnu:x86-64-v3
// FIRES: specialise-images 10
// CHECK: call @__image_load_f_unorm8x4
// CHECK: call @__image_store_f_unorm8x4
kernel void k(read_only image2d_t from, write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, at));
}
