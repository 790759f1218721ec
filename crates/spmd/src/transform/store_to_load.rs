//! Loop-carried store-to-load forwarding: elements of private arrays that an iteration stores and the next one loads.
//!
//! In comes the analysed function of one work-item; out goes, if it has such loops, one in which these elements are
//! block parameters of the loop.
//!
//! ```c
//! for (int j = 1; j <= n; j++)
//!     row[j] = max(row[j], row[j - 1]);   // row: a private array; row[j - 1] becomes a parameter
//! ```
//!
//! Otherwise each iteration waits for store-to-load forwarding in the processor, several times as long as it takes to
//! compute. (LLVM's scalar replacement sees such pairs in a scalar loop, but not where stores are masked.)
//!
//! A load forms a pair with a store if its address in the next iteration is that of the store, which is a comparison
//! of affine forms ([`cloom_ir::affine`]). The loop is a header and a body, has one store to that array, and touches
//! private memory in no other way than by loads and stores whose arrays are known. What the first iteration loads is
//! loaded before the loop, also if no iteration comes: it must be seen to lie in the array.

use crate::analysis::input::{FunctionContext, Rewrite, VectorInput};
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::loops::Loop;
use cloom_ir::{Block, Builder, Flags, Function, Inst, Op, Space, Term, Value};
use rustc_hash::FxHashMap;

/// The function with such loops changed, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, _: &FunctionContext<'_>) -> Option<Rewrite> {
    let loops = item.loops.loops.iter().enumerate();
    let candidates: Vec<Candidate> = loops.filter_map(|(number, l)| Candidate::find(item, number, l)).collect();
    if candidates.is_empty() {
        return None;
    }
    // Without assumptions: a wrong form would be wrong code here.
    let affine = item.affine(Facts::default());
    let pairs: Vec<Pair> = candidates.iter().flat_map(|c| c.pairs(&item.func, &affine)).collect();
    if pairs.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    let spans = pairs.iter().map(|p| func.insts[p.load].span).collect();
    // What is stored may have been loaded by a pair that is written already.
    let mut renamed = FxHashMap::default();
    for p in &pairs {
        p.write(&mut func, &mut renamed);
    }
    Some(Rewrite::of(item, func, spans))
}

/// A load that reads what a store wrote an iteration ago.
struct Pair {
    header: Block,
    body: Block,
    before: Block,
    load: Inst,
    stored: Value,
    /// What the first iteration loads: the array, and the offset in bytes.
    array: Value,
    offset: u64,
}

impl Pair {
    fn write(&self, func: &mut Function, renamed: &mut FxHashMap<Value, Value>) {
        let data = func.insts[self.load].clone();
        let (Op::Load { align }, Some(result)) = (data.op, data.result) else { return };
        let ty = func.ty(result);
        let mut b = Builder::new(func, self.before);
        b.span = data.span;
        let p = b.ptr_offset(self.array, self.offset);
        let first = b.load(ty, p, align, data.flags);
        let carried = func.add_block_param(self.header, ty);
        // `a[j] = a[j - 1]`: the value that is stored is the load of another pair.
        let stored = renamed.get(&self.stored).copied().unwrap_or(self.stored);
        renamed.insert(result, carried);
        for (from, value) in [(self.before, first), (self.body, stored)] {
            for e in func.blocks[from].term.edges_mut() {
                if e.block == self.header {
                    e.args.push(value);
                }
            }
        }
        // The store stays, as other loads may read it.
        func.blocks[self.body].insts.retain(|&i| i != self.load);
        func.map_uses(|v| if v == result { carried } else { v });
    }
}

/// A loop of a header that decides and one body, with a jump before it, that loads from private arrays and stores to
/// them.
struct Candidate {
    /// Index into the function's loops.
    number: usize,
    header: Block,
    body: Block,
    before: Block,
    /// Its loads from private memory that may be removed.
    loads: Vec<Inst>,
    /// All its stores to private memory.
    stores: Vec<Inst>,
}

impl Candidate {
    fn find(item: &VectorInput, number: usize, l: &Loop) -> Option<Candidate> {
        let func = &item.func;
        let (header, body) = l.header_and_body(func)?;
        // One edge into the loop, to pass the first element on.
        let mut entries = item.cfg.preds(header).iter().copied().filter(|&p| p != body);
        let (before, None) = (entries.next()?, entries.next()) else { return None };
        if !matches!(func.blocks[before].term, Term::Jump(_)) || !func.blocks[body].params.is_empty() {
            return None;
        }
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        for (b, &i) in [header, body].into_iter().flat_map(|b| func.blocks[b].insts.iter().map(move |i| (b, i))) {
            let data = &func.insts[i];
            let space = data.args.first().and_then(|&p| func.ty(p).space());
            match data.op {
                Op::Store { .. } => match space {
                    Some(Space::Private) => stores.push(i),
                    // Stores to these cannot be to a private array; through a generic pointer they could.
                    Some(Space::Global | Space::Local) => {}
                    _ => return None,
                },
                // A load of the header runs when the loop ends, too. It stays where it is.
                Op::Load { .. } if b == header || data.flags.contains(Flags::VOLATILE) => {}
                Op::Load { .. } if space == Some(Space::Private) => loads.push(i),
                Op::Load { .. } => {}
                _ if data.op.is_pure() => {}
                _ => return None,
            }
        }
        let candidate = Candidate { number, header, body, before, loads, stores };
        (!candidate.loads.is_empty() && !candidate.stores.is_empty()).then_some(candidate)
    }

    fn pairs(&self, func: &Function, affine: &Affine<'_>) -> Vec<Pair> {
        let arrays = self.stores.iter().map(|&i| Some((i, array_of(func, affine, func.insts[i].args[0])?)));
        // A store to an unknown array may be to any.
        let Some(stores) = arrays.collect::<Option<Vec<(Inst, Value)>>>() else { return Vec::new() };
        self.loads.iter().filter_map(|&i| self.pair(func, affine, i, &stores)).collect()
    }

    fn pair(&self, func: &Function, affine: &Affine<'_>, load: Inst, stores: &[(Inst, Value)]) -> Option<Pair> {
        let p = func.insts[load].args[0];
        let ty = func.ty(func.insts[load].result?);
        let array = array_of(func, affine, p)?;
        let mut own = stores.iter().filter(|&&(_, to)| to == array).map(|&(i, _)| &func.insts[i]);
        // A second store to the array might be to the same element.
        let (store, None) = (own.next()?, own.next()) else { return None };
        let stored = store.args[1];
        if func.ty(stored) != ty || store.flags.contains(Flags::VOLATILE) {
            return None;
        }
        // The forms hold for iterations that run the body, where the no-wrap flags of its instructions are promises.
        let is_stored = affine.next(self.number, p)? == affine.form(store.args[0], Ext::Own);
        // Elements that overlap are changed twice.
        let is_apart = affine.const_slope(self.number, p)?.unsigned_abs() >= u64::from(ty.bytes());
        if !is_stored || !is_apart {
            return None;
        }
        let first = affine.first(self.number, p)?.minus(&Form::symbol(64, Symbol::Value(array, Ext::Own)));
        // A constant, so that the load before the loop is seen to be inside the array: no iteration may come at all.
        let offset = u64::try_from(first.as_const()?).ok()?;
        let Op::Alloca { size, .. } = func.insts[func.def_inst(array)?].op else { return None };
        let is_inside = offset.checked_add(u64::from(ty.bytes())).is_some_and(|end| end <= size);
        let &Candidate { header, body, before, .. } = self;
        is_inside.then_some(Pair { header, body, before, load, stored, array, offset })
    }
}

/// The private array that an address is in, if it is known.
fn array_of(func: &Function, affine: &Affine<'_>, p: Value) -> Option<Value> {
    match affine.base(p)? {
        (Symbol::Value(v, _), _) if matches!(func.def_op(v), Some(Op::Alloca { .. })) => Some(v),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::VectorOptions;
    use cloom_passes::PassOptions;

    /// How many loads become values of `for (int j = start; j < n; j = next) row[…] = row[…] * j`, with an array of 64
    /// numbers v2 and counter v20. `body` computes the address v30 of the load, v31 of the store, and v32, the next j.
    fn forwarded(start: u32, body: &str) -> usize {
        let text = format!(
            "func external @k(ptr<global>, i32) kernel {{
  param \"out\" \"int*\" global size 8 align 8
  param \"n\" \"int\" value size 4 align 4
}} {{
bb0(v0: ptr<global>, v1: i32):
    v2: ptr<private> = alloca 256 align 4
    v3: i64 = query global_id 0
    v4: i64 = const 0x4
    v5: i64 = mul v3, v4
    v6: ptr<global> = ptradd v0, v5
    v7: i32 = load v6 align 4
    store v2, v7 align 4
    v8: i32 = const 0x1
    v9: i32 = const 0xffffffff
    v10: i32 = const 0x2
    v11: i32 = const {start}
    jump bb1(v11)
bb1(v20: i32):
    v21: i1 = icmp slt v20, v1
    br v21, bb2, bb3
bb2:
{body}
    v33: i32 = load v30 align 4
    v34: i32 = mul v33, v20
    store v31, v34 align 4
    jump bb1(v32)
bb3:
    v35: i32 = and v7, v10
    v36: i64 = sext v35
    v37: i64 = mul v36, v4
    v38: ptr<private> = ptradd v2, v37
    v39: i32 = load v38 align 4
    store v6, v39 align 4
    ret
}}"
        );
        let mut module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let kernel = module.kernels().next().unwrap();
        let target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().unwrap();
        let options = VectorOptions::with_lanes(8);
        let made = crate::work_group_function(&mut module, kernel, options, &target, &PassOptions::default()).unwrap();
        made.statistics.changes(crate::passes::STORE_TO_LOAD.name)
    }

    /// `&row[index]`, from numbers that begin with this one.
    fn element(address: &str, index: &str, first: usize) -> String {
        let [a, b] = [first, first + 1];
        format!(
            "    v{a}: i64 = sext {index}\n    v{b}: i64 = mul v{a}, v4\n    {address}: ptr<private> = ptradd v2, v{b}\n"
        )
    }

    /// The body whose load is of this index, and whose counter is increased by a value.
    fn body(flag: &str, index: &str, by: &str) -> String {
        format!(
            "    {index}\n{}{}    v32: i32 = add {flag} v20, {by}",
            element("v30", "v40", 50),
            element("v31", "v20", 52)
        )
    }

    #[test]
    fn what_was_stored_an_iteration_ago_is_not_loaded() {
        assert_eq!(forwarded(1, &body("nsw", "v40: i32 = add nsw v20, v9", "v8")), 1);
        assert_eq!(forwarded(1, &body("nsw", "v40: i32 = sub nsw v20, v8", "v8")), 1);
        assert_eq!(forwarded(2, &body("nsw", "v40: i32 = sub nsw v20, v10", "v10")), 1);
        // That the counter does not wrap is known of its bound.
        assert_eq!(forwarded(1, &body("", "v40: i32 = add nsw v20, v9", "v8")), 1);
        // Differently written, and deep.
        let line = |n: usize| {
            let (op, before) = (if n < 130 { "add" } else { "sub" }, if n == 100 { 20 } else { n - 1 });
            format!("v{n}: i32 = {op} nsw v{before}, v1\n    ")
        };
        let deep = (100..160).map(line).collect::<String>() + "v40: i32 = sub nsw v159, v8";
        assert_eq!(forwarded(1, &body("nsw", &deep, "v8")), 1);
        let shifted = body("nsw", "v40: i32 = sub nsw v20, v8", "v8").replace("mul v52, v4", "shl v52, v60");
        assert_eq!(forwarded(1, &("    v60: i64 = sext v10\n".to_string() + &shifted)), 1);
    }

    #[test]
    fn other_loads_stay() {
        // The index may wrap.
        assert_eq!(forwarded(1, &body("nsw", "v40: i32 = add v20, v9", "v8")), 0);
        // It was stored two iterations ago, or none, or never.
        assert_eq!(forwarded(2, &body("nsw", "v40: i32 = sub nsw v20, v10", "v8")), 0);
        assert_eq!(forwarded(2, &body("nsw", "v40: i32 = sub nsw v20, v8", "v10")), 0);
        assert_eq!(forwarded(1, &body("nsw", "v40: i32 = mul nsw v20, v8", "v8")), 0);
        assert_eq!(forwarded(1, &body("nsw", "v40: i32 = add nsw v20, v8", "v8")), 0);
        // The step differs from iteration to iteration.
        assert_eq!(forwarded(1, &body("nsw", "v40: i32 = sub nsw v20, v8", "v20")), 0);
        // The first one is before the array, or after it.
        assert_eq!(forwarded(0, &body("nsw", "v40: i32 = sub nsw v20, v8", "v8")), 0);
        assert_eq!(forwarded(65, &body("nsw", "v40: i32 = sub nsw v20, v8", "v8")), 0);
        assert_eq!(forwarded(64, &body("nsw", "v40: i32 = sub nsw v20, v8", "v8")), 1);
        // Another store may be to the same element.
        let twice = body("nsw", "v40: i32 = sub nsw v20, v8", "v8") + "\n    store v30, v8 align 4";
        assert_eq!(forwarded(1, &twice), 0);
    }
}
