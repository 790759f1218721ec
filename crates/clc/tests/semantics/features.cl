// What this device does not have, by name.
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
kernel void images(read_only image2d_t img, global float4 *out) {
  out[0] = read_imagef(img, s, (int2)(0));
}
kernel void pipes(read_only pipe int q, global int *out) {
  read_pipe(q, out);
}
kernel void queues(global int *out) {
  queue_t q = get_default_queue();
  out[0] = get_sub_group_size() + sub_group_reduce_add(1) + work_group_any(1);
}
void spaces(global int *out) {
  generic int *p = out;
  atomic_int a;
  atomic_fetch_add(out, 1);
}
