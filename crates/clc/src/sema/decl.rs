//! Declarations: typedefs, variables of program scope and of functions, external constants, compound literals.
//!
//! In comes the syntax of a declaration; names go into the scope, objects into the unit or the function, and out go
//! the statements that initialise variables.

use super::attrs::TypeAttrs;
use super::scope::Entry;
use super::specs::Declared;
use super::tree::{Data, GlobalId, GlobalVar, Init, InitPart, LocalId, LocalVar, Stmt, StmtKind};
use super::types::{QTy, Ty, TyKind, space_name};
use super::{Sema, limits};
use crate::source::{Diagnostic, Span, Symbol};
use crate::syntax::ast::{self, Ident, Storage};
use cloom_builtins::Elem;
use cloom_ir::{GlobalLinkage, Space};

impl Sema<'_> {
    /// Declares a name in the innermost scope, or says that it is taken.
    pub(super) fn declare(&mut self, name: Ident, entry: Entry) {
        if let Some((_, before)) = self.scopes.get_here(name.name) {
            let before = *before;
            let message = format!("`{}` is declared twice", self.text(name.name));
            self.push(Diagnostic::error("E0301", name.span, message).also(before, "first declaration"));
            return;
        }
        self.scopes.put(name.name, entry, name.span);
    }

    /// A declaration; the statements that initialise its variables.
    pub(super) fn declaration(&mut self, d: &ast::Declaration) -> Vec<Stmt> {
        let base = self.specs(&d.specs);
        let mut stmts = Vec::new();
        for item in &d.declarators {
            let mut declared = self.declarator(base, &item.declarator);
            declared.ty.ty = self.attributed_type(declared.ty.ty, &item.attrs);
            let Some(name) = item.declarator.name else { continue };
            if let Some((Storage::Typedef, _)) = d.specs.storage {
                let attrs = TypeAttrs::read(self, &d.specs.attrs).and(TypeAttrs::read(self, &item.attrs));
                if let Some(align) = attrs.align {
                    // It replaces the alignment of the type, also by less.
                    declared.ty.align = align;
                }
                self.typedef(name, declared);
                continue;
            }
            // A declarator decides, not the specifiers: `int x, f(void);` declares both a variable and a function.
            if matches!(self.types.kind(declared.ty.ty), TyKind::Function(..)) {
                self.prototype(&d.specs, item, declared.ty);
                continue;
            }
            self.warn_of_kernel_attributes(d.specs.attrs.iter().chain(&item.attrs));
            if let Some(span) = d.specs.kernel {
                self.error("E0318", span, "`kernel` is for functions");
            }
            self.variable(&d.specs, item, name, declared, &mut stmts);
        }
        stmts
    }

    fn typedef(&mut self, name: Ident, d: Declared) {
        if let TyKind::Record(id) = *self.types.kind(d.ty.ty) {
            // `typedef struct { … } s;`: messages then say `s`. The first name counts.
            self.types.record_names.entry(id).or_insert(name.name);
        }
        if let Some((Entry::Typedef(before, space), _)) = self.scopes.get_here(name.name)
            // C11 allows a `typedef` to be repeated if it names the same type.
            && *before == d.ty
            && *space == d.space
        {
            return;
        }
        self.declare(name, Entry::Typedef(d.ty, d.space));
    }

    fn variable(
        &mut self,
        specs: &ast::DeclSpecs,
        item: &ast::InitDeclarator,
        name: Ident,
        d: Declared,
        stmts: &mut Vec<Stmt>,
    ) {
        if self.types.block(d.ty.ty).is_some() {
            let is_extern = matches!(specs.storage, Some((Storage::Extern, _)));
            // Blocks have no objects, so that none of the rules below applies to them.
            return self.block_variable(item, name, d.ty.ty, is_extern, stmts);
        }
        let mut attrs = TypeAttrs::read(self, &specs.attrs).and(TypeAttrs::read(self, &item.attrs));
        // The specifier and the attributes together: the greatest alignment counts.
        attrs.align = attrs.align.max(self.alignas(&specs.alignas));
        let at_file = self.scopes.at_file();
        let space = d.space.unwrap_or(Space::Private);
        let is_static = matches!(specs.storage, Some((Storage::Static, _)));
        let is_extern = matches!(specs.storage, Some((Storage::Extern, _)));
        let mut qty = QTy { space, ..d.ty };
        // The structure may be completed before the variable is used.
        let later = is_extern && item.init.is_none() && self.types.record(qty.ty).is_some_and(|r| r.fields.is_none());
        if !later && self.check_object_type(qty.ty, item.declarator.span).is_none() {
            self.put_error(name);
            return;
        }
        // `const sampler_t s = …;` needs no address space: a sampler of program scope is a constant, also where other
        // variables are in global memory.
        let is_sampler = qty.ty == Ty::SAMPLER && (at_file || self.opts.variables && (is_static || is_extern));
        if is_sampler {
            qty.space = Space::Constant;
        }
        if space == Space::Generic {
            let message = format!("variable `{}` is in the generic address space", self.text(name.name));
            self.push(
                Diagnostic::error("E0319", item.span, message)
                    .note("only what a pointer points to may be generic; an object is in one address space"),
            );
            self.put_error(name);
            return;
        }
        if at_file && self.types.any_part(qty.ty, &mut |k| matches!(k, TyKind::ReserveId)) {
            let message = format!("variable `{}` of program scope holds a `reserve_id_t`", self.text(name.name));
            let note = "a reservation belongs to the kernel that made it";
            self.push(Diagnostic::error("E0319", item.span, message).note(note));
            self.put_error(name);
            return;
        }
        if (at_file || is_static || is_extern)
            && let Some(what) =
                [Ty::CLK_EVENT, Ty::QUEUE, self.range_type].into_iter().find(|&ty| ty == qty.ty && ty != Ty::ERROR)
        {
            let message = format!("a variable of type `{}` cannot be in program scope", self.type_name(what));
            self.error("E0319", item.span, message);
            self.put_error(name);
            return;
        }
        if is_extern && !at_file && item.init.is_some() {
            let message =
                format!("`extern` variable `{}` of a function cannot have an initial value", self.text(name.name));
            self.push(
                Diagnostic::error("E0315", item.span, message)
                    .note("it is declared here and defined in program scope, or by another program")
                    .help("write the initial value at the definition"),
            );
            return self.put_error(name);
        }
        if at_file || is_static || is_extern {
            // From here on, variables with static storage; those of one call of a function follow below.
            if d.space.is_none() && self.opts.variables && !is_sampler {
                qty.space = Space::Global;
            }
            if qty.space != Space::Constant && !(qty.space == Space::Global && self.opts.variables) {
                self.wrong_program_space(name, qty, at_file, specs.span);
                self.put_error(name);
                return;
            }
            // The library's constants stay internal: a program that is linked with its functions may use the same
            // names.
            let external = is_extern || (at_file && !is_static && !self.opts.library);
            return match (external, &item.init) {
                (true, None) if is_extern => self.extern_declaration(name, qty, attrs),
                _ => self.data(name, qty, attrs, item, external),
            };
        }
        match space {
            Space::Constant => self.data(name, qty, attrs, item, false),
            Space::Local => self.local_memory(name, qty, attrs, item),
            Space::Global => {
                let message = format!("variable `{}` of a function cannot be in global memory", self.text(name.name));
                self.push(
                    Diagnostic::error("E0319", item.span, message)
                        .note("global memory is allocated by the host")
                        .help("declare a pointer to global memory, or a variable without `global`"),
                );
                self.put_error(name);
            }
            Space::Private | Space::Context | Space::Generic => self.private_variable(name, qty, attrs, item, stmts),
        }
    }

    /// The alignment of a variable: that of its type, or more if attributes of the variable say so.
    fn align_with(&self, ty: QTy, attrs: TypeAttrs) -> u64 {
        self.types.align_of(ty).max(attrs.align.unwrap_or(1).into())
    }

    pub(super) fn put_error(&mut self, name: Ident) {
        self.leave_out(name.span);
        // An earlier declaration of the name stays, so that its uses are not reported.
        if self.scopes.get_here(name.name).is_none() {
            self.scopes.put(name.name, Entry::Error, name.span);
        }
    }

    fn wrong_program_space(&mut self, name: Ident, qty: QTy, at_file: bool, span: Span) {
        let what = if at_file { "variable of program scope" } else { "static variable" };
        let or_global = if self.opts.variables { "global or " } else { "" };
        let message = format!("{what} `{}` must be in the {or_global}constant address space", self.text(name.name));
        let mut d = Diagnostic::error("E0319", span, message);
        let is_offered = self.has_feature(cloom_caps::feature::PROGRAM_SCOPE_VARIABLES);
        d = match qty.space {
            Space::Private => d.help("write `constant` in front of the type; such variables cannot be changed"),
            Space::Global if is_offered => d.note("variables in global memory are a feature of OpenCL C 3.0"),
            s => d.note(format!("there are no program-scope variables in `{}` memory", space_name(s))),
        };
        if is_offered && !self.opts.variables {
            d = d.help("build with `-cl-std=CL3.0` for variables that kernels can change");
        }
        self.push(d);
    }

    /// Whether variables of this type can exist.
    fn check_object_type(&mut self, ty: Ty, span: Span) -> Option<()> {
        if ty == Ty::ERROR {
            return None;
        }
        if ty == Ty::VOID {
            self.error("E0316", span, "variable of type `void`");
            return None;
        }
        if self.types.any_part(ty, &mut |k| matches!(k, TyKind::Image(..))) {
            let message = format!("variable of type `{}`: an image can only be a parameter", self.type_name(ty));
            self.error("E0319", span, message);
            return None;
        }
        if let TyKind::Pipe(..) = self.types.kind(ty) {
            let message = format!("variable of type `{}`: a pipe can only be a parameter", self.type_name(ty));
            self.error("E0319", span, message);
            return None;
        }
        if let Some(record) = self.types.record(ty)
            && record.fields.is_none()
        {
            let at = record.span;
            let message = format!("variable of incomplete type `{}`", self.type_name(ty));
            self.push(Diagnostic::error("E0316", span, message).also(at, "declared here without members"));
            return None;
        }
        if !self.opts.fp16
            && self.types.any_part(ty, &mut |k| matches!(k, TyKind::Scalar(Elem::F16) | TyKind::Vector(Elem::F16, _)))
        {
            // Records of halves may be pointed to, and arrays of them may live in memory; single values may not.
            if !self.types.is_aggregate(ty) {
                self.no_half(span);
                return None;
            }
        }
        Some(())
    }

    /// A name for a global that no other has.
    pub(super) fn global_name(&mut self, text: &str) -> String {
        // Variables of different functions or scopes may have one name in the source; globals of the IR may not. Names
        // of C hold no dot, so that a number behind a dot makes a new one.
        let n = self.global_names.entry(text.to_owned()).or_insert(0);
        *n += 1;
        if *n == 1 { text.to_owned() } else { format!("{text}.{}", *n - 1) }
    }

    fn scoped_name(&mut self, name: Symbol) -> String {
        let text = match &self.cx {
            Some(cx) => format!("{}.{}", self.text(cx.name), self.text(name)),
            None => self.text(name).to_owned(),
        };
        self.global_name(&text)
    }

    /// Adds data.
    pub(super) fn add_global(&mut self, name: String, ty: QTy, align: u64, data: Option<Data>) -> GlobalId {
        let id = GlobalId(self.unit.globals.len() as u32);
        self.unit.globals.push(GlobalVar { name, ty, align, linkage: GlobalLinkage::Internal, data });
        id
    }

    /// The object of a string literal.
    pub(super) fn string_global(&mut self, bytes: &[u8]) -> GlobalId {
        if let Some(&id) = self.strings.get(bytes) {
            return id;
        }
        let mut data = bytes.to_vec();
        data.push(0);
        let of = QTy::plain(Ty::CHAR);
        let ty = self.types.intern(TyKind::Array(of, Some(data.len() as u64)));
        let qty = QTy { is_const: true, space: Space::Constant, ..QTy::plain(ty) };
        let name = self.global_name(".str");
        let id = self.add_global(name, qty, 1, Some(Data { bytes: data, relocs: Vec::new() }));
        self.strings.insert(bytes.into(), id);
        id
    }

    /// The global of an external name, which may have been declared before: then the types must agree. The longer known
    /// array type counts for both.
    fn external(&mut self, name: Ident, qty: QTy, attrs: TypeAttrs) -> Option<GlobalId> {
        let align = self.align_with(qty, attrs);
        // An import until a definition comes, in this program or in another one.
        let Some(&id) = self.externals.get(&name.name) else {
            let text = self.text(name.name).to_owned();
            let ir_name = self.global_name(&text);
            let id = self.add_global(ir_name, qty, align, None);
            self.unit.globals[id.0 as usize].linkage = GlobalLinkage::Import;
            self.externals.insert(name.name, id);
            return Some(id);
        };
        self.declared_again(id, name, qty, align)
    }

    /// A known global that is declared again: the types must agree.
    fn declared_again(&mut self, id: GlobalId, name: Ident, qty: QTy, align: u64) -> Option<GlobalId> {
        let before = self.unit.globals[id.0 as usize].ty;
        let ty = match (self.types.kind(before.ty), self.types.kind(qty.ty)) {
            _ if before.ty == qty.ty => qty.ty,
            // One declaration may leave the length open: the other one gives it.
            (TyKind::Array(a, None), TyKind::Array(b, _)) if a.ty == b.ty => qty.ty,
            (TyKind::Array(a, _), TyKind::Array(b, None)) if a.ty == b.ty => before.ty,
            _ => {
                let (text, was, is) = (self.text(name.name), self.type_name(before.ty), self.type_name(qty.ty));
                let message = format!("`{text}` was declared as `{was}` before, now as `{is}`");
                self.error("E0302", name.span, message);
                return None;
            }
        };
        let global = &mut self.unit.globals[id.0 as usize];
        global.ty.ty = ty;
        global.align = global.align.max(align);
        Some(id)
    }

    /// `extern constant T name;`: defined later, or by a program that this one is linked with.
    fn extern_declaration(&mut self, name: Ident, mut qty: QTy, attrs: TypeAttrs) {
        qty.is_const |= qty.space == Space::Constant;
        let known = match self.scopes.get_file(name.name) {
            Some(&mut (Entry::Global(id), _)) => Some(id),
            _ => None,
        };
        let id = match known.filter(|id| self.unit.globals[id.0 as usize].linkage == GlobalLinkage::Internal) {
            // A `static` one of this program is meant, as C has it, and not one of another program.
            Some(id) => self.declared_again(id, name, qty, self.align_with(qty, attrs)),
            None => self.external(name, qty, attrs),
        };
        let Some(id) = id else { return self.put_error(name) };
        match self.scopes.get_here(name.name) {
            Some((Entry::Global(before), _)) if *before == id => {}
            _ => self.declare(name, Entry::Global(id)),
        }
    }

    /// A definition of data: a constant, or a variable in global memory.
    fn data(&mut self, name: Ident, mut qty: QTy, attrs: TypeAttrs, item: &ast::InitDeclarator, external: bool) {
        let is_constant = qty.space == Space::Constant;
        // Constant memory is `const` whether the program writes it or not.
        qty.is_const |= is_constant;
        if item.init.is_none() && is_constant {
            let what = if qty.ty == Ty::SAMPLER { "sampler" } else { "constant" };
            let message = format!("{what} `{}` has no initial value", self.text(name.name));
            self.push(
                Diagnostic::error("E0315", item.span, message)
                    .note("data in the constant address space cannot be written later")
                    .help("write `extern` in front of it if another program defines it"),
            );
            self.put_error(name);
            return;
        }
        // The name is visible in its own initialiser, for its address and size.
        let id = if external {
            // Asked before `external`, which makes the global that the name will mean.
            let declared = self.scopes.get_here(name.name).map(|(entry, _)| entry.clone());
            let Some(id) = self.external(name, qty, attrs) else { return self.put_error(name) };
            let global = &mut self.unit.globals[id.0 as usize];
            match (declared, global.linkage) {
                // So far there is only a declaration: this is the definition.
                (Some(Entry::Global(before)), GlobalLinkage::Import) if before == id => {}
                _ => self.declare(name, Entry::Global(id)),
            }
            let global = &mut self.unit.globals[id.0 as usize];
            // A second definition: the first one's data stays.
            if global.linkage == GlobalLinkage::External {
                return;
            }
            (global.linkage, global.data) = (GlobalLinkage::External, Some(Data::default()));
            id
        } else {
            let align = self.align_with(qty, attrs);
            let ir_name = self.scoped_name(name.name);
            let id = self.add_global(ir_name, qty, align, Some(Data::default()));
            self.declare(name, Entry::Global(id));
            id
        };
        // The initialiser may give an array its length, so that size and alignment are known only after it.
        let init = item.init.as_ref().map(|init| self.initializer(&mut qty, init));
        self.unit.globals[id.0 as usize].ty = qty;
        let size = self.types.size(qty.ty);
        let (left, limit, what) = match is_constant {
            true => (&mut self.data_left, limits::DATA, "constant data"),
            false => (&mut self.variables_left, limits::VARIABLES, "variables in global memory"),
        };
        match left.checked_sub(size) {
            Some(rest) => *left = rest,
            None => {
                self.error("E0325", item.span, format!("the program's {what} exceed {limit} bytes"));
                return;
            }
        }
        let global = &mut self.unit.globals[id.0 as usize];
        global.align = global.align.max(self.types.align_of(qty));
        // A variable without initial value is zero.
        if let Some(init) = init {
            match self.eval_init(&init, size) {
                Some(data) => self.unit.globals[id.0 as usize].data = Some(data),
                None => self.leave_out(item.span),
            }
        }
    }

    fn local_memory(&mut self, name: Ident, qty: QTy, attrs: TypeAttrs, item: &ast::InitDeclarator) {
        let in_kernel = self.cx.as_ref().is_some_and(|cx| cx.is_kernel);
        if !in_kernel {
            self.push(
                Diagnostic::error("E0319", item.span, "local variables can only be declared in kernels")
                    .help("declare it in the kernel and pass a pointer to it"),
            );
            self.put_error(name);
            return;
        }
        if item.init.is_some() {
            let message = format!("local variable `{}` cannot have an initial value", self.text(name.name));
            self.push(
                Diagnostic::error("E0315", item.span, message)
                    .note("it is shared by all work-items of the group")
                    .help("let one work-item assign it, then call `barrier(CLK_LOCAL_MEM_FENCE)`"),
            );
        }
        let Some((size, _)) = self.types.layout(qty.ty) else {
            self.error("E0317", item.span, "array of local memory without a size");
            self.put_error(name);
            return;
        };
        let total = self.cx.as_mut().map_or(0, |cx| {
            cx.local_bytes = cx.local_bytes.saturating_add(size);
            cx.local_bytes
        });
        if total > limits::LOCAL {
            let message = format!("the kernel's local variables exceed {} bytes", limits::LOCAL);
            self.error("E0325", item.span, message);
            self.put_error(name);
            return;
        }
        let ir_name = self.scoped_name(name.name);
        let id = self.add_global(ir_name, qty, self.align_with(qty, attrs), None);
        self.declare(name, Entry::Global(id));
    }

    fn private_variable(
        &mut self,
        name: Ident,
        mut qty: QTy,
        attrs: TypeAttrs,
        item: &ast::InitDeclarator,
        stmts: &mut Vec<Stmt>,
    ) {
        if matches!(qty.ty, Ty::SAMPLER) {
            qty.is_const = true;
        }
        // The name is in scope in its own initialiser (`size_t n = sizeof n;`); the type may change there, for an array
        // without a length.
        let id = self.new_local(Some(name.name), qty, self.align_with(qty, attrs));
        self.declare(name, Entry::Local(id));
        if let Some(cx) = &mut self.cx {
            cx.locals[id.0 as usize].named = Some(name.span);
        }
        if let Some(init) = &item.init {
            let mut init = self.initializer(&mut qty, init);
            self.init_template(&mut init, qty, self.align_with(qty, attrs));
            // It may be the length of an array or the value of a case, as in Clang.
            let constant = match &init.parts[..] {
                [InitPart::Value(0, e)] if qty.is_const && !qty.is_volatile => self.eval_int(e),
                _ => None,
            };
            if let Some(cx) = &mut self.cx {
                let local = &mut cx.locals[id.0 as usize];
                local.ty = qty;
                local.constant = constant.map(|n| n as u64 & super::constant::mask(&self.types, qty.ty));
            }
            stmts.push(Stmt { kind: StmtKind::Init(id, init), span: item.span });
        } else if let Some(cx) = &mut self.cx {
            cx.locals[id.0 as usize].declared = Some(name.span);
            stmts.push(Stmt { kind: StmtKind::Declare(id), span: item.span });
        }
        let Some((size, _)) = self.types.layout(qty.ty) else {
            if qty.ty != Ty::ERROR {
                let message = format!("size of array `{}` is missing", self.text(name.name));
                self.error("E0317", item.span, message);
            }
            return;
        };
        self.count_private(id, size, self.align_with(qty, attrs), item.span);
    }

    pub(super) fn count_private(&mut self, id: LocalId, size: u64, align: u64, span: Span) {
        let Some(cx) = &mut self.cx else { return };
        cx.locals[id.0 as usize].align = align;
        let before = cx.private_bytes;
        cx.private_bytes = before.saturating_add(size);
        // Reported once, by the variable that crosses the limit.
        if before <= limits::PRIVATE && cx.private_bytes > limits::PRIVATE {
            let message = format!("the private variables of one function exceed {} bytes", limits::PRIVATE);
            self.push(
                Diagnostic::error("E0325", span, message)
                    .note("each work-item has a copy of its own")
                    .help("use a buffer in global memory"),
            );
        }
    }

    /// A new variable of the function; its type may still change.
    pub(super) fn new_local(&mut self, name: Option<Symbol>, ty: QTy, align: u64) -> LocalId {
        let Some(cx) = &mut self.cx else { return LocalId(0) };
        let id = LocalId(cx.locals.len() as u32);
        let align = align.max(self.types.align_of(ty));
        cx.locals.push(LocalVar { name, ty, align, constant: None, declared: None, named: None });
        id
    }

    /// A nameless object with its initial value: of the function, or of program scope.
    pub(super) fn compound_literal(&mut self, mut qty: QTy, list: &ast::InitList) -> super::tree::Expr {
        use super::tree::{Expr, ExprKind};
        if self.check_object_type(qty.ty, list.span).is_none() {
            return Expr::error(list.span);
        }
        let mut init = self.init_list(&mut qty, list);
        if self.cx.is_none() {
            qty.space = Space::Constant;
            qty.is_const = true;
            let size = self.types.size(qty.ty);
            // The limit before the evaluation, which makes the bytes.
            let data = if size <= self.data_left { self.eval_init(&init, size) } else { None };
            self.data_left = self.data_left.saturating_sub(size);
            if data.is_none() {
                self.leave_out(list.span);
            }
            let name = self.global_name(".compound");
            let align = self.types.align_of(qty);
            let id = self.add_global(name, qty, align, Some(data.unwrap_or_default()));
            return Expr { kind: ExprKind::Global(id), ty: qty, lvalue: true, span: list.span };
        }
        qty.space = Space::Private;
        self.init_template(&mut init, qty, 1);
        let id = self.new_local(None, qty, 1);
        let (size, align) = self.types.layout_of(qty).unwrap_or((1, 1));
        self.count_private(id, size, align, list.span);
        Expr { kind: ExprKind::Compound(id, Box::new(init)), ty: qty, lvalue: true, span: list.span }
    }

    /// An object of zeros, for what could not be made.
    pub(super) fn no_init() -> Init {
        Init::default()
    }
}
