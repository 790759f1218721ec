//! Functions: prototypes and definitions, the rules for kernels and their arguments, the check against recursion.

use super::attrs::FuncAttrs;
use super::scope::Entry;
use super::tree::{Body, Func, FuncId, Stmt};
use super::types::{QTy, Ty, TyKind};
use super::{FnCx, Sema, limits};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, DerivationKind, Storage};
use cloom_ir::{KernelMeta, KernelParam, Linkage, ParamKind, Space};

struct Header {
    name: ast::Ident,
    ret: QTy,
    params: Vec<QTy>,
    attrs: FuncAttrs,
    is_kernel: bool,
    internal: bool,
}

impl<'s> Sema<'s> {
    pub(super) fn prototype(&mut self, specs: &ast::DeclSpecs, item: &ast::InitDeclarator, ty: QTy) {
        if let Some(init) = &item.init {
            let span = match init {
                ast::Initializer::Expr(e) => e.span,
                ast::Initializer::List(l) => l.span,
            };
            self.error("E0315", span, "a function cannot be initialised");
        }
        let function = item.declarator.derivations.first().map(|d| &d.kind);
        let is_variadic = matches!(function, Some(DerivationKind::Function { variadic: Some(_), .. }));
        if is_variadic && item.declarator.name.is_some_and(|n| self.text(n.name) == "printf") {
            // The built-in function, whose prototype programs repeat for other compilers.
            return;
        }
        let attrs = specs.attrs.iter().chain(&item.attrs);
        let Some(header) = self.header(specs, &item.declarator, attrs, ty.ty) else { return };
        if self.takes_blocks(&header.params) {
            return self.block_function(header, None);
        }
        if let Some(DerivationKind::Function { params, .. }) = function {
            self.declare_function(header, params);
        }
    }

    fn header<'a>(
        &mut self,
        specs: &ast::DeclSpecs,
        declarator: &ast::Declarator,
        attrs: impl Iterator<Item = &'a ast::Attribute> + Clone,
        ty: Ty,
    ) -> Option<Header> {
        let name = declarator.name?;
        if specs.kernel.is_none() {
            self.warn_of_kernel_attributes(attrs.clone());
        }
        let attrs = FuncAttrs::read(self, attrs);
        let TyKind::Function(ret, params) = self.types.kind(ty).clone() else { return None };
        let is_kernel = specs.kernel.is_some();
        // An `inline` function is the program's own, too: C99 would want an external definition elsewhere, which
        // programs of OpenCL C do not write.
        let internal = matches!(specs.storage, Some((Storage::Static, _))) || specs.inline.is_some();
        if is_kernel && self.text(name.name) == "main" {
            let d = Diagnostic::error("E0318", name.span, "a kernel cannot be called `main`");
            self.push(d.note("C gives that name to the function at which a program starts"));
        }
        if is_kernel && internal && specs.inline.is_none() {
            self.error("E0318", specs.span, "a kernel cannot be `static`");
        }
        if matches!(self.types.kind(ret.ty), TyKind::Image(..) | TyKind::Pipe(..)) {
            let message = format!("a function cannot return a `{}`", self.type_name(ret.ty));
            self.error("E0319", specs.ty_span, message);
        }
        if !self.opts.fp16 && self.types.numeric(ret.ty).is_some_and(|(e, _)| e == cloom_builtins::Elem::F16) {
            self.no_half(specs.ty_span);
        }
        Some(Header { name, ret, params, attrs, is_kernel, internal })
    }

    /// A function with a block as a parameter.
    fn block_function(&mut self, h: Header, def: Option<&'s ast::FunctionDef>) {
        if h.is_kernel {
            let message = format!("kernel `{}` takes a block", self.text(h.name.name));
            let d = Diagnostic::error("E0318", h.name.span, message);
            self.push(d.note("the host has no blocks to pass"));
            return;
        }
        self.template(h.name, (h.ret, h.params), h.attrs.noinline, def);
    }

    /// The function that a header declares: a known one if it agrees.
    fn declare_function(&mut self, h: Header, params: &[ast::Param]) -> Option<FuncId> {
        let text = self.text(h.name.name).to_owned();
        // A library function may call its internal version: `__name` of `name`.
        let public = text.strip_prefix("__").unwrap_or(&text);
        let is_library = |name| {
            super::builtins::builtin::is_builtin(name)
                || super::builtins::images::is_library_function(name)
                || super::builtins::pipes::is_library_function(name)
        };
        // Other functions of the library are helpers of their file, and internal.
        let library = self.opts.library && (is_library(&text) || is_library(public));
        let existing = match self.scopes.get_file(h.name.name) {
            Some((Entry::Funcs(list), _)) => list.clone(),
            // Another declaration of this name was wrong; that has been reported and does not stand in the way.
            Some((Entry::Error, _)) => Vec::new(),
            Some((_, before)) => {
                let before = *before;
                let message = format!("`{text}` is declared twice, as something else and as a function");
                self.push(Diagnostic::error("E0301", h.name.span, message).also(before, "first declaration"));
                return None;
            }
            None => Vec::new(),
        };
        // A declaration that agrees with a known one is that function; one that does not is an overload or an error.
        for &id in &existing {
            let f = &self.unit.funcs[id.0 as usize];
            let same_params =
                f.params.len() == h.params.len() && f.params.iter().zip(&h.params).all(|(a, b)| a.ty == b.ty);
            if same_params && f.ret.ty == h.ret.ty {
                // The word `kernel` may stand at the definition only.
                let kernel = if h.is_kernel && f.kernel.is_none() { Some(self.kernel_meta(&h, params)) } else { None };
                let f = &mut self.unit.funcs[id.0 as usize];
                // One `static` among the declarations is enough. A kernel stays visible to the host.
                if h.internal && f.linkage == Linkage::External && f.kernel.is_none() {
                    f.linkage = Linkage::Internal;
                }
                f.noinline |= h.attrs.noinline;
                if let Some(meta) = kernel {
                    f.kernel = Some(Box::new(meta));
                }
                return Some(id);
            }
            let overloads = library || (f.overloadable || h.attrs.overloadable) && !same_params;
            if !overloads {
                let before = f.span;
                let message = format!("`{text}` is declared twice with different types");
                let mut d = Diagnostic::error("E0302", h.name.span, message).also(before, "first declaration");
                if !same_params && !h.is_kernel {
                    d = d.help("functions of one name and several types need `__attribute__((overloadable))`");
                }
                self.push(d);
                return None;
            }
        }
        if existing.len() >= limits::OVERLOADS {
            self.error("E0325", h.name.span, format!("more than {} functions are called `{text}`", limits::OVERLOADS));
            return None;
        }
        // Library functions and overloads have their parameter types in their names; all others keep the name of the
        // source, by which other programs link to them and the host finds kernels.
        let ir_name = if library {
            cloom_builtins::mangle(&text, h.params.iter().map(|p| self.types.code(p.ty)))
        } else if h.attrs.overloadable && !h.is_kernel {
            // Apart from the library's names even where a user overloads a built-in function.
            cloom_builtins::mangle(&format!("{text}.user"), h.params.iter().map(|p| self.types.code(p.ty)))
        } else {
            text.clone()
        };
        let kernel = h.is_kernel.then(|| Box::new(self.kernel_meta(&h, params)));
        let linkage = match (library, h.internal || self.opts.library) {
            (true, _) => Linkage::Builtin,
            (_, true) if !h.is_kernel => Linkage::Internal,
            _ => Linkage::External,
        };
        let id = self.add_func(Func {
            params: h.params,
            linkage,
            noinline: h.attrs.noinline,
            overloadable: h.attrs.overloadable,
            kernel,
            ..Func::internal(h.name.name, ir_name, h.ret, h.name.span)
        });
        match self.scopes.get_file(h.name.name) {
            Some((Entry::Funcs(list), _)) => list.push(id),
            _ => self.scopes.put_file(h.name.name, Entry::Funcs(vec![id]), h.name.span),
        }
        Some(id)
    }

    pub(super) fn function_def(&mut self, def: &'s ast::FunctionDef) {
        let base = self.specs(&def.specs);
        let declared = self.declarator(base, &def.declarator);
        let attrs = def.specs.attrs.iter().chain(&def.attrs);
        let Some(header) = self.header(&def.specs, &def.declarator, attrs, declared.ty.ty) else {
            return self.leave_out(def.specs.span);
        };
        if self.takes_blocks(&header.params) {
            return self.block_function(header, Some(def));
        }
        let is_kernel = header.is_kernel;
        let (ret, name) = (header.ret, header.name);
        let param_types = header.params.clone();
        let attrs = header.attrs.clone();
        let Some(id) = self.declare_function(header, def.params()) else { return self.leave_out(name.span) };
        let f = &mut self.unit.funcs[id.0 as usize];
        if f.body.is_some() {
            let before = f.span;
            let message = format!("`{}` is defined twice", self.text(name.name));
            self.push(Diagnostic::error("E0301", name.span, message).also(before, "first definition"));
            return;
        }
        // Messages point to the definition from now on.
        f.span = name.span;
        if let Some(meta) = &mut f.kernel {
            // A prototype may have named the parameters otherwise, and lacked the attributes.
            for (p, ast) in meta.params.iter_mut().zip(def.params()) {
                if let Some(name) = ast.declarator.name {
                    p.name = self.session.names.text(name.name).to_owned();
                }
            }
            meta.reqd_group_size = attrs.meta.reqd_group_size.or(meta.reqd_group_size);
            meta.reqd_subgroup_size = attrs.meta.reqd_subgroup_size.or(meta.reqd_subgroup_size);
            meta.expected_subgroup_size = attrs.meta.expected_subgroup_size;
            meta.group_size_hint = attrs.meta.group_size_hint.or(meta.group_size_hint);
            meta.vec_type_hint = attrs.meta.vec_type_hint.or(meta.vec_type_hint.take());
        }
        let base = self.scopes.depth();
        // Parameters and body share a scope, so that a variable of the body cannot hide a parameter.
        self.cx = Some(FnCx { is_kernel, ..FnCx::new(id, name.name, ret, def.specs.span, base) });
        self.scopes.open();
        for (p, &ty) in def.params().iter().zip(&param_types) {
            let name = p.declarator.name;
            let local = self.new_local(name.map(|n| n.name), ty, 1);
            // One without a name is not used.
            if let Some(name) = name {
                self.declare(name, Entry::Local(local));
            }
        }
        let stmts = self.body(&def.body);
        let Some(cx) = self.cx.take() else { return };
        let promise = cx.ret_span;
        let body = self.finish_body(cx, stmts, def.body.span);
        let what = format!("`{}`", self.text(name.name));
        self.warn_of_end(&what, name.span, ret, promise, &body.stmts);
        self.unit.funcs[id.0 as usize].body = Some(body);
    }

    /// Adds a function to the program.
    pub(super) fn add_func(&mut self, func: Func) -> FuncId {
        let id = FuncId(self.unit.funcs.len() as u32);
        self.ir_names.insert(func.ir_name.clone(), id);
        self.unit.funcs.push(func);
        id
    }

    /// The statements of a body, whose scope is open and then closed.
    pub(super) fn body(&mut self, body: &ast::Block) -> Vec<Stmt> {
        let contract = self.contract;
        // `#pragma FP_CONTRACT` in a body holds to the end of the body.
        let stmts = self.stmts(&body.stmts);
        self.contract = contract;
        self.scopes.close();
        stmts
    }

    /// The body of a function that has been left, with these statements in these braces.
    pub(super) fn finish_body(&mut self, cx: FnCx, stmts: Vec<Stmt>, braces: Span) -> Body {
        self.check_labels(&cx);
        // The closing brace: where code that falls through is, for debuggers and messages.
        let end = Span { lo: braces.hi.saturating_sub(1).max(braces.lo), ..braces };
        let body = Body { locals: cx.locals, stmts, labels: cx.label_count, end };
        self.warn_of_uninitialised(&body);
        body
    }

    /// Warns of a function or block that may end without the value that it promises.
    pub(super) fn warn_of_end(&mut self, what: &str, span: Span, ret: QTy, promise: Span, stmts: &[Stmt]) {
        if ret.ty == Ty::VOID || ret.ty == Ty::ERROR || !super::stmt::falls_through(stmts) {
            return;
        }
        let ty = self.type_name(ret.ty);
        self.push(
            Diagnostic::warning("W0301", span, format!("{what} may end without returning a value"))
                .also(promise, format!("it promises `{ty}`"))
                .note("the value is then undefined"),
        );
    }

    fn check_labels(&mut self, cx: &FnCx) {
        let mut missing: Vec<(Symbol, Span)> =
            cx.labels.iter().filter(|(_, l)| l.defined.is_none()).filter_map(|(n, l)| Some((*n, l.used?))).collect();
        // The labels come from a hash map; messages are in the order of the source.
        missing.sort_by_key(|m| m.1.lo);
        for (name, span) in missing {
            let message = format!("there is no label `{}` in this function", self.text(name));
            self.error("E0323", span, message);
        }
    }

    /// The metadata of a kernel; reports constructs that kernels must not have.
    fn kernel_meta(&mut self, h: &Header, params: &[ast::Param]) -> KernelMeta {
        let mut meta = h.attrs.meta.clone();
        if h.ret.ty != Ty::VOID && h.ret.ty != Ty::ERROR {
            let message = format!("kernel `{}` returns `{}`", self.text(h.name.name), self.type_name(h.ret.ty));
            self.push(
                Diagnostic::error("E0318", h.name.span, message)
                    .note("a kernel returns `void`; its results go into buffers"),
            );
        }
        for (p, &qty) in params.iter().zip(&h.params) {
            meta.params.push(self.kernel_param(p, qty));
        }
        meta
    }

    fn kernel_param(&mut self, p: &ast::Param, qty: QTy) -> KernelParam {
        let name = p.declarator.name.map_or(String::new(), |n| self.text(n.name).to_owned());
        let (size, align) = self.types.layout(qty.ty).unwrap_or((1, 1));
        let mut out = KernelParam {
            name,
            type_name: self.written_type_name(p).unwrap_or_else(|| self.argument_type_name(qty.ty)),
            kind: ParamKind::Value,
            size: size as u32,
            align: align as u32,
            is_const: false,
            is_restrict: qty.is_restrict,
            is_volatile: false,
            access: 0,
            pointee_align: 1,
        };
        match self.types.kind(qty.ty).clone() {
            TyKind::Pointer(to) => {
                // Of a pointer, the qualifiers that the host asks for are those of the target.
                out.is_const = to.is_const || to.space == Space::Constant;
                out.is_volatile = to.is_volatile;
                // Of a type without a size, nothing.
                out.pointee_align = self.types.layout_of(to).map_or(1, |(_, align)| align.clamp(1, 128) as u32);
                out.kind = match to.space {
                    Space::Global => ParamKind::Global,
                    Space::Constant => ParamKind::Constant,
                    Space::Local => ParamKind::Local,
                    space @ (Space::Private | Space::Context | Space::Generic) => {
                        let (what, why) = match space {
                            Space::Generic => {
                                ("memory of an unknown kind", "the host passes memory of one address space")
                            }
                            _ => ("private memory", "private memory belongs to one work-item; the host cannot pass it"),
                        };
                        self.push(
                            Diagnostic::error(
                                "E0318",
                                p.span,
                                format!("kernel argument `{}` points to {what}", out.name),
                            )
                            .note(why)
                            .help("write `global`, `constant` or `local` in front of the type"),
                        );
                        ParamKind::Global
                    }
                };
                // Structs with pointers may pass from one kernel to the next.
                // Before OpenCL C 2.0 there is no shared virtual memory, so that an address in memory means nothing.
                if matches!(self.types.kind(to.ty), TyKind::Pointer(_)) && self.opts.c_version < 200 {
                    self.push(
                        Diagnostic::error(
                            "E0318",
                            p.span,
                            format!("kernel argument `{}` points to pointers", out.name),
                        )
                        .note("addresses of the host or of another kernel's run mean nothing on the device")
                        .help("pass one buffer and offsets into it"),
                    );
                }
            }
            TyKind::Record(_) if qty.ty != self.range_type => {
                out.kind = ParamKind::Struct;
                // From OpenCL C 2.0 on it may be an address of shared virtual memory.
                let shared = self.opts.c_version >= 200;
                if !shared && self.types.any_part(qty.ty, &mut |k| matches!(k, TyKind::Pointer(_))) {
                    self.push(
                        Diagnostic::error("E0318", p.span, format!("kernel argument `{}` holds a pointer", out.name))
                            .note("addresses of the host mean nothing on the device")
                            .help("pass the buffer as an argument of its own, or build with `-cl-std=CL2.0` for SVM"),
                    );
                }
                if self.types.any_part(qty.ty, &mut |k| matches!(k, TyKind::ReserveId)) {
                    let help = "reservations are made in kernels";
                    self.bad_kernel_type(p.span, &out.name, "holds a `reserve_id_t`", help);
                }
                if self.types.any_part(qty.ty, &mut |k| matches!(k, TyKind::Bool)) {
                    self.bad_kernel_type(p.span, &out.name, "holds a `bool`", "use `int` or `uchar`");
                }
            }
            TyKind::Bool => self.bad_kernel_type(p.span, &out.name, "is a `bool`", "use `int` or `uchar`"),
            TyKind::Atomic(_) => self.bad_kernel_type(p.span, &out.name, "is an atomic object", "pass a pointer to it"),
            TyKind::Event => self.bad_kernel_type(p.span, &out.name, "is an `event_t`", "events are made in kernels"),
            TyKind::ReserveId => {
                let help = "reservations are made in kernels";
                self.bad_kernel_type(p.span, &out.name, "is a `reserve_id_t`", help);
            }
            TyKind::ClkEvent => {
                self.bad_kernel_type(p.span, &out.name, "is a `clk_event_t`", "events are made in kernels");
            }
            TyKind::Record(_) => {
                self.bad_kernel_type(p.span, &out.name, "is an `ndrange_t`", "pass its sizes");
            }
            TyKind::Queue => out.kind = ParamKind::Queue,
            // By the written name: for the type system, `size_t` is `ulong`, which kernels may take.
            TyKind::Scalar(_) if self.names_host_sized(&p.specs) => {
                self.bad_kernel_type(
                    p.span,
                    &out.name,
                    "has a type whose size the host may see differently",
                    "use `ulong` or `uint`",
                );
            }
            TyKind::Scalar(_) | TyKind::Vector(..) | TyKind::Error => {}
            TyKind::Sampler => out.kind = ParamKind::Sampler,
            TyKind::Image(_, access) => {
                out.kind = ParamKind::Image;
                out.access = access.number();
            }
            TyKind::Pipe(_, access) => {
                out.kind = ParamKind::Pipe;
                out.access = access.number();
            }
            TyKind::Void | TyKind::Array(..) | TyKind::Function(..) | TyKind::Block(..) => {}
        }
        out
    }

    fn bad_kernel_type(&mut self, span: Span, name: &str, what: &str, help: &str) {
        let d =
            Diagnostic::error("E0318", span, format!("kernel argument `{name}` {what}, which a kernel cannot take"));
        self.push(d.help(help));
    }

    /// `size_t` and its like have the device's size; the host's may be another.
    fn names_host_sized(&self, specs: &ast::DeclSpecs) -> bool {
        use crate::syntax::BuiltinType as B;
        matches!(specs.ty, ast::TypeSpec::Builtin(B::SizeT | B::PtrdiffT | B::IntptrT | B::UintptrT))
    }

    /// The type of a parameter that is declared with the name of a `typedef`: as it is written, `sample*`.
    fn written_type_name(&self, p: &ast::Param) -> Option<String> {
        let ast::TypeSpec::Typedef(name) = p.specs.ty else { return None };
        let mut text = self.text(name.name).to_owned();
        for d in &p.declarator.derivations {
            match d.kind {
                // An array parameter is a pointer, and is told as one.
                ast::DerivationKind::Pointer { .. } | ast::DerivationKind::Array { .. } => text.push('*'),
                ast::DerivationKind::Function { .. } | ast::DerivationKind::Block { .. } => return None,
            }
        }
        Some(text)
    }

    /// The type as `clGetKernelArgInfo` spells it: without qualifiers, `float4*`.
    fn argument_type_name(&self, ty: Ty) -> String {
        match self.types.kind(ty) {
            TyKind::Pointer(to) => format!("{}*", self.argument_type_name(to.ty)),
            TyKind::Pipe(packet, _) => self.argument_type_name(*packet),
            _ => self.type_name(ty),
        }
    }

    /// OpenCL C has no recursion: reports each cycle of calls once.
    pub(super) fn check_recursion(&mut self) {
        let n = self.unit.funcs.len();
        // 0 unseen, 1 on the path, 2 done. An explicit stack: programs may be long chains of calls.
        let mut state = vec![0u8; n];
        for start in 0..n {
            if state[start] != 0 {
                continue;
            }
            let mut stack = vec![(start, 0usize)];
            state[start] = 1;
            while let Some(&mut (f, ref mut next)) = stack.last_mut() {
                // A later call of `f` cannot close a cycle: everything that `f` calls has been followed.
                let Some(&(callee, span)) = self.unit.funcs[f].calls.get(*next) else {
                    state[f] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let callee = callee.0 as usize;
                match state[callee] {
                    0 => {
                        state[callee] = 1;
                        stack.push((callee, 0));
                    }
                    1 => {
                        // The callee is on the path, so that the path from it to here is the cycle.
                        let from = stack.iter().position(|s| s.0 == callee).unwrap_or(0);
                        let path: Vec<String> = stack[from..]
                            .iter()
                            .map(|s| s.0)
                            .chain([callee])
                            .map(|i| {
                                let (name, is_block) =
                                    (self.unit.funcs[i].name, self.blocks.contains(&FuncId(i as u32)));
                                format!("{}`{}`", if is_block { "a block of " } else { "" }, self.text(name))
                            })
                            .collect();
                        let message = match path.len() {
                            2 => format!("{} calls itself", path[0]),
                            _ => format!("functions call each other in a circle: {}", path.join(" → ")),
                        };
                        self.push(
                            Diagnostic::error("E0320", span, message)
                                .note("recursion is not allowed in OpenCL C: work-items have no stack that could grow")
                                .help("write a loop, with an array as a stack if need be"),
                        );
                    }
                    _ => {}
                }
            }
        }
    }
}
