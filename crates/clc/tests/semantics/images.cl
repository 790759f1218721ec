// Images: types, access qualifiers, coordinates.
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
float4 right(read_only image2d_t img, image2d_array_t layers, read_only image3d_t solid, sampler_t t) {
  return read_imagef(img, s, (int2)(0)) + read_imagef(img, t, (float2)(0.5f)) + read_imagef(img, (int2)(1, 2))
      + read_imagef(layers, s, (int4)(0)) + read_imagef(solid, s, (float4)(0));
}
kernel void wrong(read_only image2d_t img, write_only image2d_t out, read_write image2d_t both,
                  read_only image2d_depth_t depth, read_only image1d_buffer_t items, read_only image2d_msaa_t many) {
  float4 a = read_imagef(img, s, 1);
  float4 b = read_imagef(img, s, (uint2)(1));
  float4 c = read_imagef(out, s, (int2)(1));
  write_imagef(img, (int2)(0), a);
  write_imagef(out, (float2)(0), a);
  write_imagef(out, (int2)(0), (int4)(1));
  float4 d = read_imagef(both, s, (int2)(1)) + read_imagef(both, (int2)(1));
  float e = read_imagef(depth, s, (int2)(1));
  int4 f = read_imagei(depth, s, (int2)(1));
  float4 g = read_imagef(items, s, 1) + read_imagef(items, 1);
  float4 h = read_imagef(many, (int2)(1));
  int i = get_image_depth(img) + get_image_width(img) + get_image_dim(items).x;
  right(img, out, img, s);
  read_only int j = i;
  image2d_t local_image;
}
struct holder { image2d_t img; };
image2d_t result(read_only image2d_t img) { return img; }
