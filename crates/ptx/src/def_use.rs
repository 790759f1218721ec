//! Which registers each instruction of a function sets and reads, and where control goes.
//!
//! In: a function of a tree. Out: its instructions, in the order of the text, with numbers in place of the names of
//! registers and labels. The same name may mean two registers in two blocks `{ ... }`, so that an analysis of registers
//! must not compare names.

use crate::graph::{Exits, Graph};
use crate::scope::{Register, Scopes};
use crate::tree::{Arg, Base, Function, Inst, Statement};
use crate::{Literal, ParseError, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The most targets of all branches of a function together: each branch may name a table that is as long as the text.
pub const MAX_TARGETS: usize = 1 << 20;

/// The instructions of a function with resolved names.
#[derive(Clone, Debug)]
pub struct DefUse<'a, 't> {
    /// The instructions.
    pub code: Vec<Operation<'a, 't>>,
    /// All slots of registers are below this number.
    pub slots: u32,
    /// Registers of a floating-point type.
    pub floats: RegisterSet,
    /// Names, and prefixes of names, of registers that are declared in a block of the function.
    inner: FxHashSet<&'t str>,
}

/// An instruction with resolved names.
#[derive(Clone, Debug)]
pub struct Operation<'a, 't> {
    /// The instruction in the tree.
    pub inst: &'a Inst<'t>,
    /// Its position among the statements of the body.
    pub statement: usize,
    /// The first part of its opcode.
    pub name: &'a str,
    /// The register of its predicate.
    pub guard: Option<Register>,
    /// Its operands. The first one may be its result.
    pub operands: Operands<'t>,
    /// The positions that a branch may go to.
    pub targets: Vec<u32>,
}

/// The operands of an instruction. Most have three.
pub type Operands<'t> = SmallVec<[Operand<'t>; 3]>;

/// An operand with resolved names.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'t> {
    /// A register; of a negated predicate too.
    Register(Register),
    /// A special register, a variable, a function or a label.
    Name(&'t str),
    /// A constant.
    Literal(Literal),
    /// An address, with its base if that is a register.
    Address(Option<Register>),
    /// The parts of a vector, a list or a pair; a texture and its coordinates.
    Group(Vec<Operand<'t>>),
}

impl Operand<'_> {
    /// The register, if the operand is one.
    pub fn register(&self) -> Option<Register> {
        match self {
            Operand::Register(register) => Some(*register),
            _ => None,
        }
    }

    /// Whether the operand is a register that `is_wanted`, or contains one in a group or as the base of an address. The
    /// parser limits the depth of groups.
    pub fn any_register(&self, is_wanted: &mut dyn FnMut(Register) -> bool) -> bool {
        match self {
            Operand::Register(register) | Operand::Address(Some(register)) => is_wanted(*register),
            Operand::Group(list) => list.iter().any(|operand| operand.any_register(is_wanted)),
            Operand::Name(_) | Operand::Literal(_) | Operand::Address(None) => false,
        }
    }
}

impl<'t> Operation<'_, 't> {
    /// Whether the first operand is the result.
    fn has_result(&self) -> bool {
        // The registers of an address are read, also in the first operand.
        let has_place = self.operands.first().is_some_and(|first| !matches!(first, Operand::Address(_)));
        has_place
            && match self.name {
                "st" | "red" | "bra" | "brx" | "ret" | "exit" | "trap" | "fence" | "membar" | "prefetch"
                | "prefetchu" | "nanosleep" | "pmevent" => false,
                // Only the form with a reduction writes a register; others have the number of the barrier first.
                "bar" | "barrier" => self.inst.has("red"),
                // A call has its results in a list before the function.
                "call" => matches!(self.inst.args.first(), Some(Arg::List(_))),
                _ => true,
            }
    }

    /// Calls `see` with each register that it sets.
    pub fn for_each_write(&self, mut see: impl FnMut(Register)) {
        if let Some(result) = self.operands.first().filter(|_| self.has_result()) {
            // A result may be several registers: `ld.v4`, `mov.b32 {%h1, %h2}`, or a pair of predicates.
            result.any_register(&mut |register| {
                see(register);
                false
            });
        }
    }

    /// The operands that it reads, without its predicate: registers, constants, names, addresses and groups of these.
    pub fn reads(&self) -> &[Operand<'t>] {
        self.operands.get(usize::from(self.has_result())..).unwrap_or_default()
    }

    /// The register of an operand.
    pub fn register(&self, index: usize) -> Option<Register> {
        self.operands.get(index).and_then(Operand::register)
    }

    /// The constant of an operand.
    pub fn literal(&self, index: usize) -> Option<Literal> {
        match self.operands.get(index) {
            Some(Operand::Literal(literal)) => Some(*literal),
            _ => None,
        }
    }
}

/// A set of registers of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSet(Vec<bool>);

impl RegisterSet {
    /// The empty set, for a function.
    pub fn new(of: &DefUse<'_, '_>) -> RegisterSet {
        RegisterSet(vec![false; of.slots as usize])
    }

    /// Inserts a register. Returns whether it is new.
    pub fn insert(&mut self, register: Register) -> bool {
        let place = self.0.get_mut(register.slot as usize);
        place.is_some_and(|place| !std::mem::replace(place, true))
    }

    /// Whether the register with this slot is in the set.
    pub fn has(&self, slot: u32) -> bool {
        self.0.get(slot as usize).copied().unwrap_or(false)
    }

    /// Whether the operand is a register in the set.
    pub fn has_operand(&self, operand: &Operand<'_>) -> bool {
        operand.register().is_some_and(|register| self.has(register.slot))
    }
}

/// The meaning of a name at a point of the text.
#[derive(Clone)]
enum Symbol {
    Register(Register),
    /// A table of branch targets: numbers of labels.
    Targets(Vec<u32>),
    Other,
}

impl From<Register> for Symbol {
    fn from(register: Register) -> Symbol {
        Symbol::Register(register)
    }
}

impl<'a, 't> DefUse<'a, 't> {
    /// Resolves the names of a function. A function without a body has no instructions.
    pub fn new(function: &'a Function<'t>) -> Result<DefUse<'a, 't>, ParseError> {
        // Names of the module are no registers: they stay names.
        let module = FxHashMap::default();
        let mut scopes = Scopes::new(&module);
        let statements = function.body.as_ref().map_or(0, Vec::len);
        let (mut code, mut targets): (Vec<Operation<'a, 't>>, usize) = (Vec::with_capacity(statements), 0);
        let (mut floats, mut inner, mut depth) = (Vec::new(), FxHashSet::default(), 0_u32);
        for (at, statement) in function.body.iter().flatten().enumerate() {
            match statement {
                Statement::Open => {
                    depth += 1;
                    scopes.open();
                }
                Statement::Close => {
                    depth = depth.saturating_sub(1);
                    scopes.close();
                }
                Statement::Label(line, name) => scopes.place_label(name, code.len() as u32, line.0)?,
                Statement::Registers(line, ty, names) => {
                    // Slots are given out in order, so those of one declaration are a range.
                    let first = scopes.slots();
                    for (name, count) in names {
                        scopes.declare_registers(name, *count, register_bits(*ty), line.0)?;
                        if depth > 0 {
                            inner.insert(*name);
                        }
                    }
                    if ty.is_float() {
                        floats.push(first..scopes.slots());
                    }
                }
                Statement::Variable(variable) => scopes.declare(variable.name, Symbol::Other, variable.line.0)?,
                Statement::Targets(name, targets) => {
                    // A table has no line of its own in the tree.
                    let line = function.line.0;
                    let labels = targets.iter().map(|target| scopes.use_label(target, line)).collect();
                    scopes.declare(name, Symbol::Targets(labels), line)?;
                }
                Statement::Prototype(..) | Statement::Directive(_) => {}
                Statement::Inst(inst) => {
                    let operation = operation(inst, at, &mut scopes);
                    // The sum is limited, not each table alone: many branches may share one long table.
                    targets += operation.targets.len();
                    if targets > MAX_TARGETS {
                        return Err(ParseError { line: inst.line.0, what: "too many targets of branches".to_owned() });
                    }
                    code.push(operation);
                }
            }
        }
        // A branch may name a label that follows it. Until here, its targets are numbers of uses.
        let labels = scopes.resolve_labels()?;
        for target in code.iter_mut().flat_map(|operation| &mut operation.targets) {
            if let Some(position) = labels.get(*target as usize) {
                *target = *position;
            }
        }
        let slots = scopes.slots();
        let mut of = DefUse { code, slots, floats: RegisterSet(vec![false; slots as usize]), inner };
        for slot in floats.into_iter().flatten() {
            of.floats.0[slot as usize] = true;
        }
        Ok(of)
    }

    /// Whether this name means the same register in the whole function: no block declares a register of the name.
    pub fn is_plain(&self, name: &str) -> bool {
        // A range `%r<4>` is in the set by its prefix `%r`. Any name that begins so may be one of its registers.
        let prefixes = (1..=name.len()).filter_map(|end| name.get(..end));
        !prefixes.into_iter().any(|prefix| self.inner.contains(prefix))
    }

    /// The blocks of the function.
    pub fn graph(&self) -> Graph {
        Graph::new(self.code.len(), |at| {
            let operation = &self.code[at];
            let end = matches!(operation.name, "ret" | "exit" | "trap");
            let leaves = end || matches!(operation.name, "bra" | "brx");
            // A branch or an end with a predicate may let control pass.
            Exits { targets: &operation.targets, next: !leaves || operation.inst.guard.is_some(), end }
        })
    }
}

/// The width of registers of a type. A value of one byte is in a 16-bit register.
pub fn register_bits(ty: Type) -> u32 {
    if ty.bits == 8 { 16 } else { ty.bits * ty.lanes }
}

/// The instruction with resolved registers. Its targets are numbers of labels.
fn operation<'a, 't>(inst: &'a Inst<'t>, statement: usize, scopes: &mut Scopes<'_, 't, Symbol>) -> Operation<'a, 't> {
    let name = inst.name();
    let targets = match (name, inst.args.as_slice()) {
        // The table of an indirect branch stands before it, a label may follow: the table is found at once, a label
        // later.
        ("bra", [Arg::Name(label), ..]) => vec![scopes.use_label(label, inst.line.0)],
        ("brx", [_, Arg::Name(table)]) => match scopes.find(table) {
            Some(Symbol::Targets(labels)) => labels,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let find = |name: &str| match scopes.find(name) {
        Some(Symbol::Register(register)) => Some(register),
        _ => None,
    };
    let guard = inst.guard.and_then(|(name, _)| find(name));
    let operands = inst.args.iter().map(|arg| operand(arg, &find)).collect();
    Operation { inst, statement, name, guard, operands, targets }
}

/// The operand with resolved registers. The parser limits the depth of groups.
fn operand<'t>(arg: &Arg<'t>, find: &dyn Fn(&str) -> Option<Register>) -> Operand<'t> {
    let named = |name: &'t str| find(name).map_or(Operand::Name(name), Operand::Register);
    let group = |args: &[Arg<'t>]| args.iter().map(|arg| operand(arg, find)).collect::<Vec<_>>();
    match arg {
        Arg::Name(name) | Arg::Offset(name, _) | Arg::Not(name) => named(name),
        Arg::Literal(literal) => Operand::Literal(*literal),
        Arg::Address(Base::Name(name), _) => Operand::Address(find(name)),
        Arg::Address(Base::Number(_), _) => Operand::Address(None),
        Arg::Texture(texture, at) => Operand::Group(std::iter::once(named(texture)).chain(group(at)).collect()),
        Arg::Vector(args) | Arg::List(args) => Operand::Group(group(args)),
        Arg::Pair(first, second) => Operand::Group(vec![named(first), named(second)]),
    }
}

/// Registers that are set by several instructions, and registers with copies of them, in the order of the text.
pub fn merged(of: &DefUse<'_, '_>) -> RegisterSet {
    let (mut set, mut merged) = (RegisterSet::new(of), RegisterSet::new(of));
    for operation in &of.code {
        // ptxas propagates copies: what holds for a register holds for its copy.
        let is_copy = operation.name == "mov" && operation.operands.get(1).is_some_and(|a| merged.has_operand(a));
        operation.for_each_write(|register| {
            if !set.insert(register) || is_copy {
                merged.insert(register);
            }
        });
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Item;

    fn with<T>(body: &str, see: impl FnOnce(&DefUse<'_, '_>) -> T) -> T {
        let registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<4>;";
        let text = format!(".entry k(.param .u64 out) {{ {registers} {body} }}");
        let module = crate::parse(&text).unwrap();
        let Some(Item::Function(function)) = module.items.first() else { panic!() };
        see(&DefUse::new(function).unwrap())
    }

    /// The slots that the last instruction sets, and those that it reads.
    fn slots(body: &str) -> (Vec<u32>, Vec<u32>) {
        with(body, |of| {
            let last = of.code.last().unwrap();
            let (mut writes, mut reads) = (Vec::new(), Vec::new());
            last.for_each_write(|register| writes.push(register.slot));
            for operand in last.reads() {
                operand.any_register(&mut |register| {
                    reads.push(register.slot);
                    false
                });
            }
            (writes, reads)
        })
    }

    #[test]
    fn instructions_set_and_read() {
        // Slots: %p from 1, %h from 5, %r from 9, %d from 17.
        for (body, writes, reads) in [
            ("add.s32 %r1, %r2, %r3;", vec![10], vec![11, 12]),
            ("@%p1 mov.u32 %r1, %tid.x;", vec![10], vec![]),
            ("ld.global.v2.u32 {%r1, _}, [%d1+8];", vec![10], vec![18]),
            ("st.global.v2.u32 [%d1], {%r1, %r2};", vec![], vec![18, 10, 11]),
            ("atom.global.add.u32 %r1, [%d1], %r2;", vec![10], vec![18, 11]),
            ("red.global.add.u32 [%d1], %r2;", vec![], vec![18, 11]),
            ("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", vec![2, 3], vec![10, 11, 4]),
            ("mov.b32 {%h1, %h2}, %r1;", vec![6, 7], vec![10]),
            ("mov.b32 %r1, {%h1, %h2};", vec![10], vec![6, 7]),
            ("bar.sync %r1, %r2;", vec![], vec![10, 11]),
            ("bar.red.or.pred %p1, %r1, %p2;", vec![2], vec![10, 3]),
            ("shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", vec![10, 2], vec![11]),
            ("call (%r1), f, (%r2);", vec![10], vec![11]),
            ("call f, (%r2);", vec![], vec![11]),
            ("tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%r5, %r6}];", vec![10, 11, 12, 13], vec![18, 14, 15]),
            ("t: .branchtargets L; L: brx.idx %r1, t;", vec![], vec![10]),
            ("nanosleep.u32 %r1;", vec![], vec![10]),
            ("ret;", vec![], vec![]),
        ] {
            assert_eq!(slots(body), (writes, reads), "{body}");
        }
    }

    #[test]
    fn a_name_may_be_two_registers() {
        let outer = slots("add.s32 %r1, %r2, 1;").0;
        let (inner, reads) = slots("{ .reg .b32 %r1; add.s32 %r1, %r2, 1; }");
        assert_eq!((inner, reads), (vec![21], vec![11]));
        assert_eq!(slots("{ .reg .b32 %r1; } add.s32 %r1, %r2, 1;").0, outer);
    }

    #[test]
    fn branches_have_positions() {
        with("A: mov.u32 %r1, 0; @%p1 bra A; t: .branchtargets A, B; brx.idx %r1, t; ret; B: exit;", |of| {
            assert_eq!(of.code[1].guard.map(|register| register.slot), Some(2));
            assert_eq!([&of.code[1].targets[..], &of.code[2].targets], [&[0][..], &[0, 4]]);
            let graph = of.graph();
            assert_eq!(graph.start, [0, 2, 3, 4]);
            assert_eq!(graph.successors, [vec![0, 1], vec![0, 3], vec![u32::MAX], vec![u32::MAX]]);
        });
    }

    #[test]
    fn unknown_labels_are_errors() {
        let module = crate::parse(".entry k() {\n bra L; }").unwrap();
        let Some(Item::Function(function)) = module.items.first() else { panic!() };
        assert_eq!(DefUse::new(function).unwrap_err().line, 2);
    }

    #[test]
    fn targets_are_limited() {
        let labels: Vec<String> = (0..2000).map(|at| format!("L{at}")).collect();
        let branches = "brx.idx %r1, t;\n".repeat(2000);
        let text = format!(
            ".entry k() {{ .reg .b32 %r<2>; {}: t: .branchtargets {};\n{branches} }}",
            labels.join(": "),
            labels.join(", ")
        );
        let module = crate::parse(&text).unwrap();
        let Some(Item::Function(function)) = module.items.first() else { panic!() };
        assert_eq!(DefUse::new(function).unwrap_err().what, "too many targets of branches");
    }

    #[test]
    fn registers_set_in_several_places_are_merged() {
        let has = |body: &str, slot: u32| with(body, |of| merged(of).has(slot));
        let twice = "mov.u32 %r1, 1; @%p1 add.s32 %r1, %r2, 1;";
        assert!(has(twice, 10) && !has(twice, 11));
        assert!(has(&format!("{twice} mov.b32 %r3, %r1;"), 12));
        assert!(!has(&format!("{twice} add.s32 %r3, %r1, 1;"), 12));
        assert!(has("mov.u32 %r1, 1; ld.global.v2.u32 {%r2, %r1}, [%d1];", 10));
        assert!(has("setp.eq.s32 %p1, %r1, 0; setp.eq.s32 %p1, %r2, 0;", 2));
        // An address is read.
        assert!(!has("mov.u64 %d1, 1; st.global.u32 [%d1], %r1;", 18));
        assert!(!has("mov.u32 %r1, 1; { .reg .b32 %r1; mov.u32 %r1, 2; }", 10));
    }
}
