//! Record stores: lanes that each write several fields of a record of their own.
//!
//! In comes an analysed function; out goes, if it has no loops and little but copies such records, how far they are
//! apart:
//!
//! ```c
//! out[i].position = in[i].position + step * in[i].velocity;     // records of 32 bytes
//! out[i].velocity = in[i].velocity;
//! ```
//!
//! A vector writes one field of all its lanes, and then the next one. Every cache line of its records is thus written
//! to as often as it has fields, and must stay in the cache meanwhile: the more lanes, the more lines. Lanes are loaded
//! and stored one by one, so that longer vectors save little. (Records of eight words, three of them updated, on
//! AVX-512: 1.1 to 1.5 ms with 32 lanes, 0.9 with 16, 0.47 with 4 or 8; 0.53 in scalar code.)

use crate::analysis::input::VectorInput;
use crate::analysis::shape::Shape;
use crate::analysis::write_only::base;
use cloom_ir::{InstData, Op, Space, Type, Value};

/// Strides of up to so many elements are covered by vector accesses ([`crate::emit::widen`]).
const MAX_COVERED: u64 = 4;

/// With more operations per access to a record, arithmetic takes most of the time.
const MAX_OPS_PER_ACCESS: usize = 6;

/// The distance of the records in bytes.
pub fn stride(item: &VectorInput) -> Option<u64> {
    let func = &item.func;
    if !item.loops.loops.is_empty() {
        return None;
    }
    let insts = || item.cfg.rpo().iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]);
    let accesses = || insts().filter_map(|data| Some((data, distance(item, data)?)));
    let stores = || accesses().filter(|(data, _)| matches!(data.op, Op::Store { .. }));
    let fields = |p: Value, by: u64| stores().filter(|s| s.1 == by && base(func, s.0.args[0]) == base(func, p)).count();
    // One field is one pass over the lines.
    let (_, by) = stores().find(|(data, by)| fields(data.args[0], *by) > 1)?;
    let is_varying = |data: &&InstData| data.result.is_some_and(|r| item.shapes.of(r) == Shape::Varying);
    let operations = insts().filter(is_varying).filter(|data| !matches!(data.op, Op::Load { .. })).count();
    (operations <= MAX_OPS_PER_ACCESS * accesses().count()).then_some(by)
}

/// The distance between lanes of an access to a buffer that is lane by lane.
fn distance(item: &VectorInput, data: &InstData) -> Option<u64> {
    let ty: Type = match data.op {
        Op::Load { .. } => item.func.ty(data.result?),
        Op::Store { .. } => item.func.ty(*data.args.get(1)?),
        _ => return None,
    };
    let p = data.args[0];
    let Shape::Strided { by, .. } = item.shapes.of(p) else { return None };
    let by = by.unsigned_abs();
    let is_apart = by > u64::from(ty.bytes()) && by > MAX_COVERED * u64::from(ty.scalar.bytes());
    (is_apart && item.func.ty(p).space() == Some(Space::Global)).then_some(by)
}

#[cfg(test)]
mod tests {
    use crate::VectorOptions;

    /// The number of lanes, on AVX-512, for a kernel that copies so many words of records of `bytes`, each added to
    /// itself so many times.
    fn lanes(bytes: u32, words: u32, additions: u32) -> u16 {
        let word = |w: u32| {
            let v = 100 * (w + 1);
            let sum = |n: u32| format!("    v{}: f32 = fadd v{}, v{1}\n", n + 1, n);
            let sums: String = (v + 3..v + 3 + additions).map(sum).collect();
            format!(
                "    v{v}: i64 = const {:#x}
    v{}: ptr<global> = ptradd v5, v{v}
    v{}: ptr<global> = ptradd v6, v{v}
    v{}: f32 = load v{} align 4
{sums}    store v{}, v{} align 4\n",
                4 * w,
                v + 1,
                v + 2,
                v + 3,
                v + 1,
                v + 2,
                v + 3 + additions
            )
        };
        let text = format!(
            "func external @k(ptr<global>, ptr<global>) kernel {{
  param \"in\" \"float*\" global size 8 align 8
  param \"out\" \"float*\" global size 8 align 8
}} {{
bb0(v0: ptr<global>, v1: ptr<global>):
    v2: i64 = query global_id 0
    v3: i64 = const {bytes:#x}
    v4: i64 = mul v2, v3
    v5: ptr<global> = ptradd v0, v4
    v6: ptr<global> = ptradd v1, v4
{}    ret
}}",
            (0..words).map(word).collect::<String>()
        );
        let mut module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let target = "x86_64-unknown-linux-gnu:x86-64-v4".parse().unwrap();
        let options = VectorOptions::default();
        crate::work_group_function(&mut module, kernel, options, &target, &Default::default()).unwrap().launch.lanes
    }

    #[test]
    fn records_that_are_written_field_by_field_have_few_lanes() {
        assert_eq!((lanes(20, 5, 1), lanes(32, 8, 1), lanes(64, 8, 1), lanes(256, 2, 1)), (8, 8, 4, 4));
        // Neighbours; pairs, which vector accesses cover; one field.
        assert_eq!((lanes(4, 1, 1), lanes(8, 2, 1), lanes(32, 1, 1)), (32, 32, 32));
    }

    #[test]
    fn arithmetic_on_records_has_full_vectors() {
        assert_eq!((lanes(32, 8, 10), lanes(32, 8, 20)), (8, 32));
    }
}
