//! Device-side enqueue: `enqueue_kernel` and what belongs to it.
//!
//! In come the name of a function and its arguments; out goes a call of the launcher ([`Special::Device`]) with the
//! operands that [`cloom_ir::abi::device`] lists. A block that is enqueued, or asked about, gets a kernel: a function
//! with the block's pointers to local memory and its captured values as parameters, which calls the block. An
//! `ndrange_t` is a structure, so that `ndrange_2D` and its like only fill one.

use crate::sema::counts::arguments;
use crate::sema::tree::{
    Body, Expr, ExprKind, Func, FuncId, Init, InitPart, LocalId, LocalVar, Special, Stmt, StmtKind,
};
use crate::sema::types::{Field, QTy, Record, RecordId, Ty, TyKind};
use crate::sema::{Sema, scope::Entry};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use cloom_builtins::Elem;
use cloom_caps::feature;
use cloom_ir::abi::device as abi;
use cloom_ir::{DeviceCall, KernelMeta, KernelParam, Linkage, ParamKind, Space};

/// A function of this file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sema) enum Function {
    /// `enqueue_kernel`
    Kernel,
    /// `enqueue_marker`
    Marker,
    /// `ndrange_1D`, …: so many dimensions.
    Range(u8),
    /// One with arguments of fixed types.
    Plain(DeviceCall),
    /// One that asks about a block.
    AboutBlock(DeviceCall),
    /// One that asks about a block and a range.
    AboutRange(DeviceCall),
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("enqueue_kernel", Function::Kernel),
    ("enqueue_marker", Function::Marker),
    ("ndrange_1D", Function::Range(1)),
    ("ndrange_2D", Function::Range(2)),
    ("ndrange_3D", Function::Range(3)),
    ("get_default_queue", Function::Plain(DeviceCall::DefaultQueue)),
    ("create_user_event", Function::Plain(DeviceCall::CreateUserEvent)),
    ("retain_event", Function::Plain(DeviceCall::RetainEvent)),
    ("release_event", Function::Plain(DeviceCall::ReleaseEvent)),
    ("is_valid_event", Function::Plain(DeviceCall::IsValidEvent)),
    ("set_user_event_status", Function::Plain(DeviceCall::SetUserEventStatus)),
    ("capture_event_profiling_info", Function::Plain(DeviceCall::CaptureProfiling)),
    ("get_kernel_work_group_size", Function::AboutBlock(DeviceCall::WorkGroupSize)),
    ("get_kernel_preferred_work_group_size_multiple", Function::AboutBlock(DeviceCall::PreferredMultiple)),
    ("get_kernel_max_sub_group_size_for_ndrange", Function::AboutRange(DeviceCall::MaxSubgroupSize)),
    ("get_kernel_sub_group_count_for_ndrange", Function::AboutRange(DeviceCall::SubgroupCount)),
];

/// The names that programs use for codes, flags and null objects, as macros.
pub const CONSTANTS: &[(&str, &str)] = &[
    ("CLK_NULL_EVENT", "__cl_null_event"),
    ("CLK_NULL_QUEUE", "__cl_null_queue"),
    ("CLK_ENQUEUE_FLAGS_NO_WAIT", "0"),
    ("CLK_ENQUEUE_FLAGS_WAIT_KERNEL", "1"),
    ("CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP", "2"),
    ("CLK_PROFILING_COMMAND_EXEC_TIME", "1"),
    ("CLK_SUCCESS", "0"),
    ("CLK_ENQUEUE_FAILURE", "-101"),
    ("CLK_INVALID_QUEUE", "-102"),
    ("CLK_INVALID_NDRANGE", "-160"),
    ("CLK_INVALID_EVENT_WAIT_LIST", "-57"),
    ("CLK_DEVICE_QUEUE_FULL", "-161"),
    ("CLK_INVALID_ARG_SIZE", "-51"),
    ("CLK_EVENT_ALLOCATION_FAILURE", "-100"),
    ("CLK_OUT_OF_RESOURCES", "-5"),
    ("CL_COMPLETE", "0"),
    ("CL_RUNNING", "1"),
    ("CL_SUBMITTED", "2"),
    ("CL_QUEUED", "3"),
];

/// The function of a name.
pub(in crate::sema) fn function(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|f| f.0 == name).map(|f| f.1)
}

/// The names, for suggestions.
pub(in crate::sema) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|f| f.0)
}

impl Sema<'_> {
    /// Declares `ndrange_t` and the null objects.
    pub(in crate::sema) fn declare_enqueue(&mut self) {
        if !self.opts.blocks {
            return;
        }
        let mut fields = Vec::new();
        let three = self.types.intern(TyKind::Array(QTy::plain(Ty::ULONG), Some(3)));
        let members = [
            (abi::RANGE_DIM, Ty::UINT),
            (abi::RANGE_FLAGS, Ty::UINT),
            (abi::RANGE_OFFSET, three),
            (abi::RANGE_GLOBAL, three),
            (abi::RANGE_LOCAL, three),
        ];
        for (offset, ty) in members {
            // A name that no program can write.
            let name = self.session.names.intern(&format!("@{offset}"));
            fields.push(Field { name: Some(name), ty: QTy::plain(ty), offset, span: Span::default() });
        }
        let id = RecordId(self.types.records.len() as u32);
        let fields = Some(fields);
        let (size, align, span) = (abi::RANGE_SIZE, 8, Span::default());
        self.types.records.push(Record { is_union: false, tag: None, fields, size, align, span });
        // The structure has no tag; messages call it by the name of its type.
        let name = self.session.names.intern("ndrange_t");
        self.types.record_names.insert(id, name);
        self.range_type = self.types.intern(TyKind::Record(id));
        for (name, ty) in [("__cl_null_event", Ty::CLK_EVENT), ("__cl_null_queue", Ty::QUEUE)] {
            let name = self.session.names.intern(name);
            self.scopes.put(name, Entry::Constant(0, ty), span);
        }
    }

    /// Reports the use of a type or function without device-side enqueue.
    pub(in crate::sema) fn no_enqueue(&mut self, span: Span) {
        if self.has_feature(feature::DEVICE_ENQUEUE) {
            let message = "device-side enqueue is not in this version of the language";
            self.push(Diagnostic::error("E0326", span, message).help("build with `-cl-std=CL2.0` or `-cl-std=CL3.0`"));
        } else {
            self.unavailable(span, "device-side enqueue is", "enqueue kernels from the host");
        }
    }

    /// A call of such a function.
    pub(in crate::sema) fn enqueue_call(
        &mut self,
        f: Function,
        name: &str,
        at: Span,
        args: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let values: Vec<Expr> = args.iter().map(|a| self.rvalue_of(a)).collect();
        if !self.opts.blocks {
            self.no_enqueue(at);
            return Expr::error(span);
        }
        if values.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        if self.cx.is_none() {
            self.not_constant(span, "a value of program scope");
            return Expr::error(span);
        }
        let result = match f {
            Function::Kernel => self.enqueue_kernel(values, at, span),
            Function::Marker => self.enqueue_marker(values, at, span),
            Function::Range(dims) => self.range(dims, name, values, at, span),
            Function::Plain(call) => self.plain_call(call, name, values, at, span),
            Function::AboutBlock(call) => self.about_block(call, name, values, false, at, span),
            Function::AboutRange(call) => self.about_block(call, name, values, true, at, span),
        };
        result.unwrap_or_else(|| Expr::error(span))
    }

    /// An argument as a value of a type.
    fn passed(&mut self, e: Expr, ty: Ty) -> Option<Expr> {
        let at = e.span;
        Some(self.assigned(e, ty, "pass", at)).filter(|e| !e.is_error())
    }

    /// An argument that points to events, in any memory; null if it is 0.
    fn event_pointer(&mut self, e: Expr, writes: bool) -> Option<Expr> {
        let span = e.span;
        let to = QTy { is_const: !writes, space: Space::Generic, ..QTy::plain(Ty::CLK_EVENT) };
        let ty = self.types.pointer(to);
        if self.is_zero(&e) {
            // `NULL` and 0 are in no address space: they become a null pointer of the generic one.
            return Some(self.constant(0, ty, span));
        }
        self.passed(e, ty)
    }

    /// The flag that says whether the program wants to know the reason of a failure.
    fn flags(&mut self, flags: Expr) -> Expr {
        let span = flags.span;
        // The flags of the call have room for it: the launcher takes 64 bits, and programs set the low ones.
        let debug = if self.opts.debug_info { abi::FLAG_DEBUG } else { 0 };
        let flags = self.convert(flags, Ty::ULONG);
        let debug = self.constant(debug, Ty::ULONG, span);
        Expr::value(ExprKind::Binary(cloom_ir::BinOp::Or, Box::new(flags), Box::new(debug)), Ty::ULONG, span)
    }

    fn enqueue_kernel(&mut self, args: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        let count = args.len();
        if count < 4 {
            self.wrong_count("enqueue_kernel", "a queue, flags, a range and a block at least", count, at);
            return None;
        }
        let mut args = args.into_iter();
        let queue = args.next().and_then(|e| self.passed(e, Ty::QUEUE))?;
        let flags = args.next().and_then(|e| self.passed(e, Ty::UINT))?;
        let flags = self.flags(flags);
        let range = args.next().and_then(|e| self.passed(e, self.range_type))?;
        let mut next = args.next()?;
        let null = {
            let to = QTy { space: Space::Generic, ..QTy::plain(Ty::CLK_EVENT) };
            self.types.pointer(to)
        };
        let (events, list, event);
        // The fourth argument is the block, or the number of events of the form that waits for events and gives one.
        if self.types.block(next.ty.ty).is_none() {
            let (Some(l), Some(e), Some(block)) = (args.next(), args.next(), args.next()) else {
                self.bad_argument(&next, "a block");
                return None;
            };
            events = self.passed(next, Ty::UINT)?;
            list = self.event_pointer(l, false)?;
            event = self.event_pointer(e, true)?;
            next = block;
        } else {
            (events, list, event) =
                (self.constant(0, Ty::UINT, at), self.constant(0, null, at), self.constant(0, null, at));
        }
        let block_span = next.span;
        let (func, captured) = self.block_argument(next)?;
        // Parameters that are not captured are pointers to local memory, as `block_argument` has checked.
        let locals = self.unit.funcs[func.0 as usize].params.len() - captured.len();
        let sizes: Vec<Expr> = args.map(|e| self.passed(e, Ty::UINT)).collect::<Option<_>>()?;
        if sizes.len() != locals {
            let s = if locals == 1 { "" } else { "s" };
            let given = match sizes.len() {
                1 => "1 size is".to_owned(),
                n => format!("{n} sizes are"),
            };
            let message = format!("the block has {locals} parameter{s} in local memory, but {given} given");
            let d = Diagnostic::error("E0333", at, message).also(block_span, "this block");
            self.push(d.help("the size of each follows the block"));
            return None;
        }
        self.check_captured(&captured);
        let kernel = self.block_kernel(func);
        let special =
            Special::Device { call: DeviceCall::EnqueueKernel, block: Some(kernel), captured: captured.len() as u32 };
        let mut all = captured;
        // In the order that `lower/device.rs` takes apart: captured values, six operands, sizes.
        all.extend([queue, flags, range, events, list, event]);
        all.extend(sizes);
        Some(Expr::value(ExprKind::Special(special, all), Ty::INT, span))
    }

    /// Warns of pointers that a block keeps and that lead nowhere when it runs.
    fn check_captured(&mut self, captured: &[Expr]) {
        for value in captured {
            let Some(to) = self.types.pointee(value.ty.ty) else { continue };
            // Values were copied, and global memory outlives the kernel: only these two spaces are gone.
            let (what, whose) = match to.space {
                Space::Private => ("private", "work-item"),
                Space::Local => ("local", "work-group"),
                _ => continue,
            };
            let message = format!("a block that is enqueued captures a pointer to {what} memory");
            self.push(
                Diagnostic::warning("W0310", value.span, message)
                    .note(format!("that memory is the {whose}'s own, and gone when the block runs"))
                    .help("copy what it points to, or use global memory"),
            );
        }
    }

    fn enqueue_marker(&mut self, args: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        let count = args.len();
        let Ok([queue, events, list, event]) = <[Expr; 4]>::try_from(args) else {
            self.wrong_count("enqueue_marker", &arguments(&[4]), count, at);
            return None;
        };
        let queue = self.passed(queue, Ty::QUEUE)?;
        let flags = self.constant(0, Ty::UINT, at);
        let flags = self.flags(flags);
        let events = self.passed(events, Ty::UINT)?;
        let list = self.event_pointer(list, false)?;
        let event = self.event_pointer(event, true)?;
        let special = Special::Device { call: DeviceCall::EnqueueMarker, block: None, captured: 0 };
        Some(Expr::value(ExprKind::Special(special, vec![queue, flags, events, list, event]), Ty::INT, span))
    }

    fn plain_call(&mut self, call: DeviceCall, name: &str, args: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        // The pointer to which profiling information goes: to any type, in global memory.
        let ulongs = {
            let to = QTy { space: Space::Global, ..QTy::plain(Ty::VOID) };
            self.types.pointer(to)
        };
        let (params, ret): (&[Ty], Ty) = match call {
            DeviceCall::DefaultQueue => (&[], Ty::QUEUE),
            DeviceCall::CreateUserEvent => (&[], Ty::CLK_EVENT),
            DeviceCall::IsValidEvent => (&[Ty::CLK_EVENT], Ty::BOOL),
            DeviceCall::SetUserEventStatus => (&[Ty::CLK_EVENT, Ty::INT], Ty::VOID),
            DeviceCall::CaptureProfiling => (&[Ty::CLK_EVENT, Ty::INT, ulongs], Ty::VOID),
            _ => (&[Ty::CLK_EVENT], Ty::VOID),
        };
        if args.len() != params.len() {
            self.wrong_count(name, &arguments(&[params.len()]), args.len(), at);
            return None;
        }
        let mut all = Vec::new();
        for (e, &ty) in args.into_iter().zip(params) {
            // Programs let the pointer be generic.
            let from = self.types.pointee(e.ty.ty).map(|to| to.space);
            let e = match from {
                Some(Space::Generic) if ty == ulongs => {
                    let at = e.span;
                    self.cast(e, ty, at)
                }
                _ => self.passed(e, ty)?,
            };
            all.push(e);
        }
        let special = Special::Device { call, block: None, captured: 0 };
        Some(Expr::value(ExprKind::Special(special, all), ret, span))
    }

    fn about_block(
        &mut self,
        call: DeviceCall,
        name: &str,
        args: Vec<Expr>,
        ranged: bool,
        at: Span,
        span: Span,
    ) -> Option<Expr> {
        let (count, wanted) = (args.len(), 1 + usize::from(ranged));
        if count != wanted {
            self.wrong_count(name, &arguments(&[wanted]), count, at);
            return None;
        }
        let mut args = args.into_iter();
        let mut all = Vec::new();
        if ranged {
            all.push(args.next().and_then(|e| self.passed(e, self.range_type))?);
        }
        let block = args.next()?;
        // Only asked about: what the block captures is not needed.
        let (func, _) = self.block_argument(block)?;
        let kernel = self.block_kernel(func);
        let special = Special::Device { call, block: Some(kernel), captured: 0 };
        Some(Expr::value(ExprKind::Special(special, all), Ty::UINT, span))
    }

    /// The function of a block that can be enqueued, and what it captures.
    fn block_argument(&mut self, e: Expr) -> Option<(FuncId, Vec<Expr>)> {
        let Some((ret, params)) = self.types.block(e.ty.ty).map(|(ret, params)| (ret, params.to_vec())) else {
            self.bad_argument(&e, "a block");
            return None;
        };
        // Without the extension the parameters must be `local void *`.
        let any = self.has_feature("cl_khr_device_enqueue_local_arg_types");
        let local = |this: &Self, p: &QTy| {
            this.types.pointee(p.ty).is_some_and(|to| to.space == Space::Local && (any || to.ty == Ty::VOID))
        };
        if ret.ty != Ty::VOID || !params.iter().all(|p| local(self, p)) {
            let message = format!("a block of type `{}` cannot be enqueued", self.type_name(e.ty.ty));
            self.push(
                Diagnostic::error("E0333", e.span, message)
                    .note("such a block returns nothing, and its parameters are pointers to local memory"),
            );
            return None;
        }
        match e.kind {
            ExprKind::Block(func, captured) => Some((func, captured)),
            _ => None,
        }
    }

    /// The kernel that runs a block.
    fn block_kernel(&mut self, block: FuncId) -> FuncId {
        if let Some(&known) = self.block_kernels.get(&block) {
            return known;
        }
        let f = &self.unit.funcs[block.0 as usize];
        let (name, span, types) = (f.name, f.span, f.params.clone());
        let given = types.len() - f.captures.len();
        // Other programs that this one is linked with have other blocks.
        let block_name = f.ir_name.clone();
        let ir_name = format!("{block_name}.{:016x}", self.source_number());
        let mut meta = KernelMeta { is_block: true, ..self.kernel_defaults() };
        let (mut params, mut locals, mut args) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &qty) in types.iter().enumerate() {
            let (param, kind) = self.passed_to_block(qty, i >= given);
            let param = QTy { is_restrict: false, ..QTy::plain(param) };
            let (size, align) = self.types.layout(param.ty).unwrap_or((1, 1));
            meta.params.push(KernelParam {
                name: i.to_string(),
                type_name: self.type_name(qty.ty),
                kind,
                size: size as u32,
                align: align as u32,
                is_const: self.types.pointee(qty.ty).is_some_and(|to| to.is_const || to.space == Space::Constant),
                is_restrict: false,
                is_volatile: false,
                access: match self.types.kind(qty.ty) {
                    TyKind::Image(_, access) => access.number(),
                    _ => 0,
                },
                pointee_align: 1,
            });
            let local = LocalId(i as u32);
            locals.push(LocalVar {
                name: None,
                ty: param,
                align: align.max(1),
                constant: None,
                declared: None,
                named: None,
            });
            let value = self.value_of_local(local, param, span);
            // Passed as a number (see `passed_to_block`): the block gets it back as the pointer that it declares.
            args.push(match param.ty == qty.ty {
                true => value,
                false => Expr::value(ExprKind::PtrCast(Box::new(value)), qty.ty, span),
            });
            params.push(param);
        }
        // The whole body of the kernel: its parameters are passed on to the block.
        let call = Expr::value(ExprKind::Call(block, args), Ty::VOID, span);
        let stmts = vec![Stmt { kind: StmtKind::Expr(call), span }];
        let id = self.add_func(Func {
            params,
            linkage: Linkage::External,
            kernel: Some(Box::new(meta)),
            body: Some(Body { locals, stmts, labels: 0, end: span }),
            calls: vec![(block, span)],
            ..Func::internal(name, ir_name, QTy::plain(Ty::VOID), span)
        });
        self.block_kernels.insert(block, id);
        id
    }

    /// The type and kind of the parameter of a block's kernel for a parameter of the block. Pointers into memory of
    /// the work-item or group that enqueues it, or into any memory, are passed as numbers.
    fn passed_to_block(&mut self, qty: QTy, captured: bool) -> (Ty, ParamKind) {
        match self.types.kind(qty.ty) {
            TyKind::Pointer(to) => match to.space {
                Space::Global => (qty.ty, ParamKind::Global),
                Space::Constant => (qty.ty, ParamKind::Constant),
                Space::Local if !captured => (qty.ty, ParamKind::Local),
                _ => (Ty::ULONG, ParamKind::Value),
            },
            TyKind::Record(_) => (qty.ty, ParamKind::Struct),
            TyKind::Image(..) => (qty.ty, ParamKind::Image),
            TyKind::Sampler => (qty.ty, ParamKind::Sampler),
            _ => (qty.ty, ParamKind::Value),
        }
    }

    /// A number of the text of the program.
    fn source_number(&mut self) -> u64 {
        let sources = &self.session.sources;
        *self.source_number.get_or_insert_with(|| {
            // All files: two programs with one main file may include different headers.
            let text: String = sources.files().iter().map(|f| &*f.text).collect();
            abi::block_number(&text)
        })
    }

    /// `ndrange_1D` and its like: an object whose members are the sizes.
    fn range(&mut self, dims: u8, name: &str, args: Vec<Expr>, at: Span, span: Span) -> Option<Expr> {
        let count = args.len();
        if !(1..=3).contains(&count) {
            self.wrong_count(name, "1 to 3 arguments", count, at);
            return None;
        }
        let places: &[u64] = match count {
            1 => &[abi::RANGE_GLOBAL],
            2 => &[abi::RANGE_GLOBAL, abi::RANGE_LOCAL],
            _ => &[abi::RANGE_OFFSET, abi::RANGE_GLOBAL, abi::RANGE_LOCAL],
        };
        // Without a local size the launcher chooses one.
        let flags = if count > 1 { abi::RANGE_HAS_LOCAL } else { 0 };
        let mut parts = vec![
            InitPart::Value(abi::RANGE_DIM, self.constant(dims.into(), Ty::UINT, span)),
            InitPart::Value(abi::RANGE_FLAGS, self.constant(flags.into(), Ty::UINT, span)),
        ];
        let mut before: Option<Expr> = None;
        for (arg, &place) in args.into_iter().zip(places) {
            if dims == 1 {
                parts.push(InitPart::Value(place, self.passed(arg, Ty::ULONG)?));
                continue;
            }
            // The pointer is evaluated once.
            let ok = self.types.pointee(arg.ty.ty).is_some_and(|to| self.types.value(Elem::U64, 1) == to.ty);
            if !ok {
                let wanted = format!("a pointer to {dims} values of type `size_t`");
                self.bad_argument(&arg, &wanted);
                return None;
            }
            let (ty, at) = (arg.ty.ty, arg.span);
            let temp = self.new_local(None, QTy::plain(ty), 1);
            let qty = QTy::plain(ty);
            let object = Expr { kind: ExprKind::Local(temp), ty: qty, lvalue: true, span: at };
            let store = Expr::value(ExprKind::Assign(Box::new(object), Box::new(arg)), ty, at);
            before = Some(match before {
                Some(before) => Expr::value(ExprKind::Comma(Box::new(before), Box::new(store)), ty, at),
                None => store,
            });
            for d in 0..u64::from(dims) {
                let p = self.value_of_local(temp, qty, at);
                let to = self.types.pointee(ty)?;
                let index = self.constant(d, Ty::LONG, at);
                let p = Expr::value(ExprKind::PtrAdd(Box::new(p), Box::new(index), 8), ty, at);
                let element = Expr { kind: ExprKind::Deref(Box::new(p)), ty: to, lvalue: true, span: at };
                parts.push(InitPart::Value(place + 8 * d, self.rvalue(element)));
            }
        }
        let ty = QTy::plain(self.range_type);
        // An object without a name in the function; the value of the call is the object.
        let id = self.new_local(None, ty, 8);
        self.count_private(id, abi::RANGE_SIZE, 8, span);
        let init = Init { zero: true, parts, end: abi::RANGE_SIZE, ..Init::default() };
        let object = Expr { kind: ExprKind::Compound(id, Box::new(init)), ty, lvalue: true, span };
        let value = self.rvalue(object);
        Some(match before {
            Some(before) => Expr::value(ExprKind::Comma(Box::new(before), Box::new(value)), self.range_type, span),
            None => value,
        })
    }
}
