//! Images in the code of a GPU: specialised on a format, an element is one access, whatever its size.

use cloom_caps::image::{ImageFormat, channel, formats, order};
use cloom_compiler::{ArgState, Compiler, Config, Source, Variant};
use cloom_target::Target;

/// The letters of the functions that access elements of a format.
fn letters(format: ImageFormat) -> &'static str {
    match format.channel_type {
        channel::SIGNED_INT8 | channel::SIGNED_INT16 | channel::SIGNED_INT32 => "i",
        channel::UNSIGNED_INT8
        | channel::UNSIGNED_INT16
        | channel::UNSIGNED_INT32
        | channel::UNSIGNED_INT10X6
        | channel::UNSIGNED_INT12X4
        | channel::UNSIGNED_INT14X2 => "ui",
        _ => "f",
    }
}

/// What is left of a linear filter is the instructions that sample, and what they need of the descriptor.
#[test]
fn a_texture_unit_filters() {
    let compiler = Compiler::new(Config::default());
    let target = Target::gpu("sm_90").unwrap();
    for (kind, place, samples) in [
        ("image1d_t", "at.x", 1),
        ("image1d_array_t", "at.xy", 1),
        ("image2d_t", "at.xy", 1),
        ("image2d_array_t", "at", 1),
        ("image3d_t", "at", 2),
    ] {
        let source = format!(
            "constant sampler_t S = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
             kernel void sample(read_only {kind} from, global float4 *to, float4 at)
             {{
                 to[get_global_id(0)] = read_imagef(from, S, {place});
             }}"
        );
        let source = Source { name: "sample.cl", text: source.as_bytes() };
        let program = compiler.build(&source, "-cl-std=CL3.0", &target).result.unwrap_or_else(|_| panic!("{kind}"));
        for (has_texture, channel_type) in
            [(false, channel::UNORM_INT8), (true, channel::UNORM_INT8), (true, channel::HALF_FLOAT)]
        {
            let order = order::RGBA;
            let is_sampled = has_texture && channel_type == channel::UNORM_INT8;
            let image = ArgState::Image { order, channel_type, is_large: false, is_column: false, has_texture };
            let executable = compiler.executable(&program, &target).specialised(vec![(0, image)]);
            let built = executable.kernel("sample", Variant::Vector).unwrap();
            let code = String::from_utf8_lossy(&built.artifact.code);
            let loads = code.lines().filter(|line| line.contains("ld.global") && !line.contains(".nc")).count();
            let found = code.matches("tex.2d.v4.f32.f32").count();
            assert_eq!(found, if is_sampled { samples } else { 0 }, "{kind}\n{code}");
            assert_eq!(loads == 0, is_sampled, "{kind}\n{code}");
        }
    }
}

#[test]
fn an_element_of_each_format_is_one_access() {
    let compiler = Compiler::new(Config::default());
    let target = Target::gpu("sm_90").unwrap();
    for format in formats() {
        let kind = if format.order == order::DEPTH { "image2d_depth_t" } else { "image2d_t" };
        let letters = letters(format);
        let source = format!(
            "kernel void copy(read_only {kind} from, write_only {kind} to)
             {{
                 int2 p = (int2)(get_global_id(0), get_global_id(1));
                 write_image{letters}(to, p, read_image{letters}(from, p));
             }}"
        );
        let source = Source { name: "copy.cl", text: source.as_bytes() };
        let built = compiler.build(&source, "-cl-std=CL3.0", &target);
        let program = built.result.unwrap_or_else(|_| panic!("{format:?}\n{}", built.log));
        let ImageFormat { order, channel_type } = format;
        let image = ArgState::Image { order, channel_type, is_large: false, is_column: false, has_texture: false };
        let executable = compiler.executable(&program, &target).specialised(vec![(0, image), (1, image)]);
        let built = executable.kernel("copy", Variant::Vector).unwrap();
        let code = String::from_utf8_lossy(&built.artifact.code);
        // What is read of the descriptors never changes, and is read so.
        let loads = code.lines().filter(|line| line.contains("ld.global") && !line.contains(".nc"));
        let stores = code.lines().filter(|line| line.contains("st.global"));
        assert_eq!((loads.count(), stores.count()), (1, 1), "{format:?}\n{code}");
    }
}
