//! Lowering: from the typed tree to the IR.
//!
//! In comes a [`Unit`] without errors; out goes a module. Every variable is an `alloca` (mem2reg makes SSA values of
//! them later) and control flow becomes blocks in source order: short-circuit operators branch, a loop has a header, a
//! latch and an exit.
//!
//! Records live in memory: an expression of a record type is lowered to its address. A function takes the address of a
//! copy that the caller made, and returns through memory that the caller provides (the first parameter). A kernel
//! receives records as addresses in the argument block and copies them at its entry, so that a kernel that calls
//! another kernel calls the same function that the host would launch, with its copy seen as constant memory.

mod block_access;
mod builtin;
mod chain;
mod convert;
mod device;
mod expr;
mod func;
mod group;
mod images;
mod init;
mod lvalue;
mod marks;
mod memory;
mod numeric;
mod pipes;
mod special;
mod stmt;

use crate::sema::tree::{FuncId, GlobalId, Unit};
use crate::sema::types::{Ty, TyKind, Types};
use crate::source::{Session, Span};
use cloom_ir::{
    Flags, FuncRef, Function, Global, GlobalLinkage, GlobalRef, Linkage, Module, Reloc, Space, StrRef, Type,
};
use rustc_hash::FxHashMap;

/// Options of lowering.
#[derive(Clone, Copy, Debug)]
pub struct LowerOptions {
    /// Permissions written on each floating-point instruction.
    pub fast_math: Flags,
    /// Whether functions that may round `a * b + c` once do.
    pub contract: bool,
    /// Whether quotients and square roots of `float` are those that OpenCL C asks for, not correctly rounded ones.
    pub fpmath: bool,
    /// Whether the code has marks for the checker of kernels: lifetimes of variables, sizes of arrays, asynchronous
    /// copies, and the scope that an atomic operation names.
    pub marks: bool,
}

/// Lowers a program.
pub fn lower(session: &Session, unit: &Unit, types: &Types, opts: LowerOptions) -> Module {
    let mut module = Module::new();
    // Spans of the IR name files by their numbers here.
    module.files = session.sources.files().iter().map(|f| f.name.clone()).collect();
    let mut lw = Lowering {
        session,
        unit,
        types,
        opts,
        module,
        funcs: vec![None; unit.funcs.len()],
        globals: vec![None; unit.globals.len()],
        formats: vec![None; unit.formats.len()],
        shared: None,
        library: FxHashMap::default(),
    };
    // Definitions first, so that the module has them in the order of the source.
    for (i, f) in unit.funcs.iter().enumerate() {
        if f.body.is_some() {
            lw.func(FuncId(i as u32));
        }
    }
    for (i, f) in unit.funcs.iter().enumerate() {
        if let Some(body) = &f.body {
            func::lower_function(&mut lw, FuncId(i as u32), body);
        }
    }
    // Other programs may refer to these, whether this one does or not.
    for (i, g) in unit.globals.iter().enumerate() {
        if g.linkage == GlobalLinkage::External {
            lw.global(GlobalId(i as u32));
        }
    }
    lw.module
}

struct Lowering<'a> {
    session: &'a Session,
    unit: &'a Unit,
    types: &'a Types,
    opts: LowerOptions,
    module: Module,
    funcs: Vec<Option<FuncRef>>,
    globals: Vec<Option<GlobalRef>>,
    formats: Vec<Option<StrRef>>,
    /// Where work-groups exchange values.
    shared: Option<GlobalRef>,
    /// Functions by their names in the IR: those of the library that are called, and those defined here.
    library: FxHashMap<String, FuncRef>,
}

impl Lowering<'_> {
    /// The function in the module, declared when it is first asked for.
    fn func(&mut self, id: FuncId) -> FuncRef {
        if let Some(f) = self.funcs[id.0 as usize] {
            return f;
        }
        let f = &self.unit.funcs[id.0 as usize];
        let is_kernel = f.kernel.is_some();
        let mut params = Vec::new();
        let returns_record = self.is_record(f.ret.ty);
        if returns_record {
            // The caller's room for the result comes before the other parameters.
            params.push(Type::ptr(Space::Private));
        }
        for p in &f.params {
            let ty = self.types.ir(p.ty);
            let record = self.is_record(p.ty);
            params.push(if record && is_kernel { Type::ptr(Space::Constant) } else { ty });
        }
        let ret = match f.ret.ty {
            Ty::VOID => None,
            _ if returns_record => None,
            ty => Some(self.types.ir(ty)),
        };
        let mut out = Function::new(f.ir_name.clone(), params, ret);
        out.linkage = f.linkage;
        out.noinline = f.noinline;
        out.kernel = f.kernel.clone();
        // A `static` prototype without a definition: only linking can find a function for it, or report that there is
        // none.
        if f.body.is_none() && f.linkage == Linkage::Internal {
            out.linkage = Linkage::External;
        }
        let r = self.module.funcs.push(out);
        // By name too: a library function that is defined here is called by its mangled name.
        self.library.insert(f.ir_name.clone(), r);
        self.funcs[id.0 as usize] = Some(r);
        r
    }

    /// The library function of a mangled name, declared when it is first asked for.
    fn library_func(&mut self, name: String, params: Vec<Type>, ret: Option<Type>) -> FuncRef {
        if let Some(&f) = self.library.get(&name) {
            return f;
        }
        let mut out = Function::new(name.clone(), params, ret);
        out.linkage = Linkage::Builtin;
        let r = self.module.funcs.push(out);
        self.library.insert(name, r);
        r
    }

    fn is_record(&self, ty: Ty) -> bool {
        matches!(self.types.kind(ty), TyKind::Record(_))
    }

    /// The global in the module, with what its data refers to.
    fn global(&mut self, id: GlobalId) -> GlobalRef {
        // The global gets its number before its data is looked at: the data may refer to it.
        let mut added = Vec::new();
        let r = self.add_global(id, &mut added);
        // Data may refer to itself, and a chain of references may be as long as the program.
        while let Some((g, id)) = added.pop() {
            let data = self.unit.globals[id.0 as usize].data.as_ref();
            let mut relocs = Vec::new();
            for &(offset, target, addend) in data.iter().flat_map(|d| &d.relocs) {
                relocs.push(Reloc { offset, target: self.add_global(target, &mut added), addend });
            }
            // Parts of an initialiser may come in any order; the IR has relocations by offset.
            relocs.sort_by_key(|r| r.offset);
            self.module.globals[g].relocs = relocs;
        }
        r
    }

    fn add_global(&mut self, id: GlobalId, added: &mut Vec<(GlobalRef, GlobalId)>) -> GlobalRef {
        if let Some(g) = self.globals[id.0 as usize] {
            return g;
        }
        let g = &self.unit.globals[id.0 as usize];
        let mut init: &[u8] = g.data.as_ref().map_or(&[], |d| &d.bytes);
        // Zeros at the end are implied, but not where an address goes.
        let addresses = g.data.as_ref().map_or(0, |d| d.relocs.iter().map(|r| r.0 as usize + 8).max().unwrap_or(0));
        while let Some((0, rest)) = init.split_last()
            && rest.len() >= addresses
        {
            init = rest;
        }
        let out = Global {
            name: g.name.clone(),
            linkage: g.linkage,
            space: g.ty.space,
            // A declaration may leave the length of an array open.
            size: self.types.size(g.ty.ty).max(u64::from(g.linkage != GlobalLinkage::Import)),
            align: g.align as u32,
            init: init.to_vec(),
            relocs: Vec::new(),
            place: None,
        };
        let r = self.module.globals.push(out);
        self.globals[id.0 as usize] = Some(r);
        added.push((r, id));
        r
    }

    fn format(&mut self, id: u32) -> StrRef {
        let i = id as usize;
        if let Some(s) = self.formats[i] {
            return s;
        }
        let s = self.module.strings.push(self.unit.formats[i].clone());
        self.formats[i] = Some(s);
        s
    }

    fn span(&self, span: Span) -> cloom_ir::Span {
        // Predefined macros and composed code have no position.
        if span == Span::default() {
            return cloom_ir::Span::NONE;
        }
        let (line, col) = self.session.sources.line_col(span);
        let col = col.min(u32::from(u16::MAX)) as u16;
        cloom_ir::Span { file: span.file.index() as u16, line, col, inlined: 0 }
    }
}
