//! The library's sources in OpenCL C, one family of functions a file; the compiler's build script compiles them in
//! library mode.

/// Name and text of every file of the library.
pub const FILES: &[(&str, &str)] = &[
    ("arith_f32.cl", include_str!("../lib/arith.cl")),
    ("arith_f64.cl", concat!("#define DOUBLE\n#line 1\n", include_str!("../lib/arith.cl"))),
    ("async_copy.cl", include_str!("../lib/async_copy.cl")),
    ("atrig_f32.cl", include_str!("../lib/atrig_f32.cl")),
    ("atrig_f64.cl", include_str!("../lib/atrig_f64.cl")),
    ("ballot.cl", include_str!("../lib/ballot.cl")),
    ("dot_product.cl", include_str!("../lib/dot_product.cl")),
    ("exp_f32.cl", include_str!("../lib/exp_f32.cl")),
    ("exp_f64.cl", include_str!("../lib/exp_f64.cl")),
    ("geometric.cl", include_str!("../lib/geometric.cl")),
    ("image_block.cl", include_str!("../lib/image_block.cl")),
    ("image_descriptor.cl", include_str!("../lib/image_descriptor.cl")),
    ("image_format.cl", include_str!("../lib/image_format.cl")),
    ("image_read.cl", include_str!("../lib/image_read.cl")),
    ("image_write.cl", include_str!("../lib/image_write.cl")),
    ("log_f32.cl", include_str!("../lib/log_f32.cl")),
    ("log_f64.cl", include_str!("../lib/log_f64.cl")),
    ("math_f16.cl", include_str!("../lib/math_f16.cl")),
    ("native_f32.cl", include_str!("../lib/native_f32.cl")),
    ("pipe.cl", include_str!("../lib/pipe.cl")),
    ("pow_f32.cl", include_str!("../lib/pow_f32.cl")),
    ("pow_f64.cl", include_str!("../lib/pow_f64.cl")),
    ("special_f32.cl", include_str!("../lib/special_f32.cl")),
    ("special_f64.cl", include_str!("../lib/special_f64.cl")),
    ("trig_f32.cl", include_str!("../lib/trig_f32.cl")),
    ("trig_f64.cl", include_str!("../lib/trig_f64.cl")),
    ("work_group.cl", include_str!("../lib/work_group.cl")),
];

/// The same of the files whose functions replace those of the same names on GPUs.
pub const GPU_FILES: &[(&str, &str)] = &[
    ("gpu_f32.cl", include_str!("../lib/gpu_f32.cl")),
    ("image_format.cl", concat!("#define ELEMENTS_ARE_ALIGNED\n#line 1\n", include_str!("../lib/image_format.cl"))),
    ("image_read.cl", concat!("#define HAS_TEXTURES\n#line 1\n", include_str!("../lib/image_read.cl"))),
    ("pipe.cl", concat!("#define WORK_ITEMS_PART\n#line 1\n", include_str!("../lib/pipe.cl"))),
    ("native_f32.cl", concat!("#define HAS_INSTRUCTIONS\n#line 1\n", include_str!("../lib/native_f32.cl"))),
    // A GPU has instructions for reciprocals 1 ULP off, where the nearest quotient takes a dozen, and for powers of
    // two and binary logarithms.
    ("pow_f32.cl", concat!("#define HAS_INSTRUCTIONS\n#line 1\n", include_str!("../lib/pow_f32.cl"))),
];
