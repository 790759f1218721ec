//! Prints how many instructions a second the interpreter runs; asserts nothing about it, because machines differ.

use cloom_interp::{Arg, Machine, NdRange, Options, Program};

#[test]
fn a_million_rounds_end() {
    let text = "func external @k(ptr<global>) kernel { param \"p\" \"int*\" global size 8 align 8 } {
        bb0(v0: ptr<global>):
            v1: i32 = const 0x0
            v2: i32 = const 0x1
            v3: i32 = const 0xf4240
            jump bb1(v1, v2)
        bb1(v4: i32, v5: i32):
            v6: i32 = mul v5, v3
            v7: i32 = add v6, v2
            v8: i32 = xor v7, v4
            v9: i32 = lshr v8, v2
            v10: i32 = add v9, v4
            v11: i32 = add v4, v2
            store v0, v10 align 4
            v12: i32 = load v0 align 4
            v13: i1 = icmp ult v11, v3
            br v13, bb1(v11, v12), bb2
        bb2:
            ret }";
    let program = Program::new(cloom_ir::parse(text).unwrap()).unwrap();
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let p = machine.buffer(&[0; 4]).unwrap();
    let start = std::time::Instant::now();
    let kernel = program.module.kernels().next().unwrap();
    machine.run_kernel(kernel, &NdRange::linear(1, 1), &[Arg::Buffer(p)], &mut ()).unwrap();
    println!("{:.0} million instructions a second", 10.0 / start.elapsed().as_secs_f64());
    // The sequence, computed independently.
    let x = (0..1_000_000u32).fold(1u32, |x, i| ((x.wrapping_mul(1_000_000).wrapping_add(1) ^ i) >> 1).wrapping_add(i));
    assert_eq!(machine.memory.read(p, 4).unwrap().0, x.to_le_bytes());
}
