//! A `switch` that only chooses constants becomes a load from a table, as LLVM's `SwitchToLookupTable` does it.
//!
//! In comes a function of a module, after empty blocks were removed; out goes the same where the edges of a `switch`
//! that lead to one block, with constants as arguments, are one edge whose arguments are loaded:
//!
//! ```text
//! switch v0 { 10: bb1(v5), 11: bb1(v6), …,       v9 = umin (sub v0, 10), 50
//!             else bb1(v7) }                ─▶    v10 = load (ptradd (globaladdr @f.const), (mul v9, 4))
//!                                                 jump bb1(v10)
//! ```
//!
//! The last element is that of all other values. Where these lead elsewhere, or other cases do, a branch comes before
//! the load, and a table of bytes says which values between the least and the greatest case have no element.
//!
//! LLVM's own pass comes too late: where work-items take different cases, the vectoriser makes a comparison, a mask and
//! a blend of each, and all later passes see the whole of it.

use crate::{const_arrays, util};
use cloom_ir::{
    BinOp, Block, Builder, CastOp, Edge, Flags, FuncRef, Function, GlobalRef, IntCc, Module, Scalar, Space, Span, Term,
    Type, Value,
};
use rustc_hash::FxHashMap;

/// The fewest cases: comparisons with fewer cost about as much as a gather.
const MIN_CASES: usize = 16;
/// The most elements of a table for each case.
const MAX_SPARSITY: u64 = 4;
/// The most bytes of a table.
const MAX_BYTES: u64 = 1 << 20;

/// What an argument of the edge to the common target is.
enum Argument {
    /// The same value on all edges.
    Same(Value),
    /// Loaded from a table with these elements, of which `None` is the other values'.
    Loaded(Type, FxHashMap<Option<u64>, Vec<u8>>),
}

/// The same with the data of its table.
enum Source {
    Same(Value),
    Loaded(Type, GlobalRef),
}

/// A `switch` that is rewritten.
struct Table {
    value: Value,
    /// Where the cases of the table lead, and with what.
    to: Block,
    args: Vec<Argument>,
    /// The least case of the table, as bits.
    first: u64,
    /// From the least case to the greatest: whether the table has it.
    present: Vec<bool>,
    /// The other cases, and where all other values lead. `None` if the table has all values.
    rest: Option<(Vec<(u64, Edge)>, Edge)>,
}

/// Runs the pass on a function that has a body. Returns how many it rewrote.
pub fn run(module: &mut Module, f: FuncRef) -> usize {
    share_returns(&mut module.funcs[f]);
    let mut changed = 0;
    let mut next = 0;
    // The cases that a table leaves are in a new block at the end.
    // The layout grows while it is walked, so that the rest of a large `switch` may become a second table.
    while let Some(&b) = module.funcs[f].layout.get(next) {
        if let Some(table) = find(&module.funcs[f], b) {
            rewrite(module, f, b, table);
            changed += 1;
        }
        next += 1;
    }
    changed
}

/// Lets edges of large switches to blocks that only return a value lead to one such block, whose parameter it is.
fn share_returns(func: &mut Function) {
    let returned = |func: &Function, to: Block| match func.blocks[to].term {
        Term::Return(v) if func.blocks[to].insts.is_empty() && func.blocks[to].params.is_empty() => v,
        _ => None,
    };
    let mut end = None;
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let Term::Switch { cases, .. } = &func.blocks[b].term else { continue };
        // `case 1: return 10; case 2: return 20; …` has a block for each case. With one block that returns its
        // parameter, the edges have one target and differ in their arguments, as a table needs it.
        if cases.iter().filter(|(_, e)| returned(func, e.block).is_some()).count() < MIN_CASES {
            continue;
        }
        // Taken out of the function, which is borrowed for the new block.
        let mut term = std::mem::replace(&mut func.blocks[b].term, Term::Unreachable);
        for e in term.edges_mut() {
            if let Some(v) = returned(func, e.block) {
                let to = *end.get_or_insert_with(|| {
                    let (end, ty) = (func.add_block(), func.ty(v));
                    let param = func.add_block_param(end, ty);
                    func.blocks[end].term = Term::Return(Some(param));
                    end
                });
                *e = Edge::new(to, [v]);
            }
        }
        func.blocks[b].term = term;
    }
    if end.is_some() {
        util::remove_unreachable(func);
    }
}

/// The table for the `switch` at the end of a block, if it is worth one.
fn find(func: &Function, b: Block) -> Option<Table> {
    let Term::Switch { value, cases, default } = &func.blocks[b].term else { return None };
    if cases.len() < MIN_CASES {
        return None;
    }
    // One table has one target. The target of most cases leaves the fewest cases to comparisons.
    let to = most_frequent(cases.iter().map(|(_, e)| e.block))?;
    let (mut taken, mut rest): (Vec<&(u64, Edge)>, Vec<_>) = cases.iter().partition(|(_, e)| e.block == to);
    let count = func.blocks[to].params.len();
    let first_args = &taken.first()?.1.args;
    // An argument that all edges share need not be a constant, and needs no table.
    let is_same: Vec<bool> = (0..count).map(|k| taken.iter().all(|(_, e)| e.args[k] == first_args[k])).collect();
    // The elements of an edge's loaded arguments, if all are constants.
    let elements = |e: &Edge| -> Option<Vec<Option<Vec<u8>>>> {
        (0..count).map(|k| if is_same[k] { Some(None) } else { element(func, e.args[k]).map(Some) }).collect()
    };
    // A case with an argument that is no constant, such as `case 3: return x;`, keeps its edge.
    taken.retain(|case| {
        let qualifies = elements(&case.1).is_some();
        if !qualifies {
            rest.push(case);
        }
        qualifies
    });
    if taken.len() < MIN_CASES {
        return None;
    }
    // Cases are bits; their distance is that of signed numbers, so that -1 and 0 are neighbours.
    let shift = 64 - func.ty(*value).scalar.bits();
    let signed = |bits: u64| ((bits << shift) as i64) >> shift;
    let least = taken.iter().map(|c| signed(c.0)).min()?;
    let greatest = taken.iter().map(|c| signed(c.0)).max()?;
    // As an unsigned number, since the distance of two numbers of 64 bits may not fit a signed one.
    let last = greatest.wrapping_sub(least) as u64;
    // A sparse table would be mostly gaps.
    if last / MAX_SPARSITY >= taken.len() as u64 {
        return None;
    }
    // All other values may take the table's last element only if they lead to the same block, and no case does
    // otherwise.
    let others = if default.block == to && (0..count).all(|k| !is_same[k] || default.args[k] == first_args[k]) {
        // A case of `rest` has no row of its own, so that it would read the element of all other values.
        elements(default).filter(|_| rest.is_empty())
    } else {
        None
    };
    let mut present = vec![false; last as usize + 1];
    let position = |bits: u64| signed(bits).wrapping_sub(least) as u64;
    let mut args: Vec<Argument> = (0..count)
        .map(|k| match is_same[k] {
            true => Argument::Same(first_args[k]),
            false => Argument::Loaded(func.ty(first_args[k]), FxHashMap::default()),
        })
        .collect();
    let rows = taken.iter().map(|(bits, e)| (Some(position(*bits)), elements(e)));
    // `None` as the position is the row of all other values, which `rewrite` puts at the end and into the gaps.
    for (at, row) in rows.chain([(None, others.clone())]) {
        if let Some(at) = at {
            present[at as usize] = true;
        }
        for (arg, element) in args.iter_mut().zip(row.into_iter().flatten()) {
            if let (Argument::Loaded(_, elements), Some(element)) = (arg, element) {
                elements.insert(at, element);
            }
        }
    }
    let is_small = |arg: &Argument| match arg {
        Argument::Same(_) => true,
        // `last + 1` elements of cases, and the one of all other values.
        Argument::Loaded(ty, _) => (last + 2) * u64::from(ty.bytes()) <= MAX_BYTES,
    };
    if !args.iter().all(is_small) || last >= MAX_BYTES {
        return None;
    }
    // The order of cases is that of the source again.
    rest.sort_by_key(|case| cases.iter().position(|c| c.0 == case.0));
    let rest = others.is_none().then(|| (rest.into_iter().cloned().collect(), default.clone()));
    Some(Table { value: *value, to, args, first: least as u64, present, rest })
}

/// The block that occurs most often; the first one of several.
fn most_frequent(blocks: impl Iterator<Item = Block> + Clone) -> Option<Block> {
    let mut counts: FxHashMap<Block, usize> = FxHashMap::default();
    for b in blocks.clone() {
        *counts.entry(b).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let mut blocks = blocks;
    blocks.find(|b| counts[b] == most)
}

/// The bytes of a constant in a table; of a truth value, one byte.
fn element(func: &Function, v: Value) -> Option<Vec<u8>> {
    match func.ty(v) {
        Type::I1 => Some(vec![func.const_bits(v)? as u8]),
        _ => const_arrays::constant(func, v),
    }
}

fn rewrite(module: &mut Module, f: FuncRef, b: Block, table: Table) {
    let Table { value, to, args, first, present, rest } = table;
    // All tables are made first: they borrow the module, and the builder below borrows the function.
    let span = module.funcs[f].blocks[b].term_span;
    let count = present.len() as u64;
    let has_gaps = present.contains(&false);
    // Where all other values share the target of the cases, a gap just holds their element, and no test is needed.
    let gaps = (rest.is_some() && has_gaps).then(|| {
        let bytes: Vec<u8> = present.iter().map(|&is| u8::from(is)).collect();
        const_arrays::data(module, f, "const", (count, 1), &bytes)
    });
    let sources: Vec<Source> = args
        .into_iter()
        .map(|arg| match arg {
            Argument::Same(v) => Source::Same(v),
            Argument::Loaded(ty, elements) => {
                let other = elements.get(&None).cloned().unwrap_or_else(|| vec![0; ty.bytes() as usize]);
                let at = |n: u64| elements.get(&Some(n)).unwrap_or(&other).iter().copied();
                let bytes: Vec<u8> = (0..count).flat_map(at).chain(other.iter().copied()).collect();
                Source::Loaded(
                    ty,
                    const_arrays::data(module, f, "const", (bytes.len() as u64, ty.scalar.bytes()), &bytes),
                )
            }
        })
        .collect();
    let func = &mut module.funcs[f];
    let mut builder = Builder::new(func, b);
    builder.span = span;
    let mut index = index(&mut builder, value, first);
    let ty = builder.ty(index);
    match rest {
        None => {
            // All values beyond the table take its last element.
            let last = builder.iconst(ty, count);
            index = builder.binary(BinOp::Umin, index, last);
        }
        Some((cases, default)) => {
            // Values without an element go to `other`, which keeps the default and the cases that have no row. First
            // the length of the table is tested, then the table of gaps, so that no load is out of bounds.
            let other = builder.func.add_block();
            let term = match cases.is_empty() {
                true => Term::Jump(default),
                false => Term::Switch { value, cases, default },
            };
            builder.func.set_term(other, term, span);
            let end = builder.iconst(ty, count);
            let inside = builder.icmp(IntCc::Ult, index, end);
            branch(&mut builder, inside, other, span);
            if let Some(gaps) = gaps {
                let found = load(&mut builder, gaps, Type::I8, index);
                let zero = builder.iconst(Type::I8, 0);
                let is_present = builder.icmp(IntCc::Ne, found, zero);
                branch(&mut builder, is_present, other, span);
            }
        }
    }
    let args: Vec<Value> = sources
        .into_iter()
        .map(|source| match source {
            Source::Same(v) => v,
            Source::Loaded(Type::I1, global) => {
                let byte = load(&mut builder, global, Type::I8, index);
                let zero = builder.iconst(Type::I8, 0);
                builder.icmp(IntCc::Ne, byte, zero)
            }
            Source::Loaded(ty, global) => load(&mut builder, global, ty, index),
        })
        .collect();
    // The branches have moved the builder on, from `b` to the block behind the last test.
    let at = builder.block;
    func.set_term(at, Term::Jump(Edge::new(to, args)), span);
}

/// How far a value is behind the first of a table, without a sign; so wide that the length of the table fits.
fn index(b: &mut Builder<'_>, value: Value, first: u64) -> Value {
    let ty = b.ty(value);
    let first = b.iconst(ty, first);
    let index = b.binary(BinOp::Sub, value, first);
    // For a `switch` over a `uchar` with all 256 cases, the length of the table is no number of 8 bits.
    if ty.scalar.bits() < 32 { b.cast(CastOp::Zext, index, Type::I32) } else { index }
}

/// Ends the block with a branch to `other` if the condition is false, and goes on in a new one.
fn branch(b: &mut Builder<'_>, cond: Value, other: Block, span: Span) {
    let (from, next) = (b.block, b.func.add_block());
    let (then, els) = (Edge::new(next, []), Edge::new(other, []));
    b.func.set_term(from, Term::Branch { cond, then, els }, span);
    b.switch_to(next);
}

/// Loads an element of a table.
fn load(b: &mut Builder<'_>, global: GlobalRef, ty: Type, index: Value) -> Value {
    let index = if b.ty(index).scalar == Scalar::I64 { index } else { b.cast(CastOp::Zext, index, Type::I64) };
    let size = b.iconst(Type::I64, u64::from(ty.bytes()));
    // The index is at most the length of the table here, by the minimum or by the branch, and a table has at most
    // `MAX_BYTES`, so the product does not wrap.
    let offset = b.binary_flags(BinOp::Mul, index, size, Flags::NSW);
    let base = b.global_addr(global, Space::Constant);
    let address = b.ptr_add(base, offset);
    b.load(ty, address, ty.scalar.bytes(), Flags::empty())
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::fmt::Write;

    /// What becomes of a function with constants `v1`, `v2` … of `i32` for each case, and whose parameters are `v0`, of
    /// type `ty`, and `v90: i32`. Cases and blocks are as given.
    fn changed(ty: &str, constants: u64, cases: &str, blocks: &str) -> (usize, String) {
        let mut text = format!("func internal @f({ty}, i32) -> i32 {{\nbb0(v0: {ty}, v90: i32):\n");
        for k in 1..=constants {
            let _ = writeln!(text, "    v{k}: i32 = const {:#x}", k * 100);
        }
        let _ = write!(text, "    switch v0 [{cases}], {blocks}\n}}");
        let mut module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let f = module.find("f").unwrap();
        assert_eq!(cloom_ir::verify(&module), []);
        let changes = run(&mut module, f);
        assert_eq!(cloom_ir::verify(&module), [], "{module}");
        (changes, module.to_string())
    }

    const JOIN: &str = "bb1(v90)\nbb1(v91: i32):\n    ret v91";

    fn cases(values: impl Iterator<Item = u64>, to: impl Fn(usize) -> String) -> String {
        values.enumerate().map(|(k, value)| format!("{value:#x}: {}", to(k + 1))).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_table_of_all_values_needs_no_branch() {
        let list = cases(5..25, |k| format!("bb1(v{k})"));
        let (changes, text) = changed("i32", 20, &list, &JOIN.replace("v90)", "v7)"));
        assert!(changes == 1 && text.contains("umin") && !text.contains("switch"), "{text}");
        assert!(!text.contains("br ") && text.contains("size 84 align 4"), "{text}");
    }

    #[test]
    fn other_values_and_gaps_go_where_they_went() {
        let list = cases((5..65).step_by(3), |k| format!("bb1(v{k})"));
        let (changes, text) = changed("i32", 20, &list, JOIN);
        assert!(changes == 1 && !text.contains("switch") && text.matches("br ").count() == 2, "{text}");
        // From -10 to 9, of a byte.
        let list = cases((246..256).chain(0..10), |k| format!("bb1(v{k})"));
        let (changes, text) = changed("i8", 20, &list, JOIN);
        assert!(changes == 1 && text.matches("br ").count() == 1 && text.contains("const 0xf6"), "{text}");
    }

    #[test]
    fn cases_that_do_more_stay() {
        let list = cases(5..25, |k| format!("bb1(v{k})")) + ", 0x3: bb2, 0x4: bb1(v90)";
        let (changes, text) = changed("i32", 20, &list, &format!("{JOIN}\nbb2:\n    ret v90"));
        assert!(changes == 1 && text.contains("switch v0 [0x3: bb2, 0x4: bb1(v1)]"), "{text}");
    }

    #[test]
    fn returned_constants_are_a_table_too() {
        let list = cases(0..20, |k| format!("bb{k}"));
        let blocks: String = (1..=20).map(|k| format!("\nbb{k}:\n    ret v{k}")).collect();
        let (changes, text) = changed("i32", 20, &list, &format!("bb21{blocks}\nbb21:\n    ret v90"));
        assert!(changes == 1 && !text.contains("switch") && text.matches("ret").count() <= 2, "{text}");
    }

    #[test]
    fn few_or_scattered_cases_stay() {
        for values in [(0..15).collect::<Vec<u64>>(), (0..20).map(|k| k * 1000).collect()] {
            let list = cases(values.into_iter(), |k| format!("bb1(v{k})"));
            assert_eq!(changed("i32", 20, &list, JOIN).0, 0, "{list}");
        }
        let list = cases([0, 1 << 63].into_iter().chain(100..120), |k| format!("bb1(v{k})"));
        assert_eq!(changed("i64", 22, &list, JOIN).0, 0);
        // What they choose is not constant.
        let list = cases(0..20, |k| if k % 2 == 0 { "bb1(v90)".into() } else { "bb1(v0)".into() });
        assert_eq!(changed("i32", 0, &list, JOIN).0, 0);
    }
}
