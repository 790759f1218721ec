// cl_intel_subgroups and cl_intel_required_subgroup_size: blocks, and sizes that there are.
kernel __attribute__((intel_reqd_sub_group_size(16)))
void right(global const uint *in, global int *out, read_only image2d_t img, write_only image2d_t to) {
  uint8 a = intel_sub_group_block_read8(in);
  intel_sub_group_block_write(( global uint *)out, a.x);
  intel_sub_group_block_write4(out, a.lo);
  ushort2 b = intel_sub_group_block_read_us2(img, (int2)(0, 1));
  intel_sub_group_block_write_us2(to, (int2)(0), b);
  float4 c = intel_sub_group_shuffle((float4)(1), 3u);
}
kernel __attribute__((intel_reqd_sub_group_size(5))) void wrong(global uint *in, global float *numbers, local uint *near,
    read_only image2d_t img, read_only image3d_t solid, global const uint *fixed) {
  uint a = intel_sub_group_block_read(numbers);
  uint b = intel_sub_group_block_read(near);
  uint2 c = intel_sub_group_block_read_us2(in);
  intel_sub_group_block_write(img, (int2)(0), a);
  uint d = intel_sub_group_block_read(solid, (int2)(0));
  uint e = intel_sub_group_block_read(in, (int2)(0));
  intel_sub_group_block_write(fixed, a);
  uint f = intel_sub_group_block_read(img, 1.0f, 2);
  intel_sub_group_block_write2(in, (int2)(1));
  uint16 g = intel_sub_group_block_read16(in);
}
