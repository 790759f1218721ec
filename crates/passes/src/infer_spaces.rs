//! Address spaces of generic pointers: accesses through them become accesses to a named address space.
//!
//! In comes a function with pointers of [`Space::Generic`]; out goes the same function in which every generic pointer
//! whose sources agree is a pointer of their address space. OpenCL C 2.0 and 3.0 make a pointer generic wherever the
//! program names no address space, so nearly every helper function has some; after inlining nearly none is left.
//!
//! # How a generic pointer is represented
//!
//! On a CPU all memory is one, so a generic pointer is a plain address. A private array is laid out in units for all
//! lanes of a vector only if nothing but accesses use its address; a `spacecast` is another use, so that an array whose
//! address becomes generic is laid out by lane, one whole object after the other, and its address is plain too. Then
//! an access through a generic pointer is an access like any other, which may alias all named address spaces but
//! `constant`.
//!
//! `to_global` and its like must know where a pointer came from. Address ranges do not tell: a global buffer may be on
//! the stack of the host thread that helps with the launch, next to private memory. So the IR gives a generic pointer
//! a tag in its two highest bits ([`Space::tag`]), which no address has; `spacecast` adds it and takes it away,
//! `spaceof` reads it. Global memory has tag 0: what the host wrote into a list in shared virtual memory is a generic
//! pointer. Few programs ask, so the tag is only made where somebody does:
//!
//! ```text
//! no `spaceof` left   the tag cannot be observed: generic pointers stay, as plain addresses
//! some are left       [`lower`] makes every generic pointer an `i64` with its tag, and takes the tag away at accesses
//! ```
//!
//! A call that stays would need the tag on its other side, so functions with generic pointers are inlined where
//! somebody asks ([`crate::inline::must_inline`]).
//!
//! # The analysis
//!
//! That of LLVM's pass of this name: a data flow over the pointers of the function, through `ptradd`, `select` and
//! block parameters. It is optimistic: what is not known yet agrees with everything, so that the pointer that a loop
//! carries gets the space of its initial value. A null pointer is in every address space. Where a pointer that is now
//! named meets a generic one, it is cast there. As variables whose addresses were cast are values now, the pass runs
//! [`mem2reg`] and starts again: a pointer that was in such a variable may have become known.

use crate::mem2reg;
use crate::pass::{Pass, PassId, RunOthers, RunPass};
use crate::util::Renames;
use cloom_ir::{BinOp, Block, Builder, CastOp, Entity, Function, Inst, IntCc, Op, Scope, Space, Type, Value, ValueDef};

/// [`lower`] as a pass.
pub const LOWER_GENERIC: Pass = Pass {
    id: PassId::required(
        "lower-generic",
        "generic pointers with the tag of their address space, where it is asked for",
    ),
    run: RunPass::Alone(lower),
};

/// The pass.
pub const PASS: Pass = Pass::with("infer-spaces", "generic pointers get the address space of their sources", run);

/// How often variables become values in between: pointers to pointers need a round for each level.
const ROUNDS: usize = 8;

const GENERIC: Type = Type::ptr(Space::Generic);

/// What is known of where a generic pointer came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Nothing yet, or it is null.
    Unknown,
    /// From this address space.
    Named(Space),
    /// From several, or who knows.
    Any,
}

impl Origin {
    fn join(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Unknown, x) | (x, Origin::Unknown) => x,
            (x, y) if x == y => x,
            _ => Origin::Any,
        }
    }
}

/// Whether a function has generic pointers.
pub fn has_generic(func: &Function) -> bool {
    func.values.values().any(|v| v.ty.space() == Some(Space::Generic))
}

/// Runs the pass. Returns how many pointers got a named address space.
pub fn run(func: &mut Function, others: &RunOthers<'_>) -> usize {
    let mut changed = 0;
    for _ in 0..ROUNDS {
        if !has_generic(func) {
            break;
        }
        let resolved = round(func);
        if resolved == 0 {
            break;
        }
        changed += resolved;
        others(func, &[mem2reg::PASS]);
    }
    changed
}

fn round(func: &mut Function) -> usize {
    let origins = origins(func);
    let named = |v: Value| match origins[v.index()] {
        Origin::Named(space) => Some(space),
        _ => None,
    };
    // A cast whose uses want a generic pointer counts as named in each round. Without this test, every round would
    // replace such casts by new ones.
    let gain = gain(func, &named);
    if gain == 0 {
        return 0;
    }
    // All types first, since uses may precede definitions in the layout; then the uses get casts where they need
    // them.
    for v in func.values.keys() {
        if let Some(space) = named(v) {
            func.values[v].ty = Type::ptr(space);
        }
    }
    let mut renames = Renames::default();
    for b in func.layout.clone() {
        for i in std::mem::take(&mut func.blocks[b].insts) {
            rewrite(func, b, i, &origins, &mut renames);
        }
        let mut term = std::mem::replace(&mut func.blocks[b].term, cloom_ir::Term::Unreachable);
        let span = func.blocks[b].term_span;
        // The function's type says a generic pointer, and callers rely on it.
        if let cloom_ir::Term::Return(Some(v)) = &mut term
            && named(*v).is_some()
        {
            *v = coerce(func, b, *v, GENERIC);
        }
        for e in term.edges_mut() {
            for k in 0..e.args.len() {
                let want = func.ty(func.blocks[e.block].params[k]);
                if want.is_ptr() {
                    e.args[k] = coerce(func, b, e.args[k], want);
                }
            }
        }
        func.set_term(b, term, span);
    }
    renames.apply(func);
    gain
}

/// How many pointers get a named address space, and how many uses of casts need the cast no longer. Casts for uses that
/// want a generic pointer stay.
fn gain(func: &Function, named: &dyn Fn(Value) -> Option<Space>) -> usize {
    let mut gain = 0;
    for &b in &func.layout {
        gain += func.blocks[b].params.iter().filter(|&&p| named(p).is_some()).count();
        for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
            let is_cast = matches!(data.op, Op::Cast(_));
            gain += usize::from(!is_cast && data.result.is_some_and(|r| named(r).is_some()));
            let is_null = |v: Value| func.const_bits(v) == Some(0);
            gain += match data.op {
                Op::Icmp(_) => {
                    let (x, y) = (data.args[0], data.args[1]);
                    let agree = named(x) == named(y) || is_null(x) || is_null(y);
                    usize::from(agree && (named(x).is_some() || named(y).is_some()))
                }
                Op::Cast(_) => usize::from(named(data.args[0]).is_some()),
                ref op => {
                    let is_gain = |k: usize| is_address(op, k) && named(data.args[k]).is_some();
                    (0..data.args.len()).filter(|&k| is_gain(k)).count()
                }
            };
        }
    }
    gain
}

/// Puts an instruction back into its block, with operands of the types that it wants now.
fn rewrite(func: &mut Function, b: Block, i: Inst, origins: &[Origin], renames: &mut Renames) {
    let data = func.insts[i].clone();
    match data.op {
        Op::Cast(CastOp::Space) if data.result.is_some_and(|r| func.ty(r) == func.ty(data.args[0])) => {
            // To generic, as it was.
            if let Some(r) = data.result {
                renames.set(r, data.args[0]);
            }
            return;
        }
        Op::Cast(CastOp::SpaceOf) if func.ty(data.args[0]) != GENERIC => {
            let tag = func.ty(data.args[0]).space().map_or(0, Space::tag);
            // The tag is known now. This is what makes `to_global` and its like a constant condition after inlining.
            func.insts[i].op = Op::Const(tag);
            func.insts[i].args.clear();
        }
        Op::Cast(_) | Op::PtrAdd => {}
        Op::Select => {
            if let Some(want) = data.result.map(|r| func.ty(r)).filter(|ty| ty.is_ptr()) {
                for k in 1..3 {
                    func.insts[i].args[k] = coerce(func, b, data.args[k], want);
                }
            }
        }
        Op::Icmp(_) if func.ty(data.args[0]).is_ptr() => {
            let (x, y) = (data.args[0], data.args[1]);
            let (from, to) = (func.ty(x), func.ty(y));
            let want = match (from == to, func.const_bits(x), func.const_bits(y)) {
                (true, ..) => from,
                // A null pointer compares in whatever space the other operand has. Two different named spaces compare
                // as generic pointers.
                (false, Some(0), _) => to,
                (false, _, Some(0)) => from,
                _ => GENERIC,
            };
            for k in 0..2 {
                func.insts[i].args[k] = coerce(func, b, data.args[k], want);
            }
        }
        _ => {
            for (k, &a) in data.args.iter().enumerate() {
                // The type of the operand is a named one by now. Whatever is no access still takes a generic pointer.
                let was_generic = matches!(origins.get(a.index()), Some(Origin::Named(_)));
                if was_generic && !is_address(&data.op, k) {
                    func.insts[i].args[k] = coerce(func, b, a, GENERIC);
                }
            }
            // Only the group sees local memory, as the front end has it where the address space is written.
            let is_local = data.args.first().is_some_and(|&p| func.ty(p) == Type::ptr(Space::Local));
            match &mut func.insts[i].op {
                Op::AtomicRmw { scope, .. }
                | Op::AtomicCmpXchg { scope, .. }
                | Op::AtomicLoad { scope, .. }
                | Op::AtomicStore { scope, .. }
                    if is_local && *scope > Scope::Group =>
                {
                    *scope = Scope::Group;
                }
                _ => {}
            }
        }
    }
    func.blocks[b].insts.push(i);
}

/// A pointer as one of another type: the instruction for that goes to the end of the block.
fn coerce(func: &mut Function, b: Block, v: Value, want: Type) -> Value {
    if func.ty(v) == want {
        return v;
    }
    let null = func.const_bits(v) == Some(0);
    let mut builder = Builder::new(func, b);
    // A null pointer gets a constant of the other type instead of a cast, so that later comparisons still see the null.
    if null { builder.iconst(want, 0) } else { builder.cast(CastOp::Space, v, want) }
}

/// Whether an operand is the address of an access: of any address space.
fn is_address(op: &Op, k: usize) -> bool {
    match op {
        Op::MemCopy { .. } => k < 2,
        Op::Load { .. }
        | Op::Store { .. }
        | Op::MaskedLoad { .. }
        | Op::MaskedStore { .. }
        | Op::Gather { .. }
        | Op::Scatter { .. }
        | Op::MemSet { .. }
        | Op::Prefetch
        | Op::Mark(_)
        | Op::AtomicRmw { .. }
        | Op::AtomicCmpXchg { .. }
        | Op::AtomicLoad { .. }
        | Op::AtomicStore { .. } => k == 0,
        _ => false,
    }
}

/// For each value, where it came from; of values that are no generic pointers, [`Origin::Any`].
fn origins(func: &Function) -> Vec<Origin> {
    // The parameters of the entry stay so: nobody knows where a caller's pointer came from.
    let mut origin = vec![Origin::Any; func.values.len()];
    let is_generic = |v: Value| func.ty(v) == GENERIC;
    for (_, data) in func.insts_in_layout() {
        let Some(r) = data.result.filter(|&r| is_generic(r)) else { continue };
        origin[r.index()] = match data.op {
            Op::Cast(CastOp::Space) => match func.ty(data.args[0]).space() {
                // A cast of a generic pointer to a generic one: the data flow below brings what is known of it.
                Some(Space::Generic) => Origin::Unknown,
                Some(space @ (Space::Private | Space::Local | Space::Global)) => Origin::Named(space),
                // There is no cast from `constant` to generic in OpenCL C (3.0, section 6.7.5).
                _ => Origin::Any,
            },
            Op::PtrAdd | Op::Select | Op::Const(0) => Origin::Unknown,
            _ => Origin::Any,
        };
    }
    for &b in func.layout.iter().filter(|&&b| b != func.entry()) {
        for &p in func.blocks[b].params.iter().filter(|&&p| is_generic(p)) {
            origin[p.index()] = Origin::Unknown;
        }
    }
    // Each value changes at most twice, from unknown to a space to any, so this ends.
    loop {
        let mut changed = false;
        let mut add = |origin: &mut Vec<Origin>, v: Value, new: Origin| {
            let joined = origin[v.index()].join(new);
            changed |= origin[v.index()] != joined;
            origin[v.index()] = joined;
        };
        for &b in &func.layout {
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                // `Any` is the top of the lattice. All values that are no generic pointers have it from the start, so
                // that this test skips them too.
                let Some(r) = data.result.filter(|r| origin[r.index()] != Origin::Any) else { continue };
                let of = |k: usize| origin[data.args[k].index()];
                let new = match data.op {
                    Op::PtrAdd => of(0),
                    Op::Cast(CastOp::Space) if is_generic(data.args[0]) => of(0),
                    Op::Select => of(1).join(of(2)),
                    _ => continue,
                };
                add(&mut origin, r, new);
            }
            for e in func.blocks[b].term.edges() {
                for (&arg, &p) in e.args.iter().zip(&func.blocks[e.block].params) {
                    if is_generic(p) {
                        let new = origin[arg.index()];
                        add(&mut origin, p, new);
                    }
                }
            }
        }
        if !changed {
            return origin;
        }
    }
}

/// Makes every generic pointer a number with its tag, if a `spaceof` is left. Returns how many operations changed. A
/// function with generic parameters stays as it is: it is inlined.
pub fn lower(func: &mut Function) -> usize {
    if func.params.contains(&GENERIC) || !func.insts_in_layout().any(|(_, data)| data.op == Op::Cast(CastOp::SpaceOf)) {
        return 0;
    }
    // Noted before any type changes: from here on, a tagged pointer and an ordinary `i64` have the same type.
    let tagged: Vec<bool> = func.values.values().map(|v| v.ty == GENERIC).collect();
    for (v, _) in tagged.iter().enumerate().filter(|t| *t.1) {
        func.values[Value::new(v)].ty = Type::I64;
    }
    let mut lowering = Lowering { func, tagged, renames: Renames::default(), changed: 0 };
    for b in lowering.func.layout.clone() {
        for i in std::mem::take(&mut lowering.func.blocks[b].insts) {
            lowering.inst(b, i);
        }
        // The return type of the function stays a pointer, so the caller gets the plain address.
        if let cloom_ir::Term::Return(Some(v)) = lowering.func.blocks[b].term
            && lowering.is_tagged(v)
        {
            let plain = lowering.plain(b, v);
            lowering.func.blocks[b].term = cloom_ir::Term::Return(Some(plain));
        }
    }
    let Lowering { func, renames, changed, .. } = lowering;
    renames.apply(func);
    changed
}

struct Lowering<'a> {
    func: &'a mut Function,
    /// The values that were generic pointers.
    tagged: Vec<bool>,
    renames: Renames,
    changed: usize,
}

impl Lowering<'_> {
    fn is_tagged(&self, v: Value) -> bool {
        self.tagged.get(v.index()) == Some(&true)
    }

    /// The address without the tag, as a number.
    fn address(&mut self, b: Block, v: Value) -> Value {
        let mut b = Builder::new(self.func, b);
        let mask = b.iconst(Type::I64, Space::ADDRESS_MASK);
        b.binary(BinOp::And, v, mask)
    }

    /// The pointer without the tag.
    fn plain(&mut self, b: Block, v: Value) -> Value {
        let address = self.address(b, v);
        Builder::new(self.func, b).cast(CastOp::IntToPtr, address, GENERIC)
    }

    /// Puts an instruction back into its block, on numbers.
    fn inst(&mut self, b: Block, i: Inst) {
        let data = self.func.insts[i].clone();
        let makes = data.result.filter(|&r| self.is_tagged(r));
        let uses = data.args.iter().any(|&a| self.is_tagged(a));
        if makes.is_none() && !uses {
            self.func.blocks[b].insts.push(i);
            return;
        }
        self.changed += 1;
        let first = data.args.first().copied();
        match (&data.op, first) {
            // A constant is the same number, with tag 0. A load through a named pointer reads the tag with the pointer,
            // as the store of the next arm writes it.
            (Op::Const(_) | Op::Select | Op::Load { .. }, _) if !first.is_some_and(|p| self.is_tagged(p)) => {}
            (Op::Store { .. }, Some(p)) if !self.is_tagged(p) => {}
            (Op::PtrAdd, _) => self.func.insts[i].op = Op::Binary(BinOp::Add),
            (Op::Cast(op), Some(x)) => match (op, makes) {
                (CastOp::SpaceOf, _) => {
                    let by = Builder::new(self.func, b).iconst(Type::I64, u64::from(Space::TAG_SHIFT));
                    self.func.insts[i].op = Op::Binary(BinOp::Lshr);
                    self.func.insts[i].args.push(by);
                }
                // From a named space: here the tag is made.
                (CastOp::Space, Some(r)) if !self.is_tagged(x) => {
                    let number = self.with_tag(b, x);
                    self.renames.set(r, number);
                    return;
                }
                // Generic as before, or an integer.
                (_, Some(r)) => {
                    self.renames.set(r, x);
                    return;
                }
                (CastOp::PtrToInt, None) => {
                    let mask = Builder::new(self.func, b).iconst(Type::I64, Space::ADDRESS_MASK);
                    self.func.insts[i].op = Op::Binary(BinOp::And);
                    self.func.insts[i].args.push(mask);
                }
                // To a named space: the tag goes, as accesses take plain addresses.
                (_, None) => {
                    self.func.insts[i].args[0] = self.address(b, x);
                    self.func.insts[i].op = Op::Cast(CastOp::IntToPtr);
                }
            },
            // Equality is that of addresses: a pointer that went through an integer has lost its tag, and must still
            // equal itself.
            (Op::Icmp(_), _) => {
                for k in 0..2 {
                    self.func.insts[i].args[k] = self.address(b, data.args[k]);
                }
            }
            // An access, or something that takes a pointer.
            _ => {
                for (k, &a) in data.args.iter().enumerate() {
                    // A pointer that is stored or selected keeps its tag; only the address of the access loses it.
                    let is_stored = matches!(data.op, Op::Store { .. } | Op::Select) && k > 0;
                    if self.is_tagged(a) && !is_stored {
                        self.func.insts[i].args[k] = self.plain(b, a);
                    }
                }
                if let Some(r) = makes.filter(|_| !matches!(data.op, Op::Load { .. } | Op::Select)) {
                    self.untag_result(b, i, r);
                    return;
                }
            }
        }
        self.func.blocks[b].insts.push(i);
    }

    /// What some other operation makes stays a pointer, which becomes a number behind it.
    fn untag_result(&mut self, b: Block, i: Inst, r: Value) {
        self.func.values[r].ty = GENERIC;
        self.func.blocks[b].insts.push(i);
        let number = Builder::new(self.func, b).cast(CastOp::PtrToInt, r, Type::I64);
        // The cast itself is not renamed: it is made of a value of its own.
        let inner = self.func.values.push(cloom_ir::ValueData { ty: GENERIC, def: ValueDef::Inst(i) });
        self.func.insts[i].result = Some(inner);
        if let Some(cast) = self.func.def_inst(number) {
            self.func.insts[cast].args[0] = inner;
        }
        self.func.values[r].ty = Type::I64;
        self.renames.set(r, number);
    }

    /// The number of a named pointer, with the tag of its address space unless it is null.
    fn with_tag(&mut self, b: Block, p: Value) -> Value {
        let space = self.func.ty(p).space().unwrap_or(Space::Global);
        let is_object = self.is_object(p);
        let mut b = Builder::new(self.func, b);
        let number = b.cast(CastOp::PtrToInt, p, Type::I64);
        // Global memory has tag 0: the address is the number.
        if space.tag() == 0 {
            return number;
        }
        let tag = b.iconst(Type::I64, space.tag() << Space::TAG_SHIFT);
        let with = b.binary(BinOp::Or, number, tag);
        if is_object {
            return with;
        }
        // With a tag, a null pointer would no longer be 0, and `p == NULL` would be false.
        let null = b.iconst(Type::I64, 0);
        let is_null = b.icmp(IntCc::Eq, number, null);
        b.select(is_null, null, with)
    }

    /// Whether a pointer is into a variable, and so not null.
    fn is_object(&self, mut p: Value) -> bool {
        while let Some(i) = self.func.def_inst(p) {
            match self.func.insts[i].op {
                Op::PtrAdd => p = self.func.insts[i].args[0],
                // An address in a variable is never 0, so that the test for null is saved.
                Op::Alloca { .. } | Op::GlobalAddr(_) => return true,
                _ => return false,
            }
        }
        false
    }
}
