//! Private arrays of constants become data of the module, and loads of known data become constants.
//!
//! In comes a function of a module, after mem2reg; out goes the same without the private arrays whose whole contents
//! are constants. Their loads read a global in constant memory. All work-items then share one table: a load at a
//! uniform index is one scalar load, and nothing is written. LLVM does the first half of this for an `alloca` that is
//! only copied from a constant (InstCombine, `isOnlyCopiedFromConstantMemory`), and for a global that is only written
//! once (GlobalOpt).
//!
//! ```text
//! float w[9] = { 1, 2, 1, … };                       global @k.const = { 1, 2, 1, … }
//! for (j…) s += w[j] * in[i + j];           ─▶       for (j…) s += k.const[j] * in[i + j];
//! ```
//!
//! An array qualifies if its address goes nowhere but into loads, stores, fills and copies; if all its writes are of
//! constants, at constant offsets, and in one block; and if every read comes after them: later in that block, or in a
//! block that it dominates. In a loop, each iteration writes the same again before it reads. Bytes that are read but
//! not written are zero, as in [`crate::mem2reg`].

use crate::util;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{
    Args, Block, Entity, Flags, FuncRef, Function, Global, GlobalLinkage, GlobalRef, Inst, Module, Op, Scalar, Space,
    Type, Value,
};
use rustc_hash::FxHashSet;

/// The most bytes of an array that becomes new data. Larger ones are rarely tables; and data of program scope is
/// limited.
const MAX_BYTES: u64 = 64 << 10;

/// Runs the pass on a function that has a body. Returns how many arrays became data, and loads constants.
pub fn run(module: &mut Module, f: FuncRef) -> usize {
    // Without either there is neither an array nor a load of known data, as in most functions.
    let is_alloca = |op: &Op| matches!(op, Op::Alloca { .. } | Op::GlobalAddr(_));
    if !module.funcs[f].insts_in_layout().any(|(_, data)| is_alloca(&data.op)) {
        return 0;
    }
    // Uses in unreachable blocks would not be seen below.
    util::remove_unreachable(&mut module.funcs[f]);
    // The CFG serves both halves: replacing arrays changes instructions, and no edge.
    let cfg = Cfg::new(&module.funcs[f]);
    let arrays = find(module, &module.funcs[f], &cfg);
    let found = arrays.len();
    for array in arrays {
        let variable = match &module.funcs[f].insts[array.alloca].op {
            Op::Alloca { name, .. } => name.clone(),
            _ => None,
        };
        let name = variable.as_ref().map_or("const", |name| name.as_str());
        let g = array.source.unwrap_or_else(|| data(module, f, name, (array.size, array.align), &array.bytes));
        replace(&mut module.funcs[f], &array, g);
    }
    // After the arrays: a load at a constant offset in one of them reads known data by now.
    found + fold_loads(module, f, &cfg)
}

/// An instruction that writes to an array, or reads from it.
struct Access {
    block: Block,
    /// The position in the block.
    at: usize,
}

/// A private array.
struct Array {
    alloca: Inst,
    size: u64,
    align: u32,
    /// Whether nothing was found that it would have to stay for.
    qualifies: bool,
    writes: Vec<(Access, Inst)>,
    reads: Vec<Access>,
    /// All addresses into it.
    pointers: Vec<Value>,
    /// Its contents.
    bytes: Vec<u8>,
    /// The global that the whole array is a copy of.
    source: Option<GlobalRef>,
}

/// Where a pointer points.
#[derive(Clone, Copy)]
enum Origin {
    Array(usize),
    Global(GlobalRef),
}

/// The object that each pointer points into, and the offset if it is known.
type Origins = Vec<Option<(Origin, Option<u64>)>>;

/// The arrays that qualify, with their contents.
fn find(module: &Module, func: &Function, cfg: &Cfg) -> Vec<Array> {
    let mut arrays: Vec<Array> = Vec::new();
    let mut origins: Origins = vec![None; func.values.len()];
    // In reverse postorder, each pointer has its origin before its uses are looked at.
    for &b in cfg.rpo() {
        for (at, &i) in func.blocks[b].insts.iter().enumerate() {
            look_at(func, i, Access { block: b, at }, &mut arrays, &mut origins);
        }
        // An address that is passed to a block parameter is not followed.
        func.blocks[b].term.for_each_use(|v| disqualify(v, &mut arrays, &origins));
    }
    let dom = DomTree::new(func, cfg);
    arrays.retain_mut(|array| {
        array.qualifies && is_written_before_read(array, &dom) && fill(module, func, &origins, array).is_some()
    });
    arrays
}

/// Its address goes where this pass does not follow it.
fn disqualify(v: Value, arrays: &mut [Array], origins: &Origins) {
    if let Some((Origin::Array(k), _)) = origins[v.index()] {
        arrays[k].qualifies = false;
    }
}

/// Records what an instruction does to arrays.
fn look_at(func: &Function, i: Inst, access: Access, arrays: &mut Vec<Array>, origins: &mut Origins) {
    let data = &func.insts[i];
    match (&data.op, data.result) {
        (&Op::Alloca { size, align, .. }, Some(r)) => {
            origins[r.index()] = Some((Origin::Array(arrays.len()), Some(0)));
            arrays.push(Array {
                alloca: i,
                size,
                align,
                qualifies: true,
                writes: Vec::new(),
                reads: Vec::new(),
                pointers: vec![r],
                bytes: Vec::new(),
                source: None,
            });
            return;
        }
        (&Op::GlobalAddr(g), Some(r)) => {
            origins[r.index()] = Some((Origin::Global(g), Some(0)));
            return;
        }
        _ => {}
    }
    let array = |v: Value| match origins[v.index()] {
        Some((Origin::Array(k), offset)) => Some((k, offset)),
        _ => None,
    };
    let plain = !data.flags.contains(Flags::VOLATILE);
    match (&data.op, data.result) {
        (Op::PtrAdd, Some(r)) => {
            let Some((origin, offset)) = origins[data.args[0].index()] else { return };
            let by = func.const_bits(data.args[1]);
            let offset = offset.zip(by).map(|(offset, by)| offset.wrapping_add(by));
            origins[r.index()] = Some((origin, offset));
            if let Origin::Array(k) = origin {
                arrays[k].pointers.push(r);
            }
        }
        // A volatile access falls to the last arm: its array stays.
        (Op::Load { .. }, _) if plain => {
            if let Some((k, _)) = array(data.args[0]) {
                arrays[k].reads.push(access);
            }
        }
        // A store of an array's address into memory is no plain write: it goes to the last arm.
        (Op::Store { .. } | Op::MemSet { .. }, _) if plain && data.args.get(1).is_none_or(|&x| array(x).is_none()) => {
            if let Some((k, offset)) = array(data.args[0]) {
                arrays[k].qualifies &= offset.is_some();
                arrays[k].writes.push((access, i));
            }
        }
        (Op::MemCopy { .. }, _) if plain => {
            // The same instruction may be an access twice: it reads one array and writes another.
            let Access { block, at } = access;
            if let Some((k, _)) = array(data.args[1]) {
                arrays[k].reads.push(Access { block, at });
            }
            if let Some((k, offset)) = array(data.args[0]) {
                arrays[k].qualifies &= offset.is_some();
                arrays[k].writes.push((access, i));
            }
        }
        _ => data.args.iter().for_each(|&a| disqualify(a, arrays, origins)),
    }
}

/// Whether all writes are in one block, and before every read.
fn is_written_before_read(array: &Array, dom: &DomTree) -> bool {
    // An array that nobody reads is left to `dce`, which removes its stores.
    let Some((last, _)) = array.writes.last().filter(|_| !array.reads.is_empty()) else { return false };
    array.writes.iter().all(|(write, _)| write.block == last.block)
        && array.reads.iter().all(|read| match read.block == last.block {
            true => read.at > last.at,
            false => dom.dominates(last.block, read.block),
        })
}

/// Computes the contents of an array from its writes; none if one of them is of something else than constants.
fn fill(module: &Module, func: &Function, origins: &Origins, array: &mut Array) -> Option<()> {
    // A write beyond the array is undefined behaviour of the source; here it only must not panic.
    let range = |at: u64, size: u64, of: u64| {
        let end = at.checked_add(size).filter(|&end| end <= of)?;
        Some(at as usize..end as usize)
    };
    // A single copy of a whole constant needs no new data.
    if let [(_, only)] = array.writes[..] {
        array.source = whole_copy(module, func, origins, array, only);
        if array.source.is_some() {
            return Some(());
        }
    }
    if array.size > MAX_BYTES {
        return None;
    }
    let mut bytes = vec![0; array.size as usize];
    for &(_, i) in &array.writes {
        let data = &func.insts[i];
        let (_, at) = origins[data.args[0].index()]?;
        let to = |size: u64| range(at?, size, array.size);
        match data.op {
            Op::Store { .. } => {
                let value = constant(func, data.args[1])?;
                bytes[to(value.len() as u64)?].copy_from_slice(&value);
            }
            Op::MemSet { size, byte, .. } => bytes[to(size)?].fill(byte),
            Op::MemCopy { size, .. } => {
                let (Origin::Global(g), Some(from)) = origins[data.args[1].index()]? else { return None };
                bytes[to(size)?].copy_from_slice(&known(module, g, from, size)?);
            }
            _ => return None,
        }
    }
    array.bytes = bytes;
    Some(())
}

/// The constant global that a copy makes an array a whole copy of.
fn whole_copy(module: &Module, func: &Function, origins: &Origins, array: &Array, copy: Inst) -> Option<GlobalRef> {
    let data = &func.insts[copy];
    let Op::MemCopy { size, .. } = data.op else { return None };
    let ((Origin::Array(_), Some(0)), (Origin::Global(g), Some(0))) =
        (origins[data.args[0].index()]?, origins[data.args[1].index()]?)
    else {
        return None;
    };
    let global = &module.globals[g];
    // The accesses keep the alignment that they claim for the array, so the global must have at least that.
    let fits = size >= array.size && global.size >= array.size && global.align >= array.align;
    (fits && global.space == Space::Constant).then_some(g)
}

/// The bytes of a constant as they are in memory.
pub(crate) fn constant(func: &Function, v: Value) -> Option<Vec<u8>> {
    let ty = func.ty(v);
    // The address of another object is no number before linking, and a truth value has no size in memory.
    if ty.is_ptr() || ty.scalar == Scalar::I1 {
        return None;
    }
    let width = ty.scalar.bytes() as usize;
    let lane = |v: Value| func.const_bits(v).map(|bits| bits.to_le_bytes()[..width].to_vec());
    if let Some(bytes) = lane(v) {
        return Some(bytes.repeat(usize::from(ty.lanes)));
    }
    let data = &func.insts[func.def_inst(v)?];
    match data.op {
        Op::Build => Some(data.args.iter().map(|&a| lane(a)).collect::<Option<Vec<_>>>()?.concat()),
        Op::Splat => Some(lane(data.args[0])?.repeat(usize::from(ty.lanes))),
        _ => None,
    }
}

/// Bytes of constant data; none if they are not known here, or are addresses.
fn known(module: &Module, g: GlobalRef, offset: u64, size: u64) -> Option<Vec<u8>> {
    let global = &module.globals[g];
    let end = offset.checked_add(size).filter(|&end| end <= global.size)?;
    let defined = global.space == Space::Constant && global.linkage != GlobalLinkage::Import;
    // The address of another global is not known before linking; a relocation has 8 bytes.
    if !defined || global.relocs.iter().any(|r| r.offset < end && offset < r.offset + 8) {
        return None;
    }
    // `init` may be shorter than the global: the bytes behind it are zeros, as in a section of zeros.
    let given = global.init.len() as u64;
    let mut bytes = global.init[offset.min(given) as usize..end.min(given) as usize].to_vec();
    bytes.resize(size as usize, 0);
    Some(bytes)
}

/// A global of constant data with these contents: one that is there already, or a new one of this name in the function.
pub(crate) fn data(module: &mut Module, f: FuncRef, name: &str, (size, align): (u64, u32), bytes: &[u8]) -> GlobalRef {
    // Trailing zeros are cut off, so that two tables are equal however many zeros were written, and `known` reads them
    // back.
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut global = Global {
        place: None,
        name: String::new(),
        linkage: GlobalLinkage::Internal,
        space: Space::Constant,
        size,
        align,
        init: bytes[..used].to_vec(),
        relocs: Vec::new(),
    };
    // Two functions with the same table share it.
    let same = |old: &Global| *old == Global { name: old.name.clone(), ..global.clone() };
    if let Some((g, _)) = module.globals.iter().find(|(_, old)| old.size == global.size && same(old)) {
        return g;
    }
    let func = &module.funcs[f].name;
    let names = std::iter::once(format!("{func}.{name}")).chain((1u32..).map(|n| format!("{func}.{name}.{n}")));
    let free = |name: &String| module.globals.iter().all(|(_, old)| old.name != *name);
    global.name = names.into_iter().find(free).unwrap_or_default();
    module.globals.push(global)
}

/// Lets the addresses into an array point into a global, and removes the writes.
fn replace(func: &mut Function, array: &Array, g: GlobalRef) {
    // The `alloca` itself becomes the address, so that the pointers computed from it need a new type only.
    func.insts[array.alloca].op = Op::GlobalAddr(g);
    for &p in &array.pointers {
        func.values[p].ty = Type::ptr(Space::Constant);
    }
    // `is_written_before_read` has seen to it that all writes are in one block.
    if let Some((Access { block, .. }, _)) = array.writes.first() {
        let written: FxHashSet<Inst> = array.writes.iter().map(|&(_, write)| write).collect();
        func.blocks[*block].insts.retain(|i| !written.contains(i));
    }
}

/// Loads at constant offsets in known data become constants. Returns how many.
fn fold_loads(module: &mut Module, f: FuncRef, cfg: &Cfg) -> usize {
    let mut folded = 0;
    let mut origins: Origins = vec![None; module.funcs[f].values.len()];
    for &b in cfg.rpo() {
        // The list is taken out, so that the constants of single lanes can be put before the instruction.
        for i in std::mem::take(&mut module.funcs[f].blocks[b].insts) {
            if let Some(lanes) = loaded(module, &module.funcs[f], i, &mut origins) {
                write_constant(&mut module.funcs[f], b, i, &lanes);
                folded += 1;
            }
            module.funcs[f].blocks[b].insts.push(i);
        }
    }
    folded
}

/// The lanes that an instruction loads, if they are known.
fn loaded(module: &Module, func: &Function, i: Inst, origins: &mut Origins) -> Option<Vec<u64>> {
    let data = &func.insts[i];
    let r = data.result?;
    match data.op {
        Op::GlobalAddr(g) => origins[r.index()] = Some((Origin::Global(g), Some(0))),
        Op::PtrAdd => {
            // An unknown offset ends the tracking: only loads at constant offsets fold.
            if let ((origin, Some(offset)), by) = (origins[data.args[0].index()]?, func.const_bits(data.args[1])?) {
                origins[r.index()] = Some((origin, Some(offset.wrapping_add(by))));
            }
        }
        Op::Load { .. } if !data.flags.contains(Flags::VOLATILE) => {
            let (Origin::Global(g), Some(offset)) = origins[data.args[0].index()]? else { return None };
            let ty = func.ty(r);
            let bytes = known(module, g, offset, u64::from(ty.bytes())).filter(|_| !ty.is_ptr())?;
            let lane = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            return Some(bytes.chunks(ty.scalar.bytes() as usize).map(lane).collect());
        }
        _ => {}
    }
    None
}

/// Makes an instruction, which is to be appended to a block, a constant of these lanes.
fn write_constant(func: &mut Function, b: Block, i: Inst, lanes: &[u64]) {
    let Some(r) = func.insts[i].result else { return };
    let ty = func.ty(r);
    let (op, args) = match lanes {
        // `Const` of a vector type has the same bits in all lanes.
        [first, rest @ ..] if rest.iter().all(|lane| lane == first) => (Op::Const(*first), Args::new()),
        _ => {
            let span = func.insts[i].span;
            let scalar = |&bits: &u64| {
                let lane =
                    func.make_inst(Op::Const(bits), Args::new(), Some(Type::scalar(ty.scalar)), Flags::empty(), span);
                func.blocks[b].insts.push(lane);
                func.insts[lane].result
            };
            (Op::Build, lanes.iter().filter_map(scalar).collect())
        }
    };
    let data = &mut func.insts[i];
    (data.op, data.args, data.flags) = (op, args, Flags::empty());
}

#[cfg(test)]
mod tests {
    use super::run;

    /// What becomes of a function `f` with the array `v0` of 16 bytes, `v1`: an offset in it that is not known, and
    /// `v2`: some number.
    fn changed(body: &str) -> (usize, String) {
        let text = format!(
            "global @data constant size 16 align 4 init x\"0100000002000000\"
             global external @there constant size 16 align 4 init x\"07\"
             global import @elsewhere constant size 16 align 4
             func internal @f(i64, i32, i1) -> i32 {{
             bb0(v1: i64, v2: i32, v3: i1):
                 v0: ptr<private> = alloca 16 align 4
                 v4: i64 = const 0x4
                 v5: i32 = const 0x5
                 v6: ptr<private> = ptradd v0, v4
                 v7: ptr<private> = ptradd v0, v1
                 v8: ptr<constant> = globaladdr @data
             {body}
             }}"
        );
        let mut module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let f = module.find("f").unwrap();
        assert_eq!(cloom_ir::verify(&module), []);
        let changes = run(&mut module, f);
        assert_eq!(cloom_ir::verify(&module), [], "{module}");
        (changes, module.to_string())
    }

    const READ: &str = "v20: i32 = load v7 align 4\n ret v20";

    #[test]
    fn an_array_of_constants_becomes_data() {
        let data = |init: &str| format!("global @f.const constant size 16 align 4 init x\"{init}\"");
        for (writes, init) in [
            ("store v6, v5 align 4", "0000000005"),
            ("memset 16 7 v0 align 4\n store v6, v5 align 4", "0707070705000000070707070707070707"),
            ("store v6, v5 align 4\n memset 8 0 v0 align 4", ""),
            ("memcopy 12 v6, v8 align 4\n store v0, v5 align 4", "050000000100000002"),
            ("v10: i32x4 = splat v5\n store v0, v10 align 4", "05000000050000000500000005"),
            ("v10: i32 = const 0x1\n v11: i32x2 = build v5, v10\n store v0, v11 align 4", "0500000001"),
        ] {
            let (changes, text) = changed(&format!("{writes}\n{READ}"));
            let expected = if init.is_empty() { "size 16 align 4".into() } else { data(&init[..init.len().min(32)]) };
            assert!(changes == 1 && text.contains(&expected), "{writes}\n{text}");
            assert!(!text.contains("alloca") && !text.contains("store"), "{writes}\n{text}");
        }
    }

    #[test]
    fn a_copy_of_data_is_that_data() {
        let (changes, text) = changed(&format!("memcopy 16 v0, v8 align 4\n{READ}"));
        assert!(changes == 1 && !text.contains("f.const") && !text.contains("memcopy"), "{text}");
    }

    #[test]
    fn an_array_stays_if_its_contents_may_differ() {
        for body in [
            // Something else is written, or somewhere else.
            "store v6, v2 align 4\n v20: i32 = load v7 align 4\n ret v20",
            "store v7, v5 align 4\n v20: i32 = load v7 align 4\n ret v20",
            "store volatile v6, v5 align 4\n v20: i32 = load v7 align 4\n ret v20",
            // Read before it is written.
            "v20: i32 = load v7 align 4\n store v6, v5 align 4\n ret v20",
            "v19: i32 = load v7 align 4\n store v6, v5 align 4\n v20: i32 = load v7 align 4\n ret v20",
            "br v3, bb1, bb2\n bb1:\n store v6, v5 align 4\n jump bb2\n bb2:\n v20: i32 = load v7 align 4\n ret v20",
            // Written in two places.
            "store v6, v5 align 4\n br v3, bb1, bb2\n bb1:\n store v0, v5 align 4\n jump bb2\n bb2:
             v20: i32 = load v7 align 4\n ret v20",
            // In a loop, read before the next iteration writes it.
            "store v0, v5 align 4\n jump bb1\n bb1:\n v19: i32 = load v0 align 4\n v18: i32 = load v7 align 4
             store v6, v5 align 4\n br v3, bb1, bb2\n bb2:\n ret v18",
            // Its address goes elsewhere.
            "store v6, v5 align 4\n v9: ptr<private> = select v3, v6, v0\n v20: i32 = load v9 align 4\n ret v20",
            "store v6, v5 align 4\n v20: i32 = atomic_load relaxed group v6\n ret v20",
            // The data is not known here.
            "v9: ptr<constant> = globaladdr @elsewhere\n memcopy 8 v6, v9 align 4
             v20: i32 = load v7 align 4\n ret v20",
            // It writes beyond its end.
            "memcopy 16 v6, v8 align 4\n v20: i32 = load v7 align 4\n ret v20",
        ] {
            let (changes, text) = changed(body);
            assert!(changes == 0 && text.contains("alloca"), "{body}\n{text}");
        }
    }

    #[test]
    fn a_loop_that_writes_first_may_read() {
        let (changes, text) = changed(
            "jump bb1\n bb1:\n store v6, v5 align 4\n v20: i32 = load v7 align 4\n jump bb2
             bb2:\n v21: i32 = load v7 align 4\n br v3, bb1, bb3\n bb3:\n ret v21",
        );
        assert!(changes == 1 && !text.contains("alloca"), "{text}");
    }

    #[test]
    fn loads_of_known_data_are_constants() {
        let load = |from: &str, at: u64, ty: &str| {
            changed(&format!(
                "v9: ptr<constant> = globaladdr @{from}\n v10: i64 = const {at:#x}\n v11: ptr<constant> = ptradd v9, v10
                 v20: {ty} = load v11 align 1\n ret v2"
            ))
        };
        for (from, at, ty, want) in [
            ("data", 0, "i32", "i32 = const 0x1"),
            ("data", 3, "i16", "i16 = const 0x200"),
            ("data", 12, "f32", "f32 = const 0x0"),
            ("data", 0, "i32x4", "i32x4 = build"),
            ("data", 8, "i32x2", "i32x2 = const 0x0"),
            ("there", 0, "i64", "i64 = const 0x7"),
        ] {
            let (changes, text) = load(from, at, ty);
            assert!(changes == 1 && text.contains(want), "{from} {at} {ty}\n{text}");
        }
        for (from, at, ty) in [("data", 13, "i32"), ("data", u64::MAX, "i32"), ("elsewhere", 0, "i32")] {
            assert_eq!(load(from, at, ty).0, 0, "{from} {at} {ty}");
        }
    }
}
