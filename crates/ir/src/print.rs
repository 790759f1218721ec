//! The text form of a module.
//!
//! ```text
//! version 1
//! file "scale.cl"
//! string "id %d\n"
//! global @table constant size 16 align 4 init x"00010203" reloc 8 @other + 4
//! global external @weights constant size 64 align 4
//! global import @count constant size 4 align 4
//! global @tile local size 1024 align 16
//!
//! func external @scale(ptr<global>, i32) kernel {
//!   param "data" "float*" global size 8 align 8 const restrict
//!   param "n" "int" value size 4 align 4
//!   reqd_group_size 64 1 1
//! } {
//! bb0(v0: ptr<global>, v1: i32):
//!     v2: i64 = query global_id 0 !0:3:12
//!     v3: i64 = const 4
//!     v4: i64 = mul nsw v2, v3
//!     v5: ptr<global> = ptradd v0, v4
//!     v6: f32 = load v5 align 4
//!     v7: i1 = icmp slt v1, v1
//!     br v7, bb1(v6), bb2
//! …
//! }
//! ```
//!
//! `;` starts a comment. Values and blocks are numbered anew in the order in which they are printed, so that a module
//! prints the same before and after dead entries of its arenas are dropped. A span follows `!` as file:line:column. If
//! the code comes from an inlined call, `@` and the number of the call follow, from 1. Calls are listed at the begin of
//! the body as `inlined @callee !0:12:5`. The name of a variable follows its memory: `alloca 64 align 4 "tile"`.

use crate::checked::{AccessedObject, CheckedAccess};
use crate::entity::{Block, Entity, Inst, Value};
use crate::flags::Flags;
use crate::function::{Function, Hidden, KernelMeta, Linkage, ParamKind};
use crate::inst::{BarrierMemory, Edge, InstData, Op, Term};
use crate::mark::Mark;
use crate::module::{Global, GlobalLinkage, Module, Span};
use std::fmt::{self, Write};

/// The version of the text form, which its first line names. Raised when a text would mean something else or no longer
/// parse.
pub const TEXT_VERSION: u32 = 1;

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "version {TEXT_VERSION}")?;
        for name in &self.files {
            writeln!(f, "file {}", quoted(name.as_bytes()))?;
        }
        for s in self.strings.values() {
            writeln!(f, "string {}", quoted(s))?;
        }
        for g in self.globals.values() {
            print_global(f, self, g)?;
        }
        for func in self.funcs.values() {
            f.write_char('\n')?;
            print_function(f, self, func)?;
        }
        Ok(())
    }
}

impl Module {
    /// The text form of one function.
    pub fn function_text(&self, func: &Function) -> String {
        let mut s = String::new();
        // Writing to a string cannot fail.
        let _ = print_function(&mut s, self, func);
        s
    }
}

/// Texts of single parts of a function, as [`Module::function_text`] writes them, whatever is wrong with the function:
/// an entity that is out of range or in no block is written `v?7`. Values are numbered once, so that each text costs no
/// more than its length.
pub(crate) struct PartTexts<'a> {
    module: &'a Module,
    func: &'a Function,
    names: Names,
}

// Writing to a string cannot fail.
impl<'a> PartTexts<'a> {
    /// Numbers the values and blocks of a function.
    pub fn new(module: &'a Module, func: &'a Function) -> Self {
        Self { module, func, names: Names::of(func) }
    }

    /// `func internal @f(i32)`.
    pub fn signature(&self) -> String {
        let mut s = String::new();
        let _ = print_signature(&mut s, self.func);
        s
    }

    /// `bb1(v2: i32):`.
    pub fn head(&self, block: Block) -> String {
        let mut s = String::new();
        let _ = print_head(&mut s, self.func, &self.names, block);
        s
    }

    /// `v3: i32 = add v1, v2`.
    pub fn inst(&self, inst: Inst) -> String {
        let mut s = String::new();
        if let Some(data) = self.func.insts.get(inst) {
            let _ = print_inst(&mut s, self.module, self.func, &self.names, data);
        }
        s.trim().to_owned()
    }

    /// `jump bb1(v3)`.
    pub fn term(&self, block: Block) -> String {
        let mut s = String::new();
        if let Some(data) = self.func.blocks.get(block) {
            let _ = print_term(&mut s, &self.names, &data.term);
        }
        s.trim().to_owned()
    }
}

/// The text of one global, without the end of the line.
pub(crate) fn global_text(module: &Module, g: &Global) -> String {
    let mut s = String::new();
    // Writing to a string cannot fail.
    let _ = print_global(&mut s, module, g);
    s.trim().to_owned()
}

/// A name as the text form writes it: bare if it is an identifier, else quoted.
pub fn name_text(name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'));
    if plain { format!("@{name}") } else { format!("@{}", quoted(name.as_bytes())) }
}

/// Bytes between quotation marks; what is not printable ASCII, and `"` and `\`, becomes `\xx`.
pub fn quoted(bytes: &[u8]) -> String {
    let mut s = String::with_capacity(bytes.len() + 2);
    s.push('"');
    for &b in bytes {
        match b {
            b'"' | b'\\' | 0..=31 | 127.. => {
                let _ = write!(s, "\\{b:02x}");
            }
            _ => s.push(b as char),
        }
    }
    s.push('"');
    s
}

fn print_global(f: &mut impl Write, module: &Module, g: &Global) -> fmt::Result {
    let linkage = match g.linkage {
        GlobalLinkage::Internal => "",
        GlobalLinkage::External => "external ",
        GlobalLinkage::LinkOnce => "linkonce ",
        GlobalLinkage::Import => "import ",
    };
    write!(f, "global {linkage}{} {} size {} align {}", name_text(&g.name), g.space.name(), g.size, g.align)?;
    if let Some(place) = g.place {
        write!(f, " at {place}")?;
    }
    if !g.init.is_empty() {
        f.write_str(" init x\"")?;
        for b in &g.init {
            write!(f, "{b:02x}")?;
        }
        f.write_char('"')?;
    }
    for r in &g.relocs {
        let target = module.globals.get(r.target).map_or("?", |g| &g.name);
        write!(f, " reloc {} {} + {}", r.offset, name_text(target), r.addend)?;
    }
    writeln!(f)
}

/// Numbers of values and blocks in printing order.
struct Names {
    values: Vec<u32>,
    blocks: Vec<u32>,
}

impl Names {
    fn of(func: &Function) -> Self {
        let mut names = Self { values: vec![u32::MAX; func.values.len()], blocks: vec![u32::MAX; func.blocks.len()] };
        let mut next = 0;
        let mut name = |v: Value, values: &mut Vec<u32>| {
            if let Some(number) = values.get_mut(v.index()) {
                *number = next;
            }
            next += 1;
        };
        for (i, &b) in func.layout.iter().enumerate() {
            // The verifier prints functions whose indices are out of range.
            let Some(block) = func.blocks.get(b) else { continue };
            names.blocks[b.index()] = i as u32;
            for &p in &block.params {
                name(p, &mut names.values);
            }
            for r in block.insts.iter().filter_map(|&inst| func.insts.get(inst)?.result) {
                name(r, &mut names.values);
            }
        }
        names
    }

    fn value(&self, v: Value) -> Name {
        Name("v", self.values.get(v.index()).copied().unwrap_or(u32::MAX), v.index())
    }

    fn block(&self, b: Block) -> Name {
        Name("bb", self.blocks.get(b.index()).copied().unwrap_or(u32::MAX), b.index())
    }
}

/// A printed number; of an entity in no block, `v?` and its raw index (which does not parse).
struct Name(&'static str, u32, usize);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == u32::MAX { write!(f, "{}?{}", self.0, self.2) } else { write!(f, "{}{}", self.0, self.1) }
    }
}

/// The type of a value; `?` of one that is out of range.
fn print_type(f: &mut impl Write, func: &Function, v: Value) -> fmt::Result {
    match func.values.get(v) {
        Some(data) => write!(f, "{}", data.ty),
        None => f.write_char('?'),
    }
}

fn print_signature(f: &mut impl Write, func: &Function) -> fmt::Result {
    let linkage = match func.linkage {
        Linkage::Internal => "internal",
        Linkage::External => "external",
        Linkage::LinkOnce => "linkonce",
        Linkage::Builtin => "builtin",
    };
    write!(f, "func {linkage} {}(", name_text(&func.name))?;
    for (i, ty) in func.params.iter().enumerate() {
        write!(f, "{}{ty}", if i == 0 { "" } else { ", " })?;
    }
    f.write_char(')')?;
    if let Some(ret) = func.ret {
        write!(f, " -> {ret}")?;
    }
    if func.noinline {
        f.write_str(" noinline")?;
    }
    Ok(())
}

fn print_head(f: &mut impl Write, func: &Function, names: &Names, b: Block) -> fmt::Result {
    write!(f, "{}", names.block(b))?;
    let params = func.blocks.get(b).map_or(&[][..], |block| &block.params);
    for (i, &p) in params.iter().enumerate() {
        write!(f, "{}{}: ", if i == 0 { "(" } else { ", " }, names.value(p))?;
        print_type(f, func, p)?;
    }
    f.write_str(if params.is_empty() { ":" } else { "):" })
}

fn print_function(f: &mut impl Write, module: &Module, func: &Function) -> fmt::Result {
    print_signature(f, func)?;
    if let Some(meta) = &func.kernel {
        print_kernel(f, meta)?;
    }
    if func.is_declaration() {
        return writeln!(f);
    }
    writeln!(f, " {{")?;
    // Before the blocks, because the parser checks the numbers of calls in positions.
    for call in &func.inlined {
        write!(f, "  inlined {}", name_text(&call.function))?;
        print_span(f, call.span)?;
        writeln!(f)?;
    }
    let names = Names::of(func);
    for &b in &func.layout {
        let block = &func.blocks[b];
        print_head(f, func, &names, b)?;
        writeln!(f)?;
        for &inst in &block.insts {
            print_inst(f, module, func, &names, &func.insts[inst])?;
        }
        print_term(f, &names, &block.term)?;
        print_span(f, block.term_span)?;
        writeln!(f)?;
    }
    writeln!(f, "}}")
}

fn print_kernel(f: &mut impl Write, meta: &KernelMeta) -> fmt::Result {
    writeln!(f, " kernel {{")?;
    for p in &meta.params {
        let kind = param_kind_name(p.kind);
        let (name, ty) = (quoted(p.name.as_bytes()), quoted(p.type_name.as_bytes()));
        write!(f, "  param {name} {ty} {kind} size {} align {}", p.size, p.align)?;
        for (on, word) in [(p.is_const, "const"), (p.is_restrict, "restrict"), (p.is_volatile, "volatile")] {
            if on {
                write!(f, " {word}")?;
            }
        }
        if p.access != 0 {
            write!(f, " access {}", p.access)?;
        }
        if p.pointee_align > 1 {
            write!(f, " pointee {}", p.pointee_align)?;
        }
        writeln!(f)?;
    }
    for (word, size) in [("reqd_group_size", meta.reqd_group_size), ("group_size_hint", meta.group_size_hint)] {
        if let Some([x, y, z]) = size {
            writeln!(f, "  {word} {x} {y} {z}")?;
        }
    }
    if let Some(size) = meta.reqd_subgroup_size {
        writeln!(f, "  reqd_subgroup_size {size}")?;
    }
    if let Some(size) = meta.expected_subgroup_size {
        writeln!(f, "  expected_subgroup_size {size}")?;
    }
    if let Some(hint) = &meta.vec_type_hint {
        writeln!(f, "  vec_type_hint {}", quoted(hint.as_bytes()))?;
    }
    if meta.partial_groups {
        writeln!(f, "  partial_groups")?;
    }
    if meta.is_block {
        writeln!(f, "  block")?;
    }
    for hidden in &meta.hidden {
        match hidden {
            Hidden::Size(n) => writeln!(f, "  hidden size {n}")?,
            Hidden::Stop => writeln!(f, "  hidden stop")?,
            Hidden::Reports => writeln!(f, "  hidden reports")?,
        }
    }
    for access in &meta.checked {
        print_checked(f, access)?;
    }
    f.write_char('}')
}

fn print_checked(f: &mut impl Write, access: &CheckedAccess) -> fmt::Result {
    let word = if access.is_store { "write" } else { "read" };
    write!(f, "  checked {word} {} align {}", access.bytes, access.align)?;
    match &access.object {
        AccessedObject::Param(n) => write!(f, " param {n}")?,
        AccessedObject::Variable { name, space } => {
            write!(f, " variable {} {}", quoted(name.as_bytes()), space.name())?;
        }
        AccessedObject::Several => f.write_str(" several")?,
        AccessedObject::Foreign => f.write_str(" foreign")?,
    }
    print_span(f, access.span)?;
    for call in &access.calls {
        write!(f, " in {}", quoted(call.function.as_bytes()))?;
        print_span(f, call.span)?;
    }
    writeln!(f)
}

/// The word for a kind of parameter.
pub fn param_kind_name(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Value => "value",
        ParamKind::Struct => "struct",
        ParamKind::Global => "global",
        ParamKind::Constant => "constant",
        ParamKind::Local => "local",
        ParamKind::Sampler => "sampler",
        ParamKind::Queue => "queue",
        ParamKind::Image => "image",
        ParamKind::Pipe => "pipe",
    }
}

fn print_span(f: &mut impl Write, span: Span) -> fmt::Result {
    if span == Span::NONE {
        return Ok(());
    }
    write!(f, " !{}:{}:{}", span.file, span.line, span.col)?;
    if span.inlined > 0 { write!(f, "@{}", span.inlined) } else { Ok(()) }
}

fn print_args(f: &mut impl Write, names: &Names, args: &[Value]) -> fmt::Result {
    for (i, &a) in args.iter().enumerate() {
        write!(f, "{}{}", if i == 0 { " " } else { ", " }, names.value(a))?;
    }
    Ok(())
}

fn print_inst(f: &mut impl Write, module: &Module, func: &Function, names: &Names, inst: &InstData) -> fmt::Result {
    f.write_str("    ")?;
    if let Some(r) = inst.result {
        write!(f, "{}: ", names.value(r))?;
        print_type(f, func, r)?;
        f.write_str(" = ")?;
    }
    match &inst.op {
        Op::Const(bits) => write!(f, "const {bits:#x}")?,
        Op::Unary(op) => f.write_str(op.name())?,
        Op::Binary(op) => f.write_str(op.name())?,
        Op::Fma => f.write_str("fma")?,
        Op::Icmp(cc) => write!(f, "icmp {}", cc.name())?,
        Op::Fcmp(cc) => write!(f, "fcmp {}", cc.name())?,
        Op::Cast(op) => f.write_str(op.name())?,
        Op::Select => f.write_str("select")?,
        Op::Extract => f.write_str("extract")?,
        Op::Insert => f.write_str("insert")?,
        Op::Shuffle(_) => f.write_str("shuffle")?,
        Op::Splat => f.write_str("splat")?,
        Op::Build => f.write_str("build")?,
        Op::Alloca { size, align, name } => {
            write!(f, "alloca {size} align {align}")?;
            if let Some(name) = name {
                write!(f, " {}", quoted(name.as_bytes()))?;
            }
        }
        Op::PtrAdd => f.write_str("ptradd")?,
        Op::Load { .. } => f.write_str("load")?,
        Op::Store { .. } => f.write_str("store")?,
        Op::Iota => f.write_str("iota")?,
        Op::Any => f.write_str("any")?,
        Op::All => f.write_str("all")?,
        Op::Ballot => f.write_str("ballot")?,
        Op::MaskedLoad { .. } => f.write_str("maskedload")?,
        Op::MaskedStore { .. } => f.write_str("maskedstore")?,
        Op::Gather { .. } => f.write_str("gather")?,
        Op::Scatter { .. } => f.write_str("scatter")?,
        Op::MemCopy { size, .. } => write!(f, "memcopy {size}")?,
        Op::MemSet { size, byte, .. } => write!(f, "memset {size} {byte}")?,
        Op::GlobalAddr(g) => {
            let name = module.globals.get(*g).map_or("?", |g| &g.name);
            write!(f, "globaladdr {}", name_text(name))?;
        }
        Op::AtomicRmw { op, order, scope } => write!(f, "atomic_{} {} {}", op.name(), order.name(), scope.name())?,
        Op::AtomicCmpXchg { order, scope } => write!(f, "cmpxchg {} {}", order.name(), scope.name())?,
        Op::AtomicLoad { order, scope } => write!(f, "atomic_load {} {}", order.name(), scope.name())?,
        Op::AtomicStore { order, scope } => write!(f, "atomic_store {} {}", order.name(), scope.name())?,
        Op::Fence { order, scope } => write!(f, "fence {} {}", order.name(), scope.name())?,
        Op::Query { what, dim } => write!(f, "query {} {dim}", what.name())?,
        Op::Prefetch => f.write_str("prefetch")?,
        // Most barriers in the middle of the compiler order both, which needs no word.
        Op::Barrier(BarrierMemory::Both) => f.write_str("barrier")?,
        Op::Barrier(memory) => write!(f, "barrier {}", memory.name())?,
        Op::Clock => f.write_str("clock")?,
        Op::Poll => f.write_str("poll")?,
        Op::Report => f.write_str("report")?,
        Op::Mark(mark @ (Mark::Index(n) | Mark::Begin(n))) => write!(f, "mark {} {n}", mark.name())?,
        Op::Mark(mark) => write!(f, "mark {}", mark.name())?,
        Op::Sample => f.write_str("sample")?,
        Op::SubgroupBallot => f.write_str("subgroup_ballot")?,
        Op::SubgroupShuffle => f.write_str("subgroup_shuffle")?,
        Op::SubgroupReduce { op, cluster } => write!(f, "subgroup_reduce {} {cluster}", op.name())?,
        Op::SubgroupScan { op, exclusive } => {
            write!(f, "subgroup_scan {} {}", op.name(), if *exclusive { "exclusive" } else { "inclusive" })?;
        }
        Op::Call(callee) | Op::PureCall(callee) => {
            let name = module.funcs.get(*callee).map_or("?", |f| &f.name);
            let word = if matches!(inst.op, Op::PureCall(_)) { "purecall" } else { "call" };
            write!(f, "{word} {}", name_text(name))?;
        }
        Op::Printf(s) => write!(f, "printf {s}")?,
        Op::DeviceCall(what) => write!(f, "device_call {}", what.name())?,
    }
    // Flags stand before the operands, and lists and alignments after them, where the parser expects them.
    for (flag, name) in Flags::NAMES {
        if inst.flags.contains(flag) {
            write!(f, " {name}")?;
        }
    }
    print_args(f, names, &inst.args)?;
    match &inst.op {
        Op::Shuffle(mask) => {
            f.write_str(" [")?;
            for (i, m) in mask.iter().enumerate() {
                write!(f, "{}{m}", if i == 0 { "" } else { " " })?;
            }
            f.write_char(']')?;
        }
        Op::Load { align }
        | Op::Store { align }
        | Op::MaskedLoad { align }
        | Op::MaskedStore { align }
        | Op::Gather { align }
        | Op::Scatter { align }
        | Op::MemCopy { align, .. }
        | Op::MemSet { align, .. } => {
            write!(f, " align {align}")?;
        }
        _ => {}
    }
    print_span(f, inst.span)?;
    writeln!(f)
}

fn print_edge(f: &mut impl Write, names: &Names, e: &Edge) -> fmt::Result {
    write!(f, "{}", names.block(e.block))?;
    if !e.args.is_empty() {
        f.write_char('(')?;
        for (i, &a) in e.args.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, names.value(a))?;
        }
        f.write_char(')')?;
    }
    Ok(())
}

fn print_term(f: &mut impl Write, names: &Names, term: &Term) -> fmt::Result {
    f.write_str("    ")?;
    match term {
        Term::Jump(e) => {
            f.write_str("jump ")?;
            print_edge(f, names, e)
        }
        Term::Branch { cond, then, els } => {
            write!(f, "br {}, ", names.value(*cond))?;
            print_edge(f, names, then)?;
            f.write_str(", ")?;
            print_edge(f, names, els)
        }
        Term::Switch { value, cases, default } => {
            write!(f, "switch {} [", names.value(*value))?;
            for (i, (bits, e)) in cases.iter().enumerate() {
                write!(f, "{}{bits:#x}: ", if i == 0 { "" } else { ", " })?;
                print_edge(f, names, e)?;
            }
            f.write_str("], ")?;
            print_edge(f, names, default)
        }
        Term::Return(None) => f.write_str("ret"),
        Term::Return(Some(v)) => write!(f, "ret {}", names.value(*v)),
        Term::Unreachable => f.write_str("unreachable"),
    }
}
