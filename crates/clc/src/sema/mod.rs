//! Semantic analysis: from the syntax tree to the typed tree.
//!
//! In comes the parser's [`ast::TranslationUnit`]; out goes a [`tree::Unit`], in which every name is resolved and
//! every conversion is an explicit node. An error is reported once and leaves an error node, which later checks accept
//! silently, so that one mistake gives one message. The unit may be lowered only if no error was reported.

mod attrs;
mod block_params;
mod blocks;
pub mod builtins;
mod call;
mod chain;
pub mod constant;
mod convert;
mod counts;
mod decl;
mod expr;
mod function;
mod init;
mod init_template;
pub mod operations;
mod ops;
mod overload;
mod packing;
mod predefined;
mod scope;
mod specs;
pub(crate) mod stmt;
mod swizzle;
pub mod tree;
pub mod types;
mod warnings;

pub use builtins::builtin::is_known as is_builtin_function;
pub use builtins::enqueue::CONSTANTS as ENQUEUE_CONSTANTS;

use crate::source::{Diagnostic, Session, Span, Symbol};
use crate::syntax::ast;
use cloom_ir::Space;
use rustc_hash::FxHashMap;
use scope::Scopes;
use tree::{FuncId, LabelId, LocalVar, Unit};
use types::{QTy, Ty, Types};

/// Options of the analysis.
#[derive(Clone, Debug)]
pub struct SemaOptions {
    /// The source is part of the built-in library: its definitions of built-in names are those functions, and the
    /// `__cl_…` functions are visible.
    pub library: bool,
    /// `half` is a type to compute with.
    pub fp16: bool,
    /// `double` is supported.
    pub fp64: bool,
    /// Images.
    pub images: bool,
    /// Pipes.
    pub pipes: bool,
    /// A pointer without a named address space points to the generic one.
    pub generic: bool,
    /// Blocks and device-side enqueue.
    pub blocks: bool,
    /// `-g`: functions that enqueue say why they fail.
    pub debug_info: bool,
    /// Variables of program scope may be in global memory, and are if no address space is named.
    pub variables: bool,
    /// Extensions and features that the device has.
    pub features: Vec<String>,
    /// `-cl-single-precision-constant`
    pub single_precision_constant: bool,
    /// Whether `a * b + c` and `mad` are one operation, the first of them unless a pragma forbids it.
    pub contract: bool,
    /// Whether groups may be partial; see [`cloom_ir::KernelMeta::partial_groups`].
    pub partial_groups: bool,
    /// The version of the language: 100, 110, 120, 200, 300.
    pub c_version: u32,
}

/// Bounds on what one program may declare.
pub mod limits {
    /// Bytes of one object.
    pub const OBJECT: u64 = 1 << 30;
    /// Bytes of the private variables of one function.
    pub const PRIVATE: u64 = 8 << 20;
    /// Bytes of the initialised data of a program.
    pub const DATA: u64 = cloom_caps::limits::MAX_CONSTANT_BUFFER;
    /// Bytes of the variables of a program in global memory.
    pub const VARIABLES: u64 = cloom_caps::limits::MAX_VARIABLES;
    /// Bytes of the local variables of one kernel. A device has less: a launch that needs more than it has is refused,
    /// while the other kernels of the program can be launched.
    pub const LOCAL: u64 = 64 << 20;
    /// Entries that the initialisers of one program may come to have.
    pub const INIT_PARTS: usize = 4 << 20;
    /// Pointers and arrays nested in one type.
    pub const TYPE_DEPTH: u32 = 128;
    /// Functions of one name.
    pub const OVERLOADS: usize = 512;
    /// Steps of the constant evaluator for one program.
    pub const FUEL: u64 = 64 << 20;
}

/// The analysis of one program.
pub struct Sema<'s> {
    pub(crate) session: &'s mut Session,
    pub(crate) opts: SemaOptions,
    pub(crate) types: Types,
    pub(crate) unit: Unit,
    scopes: Scopes,
    cx: Option<FnCx>,
    /// The functions around the block that is being analysed, the outermost first.
    outer: Vec<FnCx>,
    /// The functions of blocks.
    blocks: rustc_hash::FxHashSet<FuncId>,
    /// The kernels of blocks that are enqueued.
    block_kernels: FxHashMap<FuncId, FuncId>,
    /// Functions with block parameters.
    templates: FxHashMap<Symbol, block_params::Template<'s>>,
    /// Their copies, by the functions of the blocks.
    copies: FxHashMap<(Symbol, Vec<FuncId>), FuncId>,
    /// The state of `#pragma pack`.
    packing: packing::Packing,
    /// How many copies are being analysed.
    copying: u32,
    /// How many branches are around that are never reached.
    dead: u32,
    /// The next index expression is the operand of `&`.
    address_only: bool,
    /// A number of the program's text, once it has been asked for.
    source_number: Option<u64>,
    /// `ndrange_t`
    range_type: Ty,
    /// `FP_CONTRACT` here.
    contract: bool,
    /// The size of sub-groups that the kernels from here on expect.
    expected_subgroup_size: Option<u16>,
    /// What is left of [`limits::FUEL`].
    fuel: u64,
    /// What is left of [`limits::INIT_PARTS`].
    init_parts: usize,
    /// What is left of [`limits::DATA`].
    data_left: u64,
    /// What is left of [`limits::VARIABLES`].
    variables_left: u64,
    /// Names of globals in the IR that are taken.
    global_names: FxHashMap<String, u32>,
    /// Constants that programs linked with this one can refer to, or define.
    externals: FxHashMap<Symbol, tree::GlobalId>,
    /// Strings by their bytes: equal ones are one object.
    strings: FxHashMap<Box<[u8]>, tree::GlobalId>,
    /// Something that is missing in the tree because it was wrong.
    left_out: Option<Span>,
    /// Mangled names of functions.
    ir_names: FxHashMap<String, FuncId>,
}

/// The function being analysed.
struct FnCx {
    id: FuncId,
    name: Symbol,
    ret: QTy,
    ret_span: Span,
    is_kernel: bool,
    locals: Vec<LocalVar>,
    private_bytes: u64,
    local_bytes: u64,
    labels: FxHashMap<Symbol, Label>,
    label_count: u32,
    loops: u32,
    switches: Vec<SwitchCx>,
    /// How many `({ … })` are around.
    in_expression: u32,
    /// How many loops and switches a `break` could leave.
    breakable: u32,
    /// How many scopes were open around it.
    scope_base: usize,
    /// What a block captures.
    captures: Vec<blocks::Capture>,
    /// The type of the result follows from the `return` statements, of which this was the first.
    inferred: Option<Option<(Ty, Span)>>,
}

impl FnCx {
    /// At the begin of a function, in this scope.
    fn new(id: FuncId, name: Symbol, ret: QTy, ret_span: Span, scope_base: usize) -> FnCx {
        FnCx {
            id,
            name,
            ret,
            ret_span,
            is_kernel: false,
            locals: Vec::new(),
            private_bytes: 0,
            local_bytes: 0,
            labels: FxHashMap::default(),
            label_count: 0,
            loops: 0,
            switches: Vec::new(),
            in_expression: 0,
            breakable: 0,
            scope_base,
            captures: Vec::new(),
            inferred: None,
        }
    }
}

struct Label {
    id: LabelId,
    defined: Option<Span>,
    used: Option<Span>,
}

struct SwitchCx {
    ty: Ty,
    cases: Vec<(u64, u64, LabelId, Span)>,
    default: Option<(LabelId, Span)>,
}

/// Analyses a program.
pub fn analyse<'s>(session: &'s mut Session, unit: &'s ast::TranslationUnit, opts: SemaOptions) -> (Unit, Types) {
    let contract = opts.contract;
    let unnamed = if opts.generic { Space::Generic } else { Space::Private };
    let mut sema = Sema {
        session,
        opts,
        types: Types::new(unnamed),
        unit: Unit::default(),
        scopes: Scopes::default(),
        cx: None,
        outer: Vec::new(),
        blocks: rustc_hash::FxHashSet::default(),
        block_kernels: FxHashMap::default(),
        templates: FxHashMap::default(),
        copies: FxHashMap::default(),
        packing: packing::Packing::default(),
        copying: 0,
        dead: 0,
        address_only: false,
        source_number: None,
        range_type: Ty::ERROR,
        contract,
        expected_subgroup_size: None,
        fuel: limits::FUEL,
        init_parts: limits::INIT_PARTS,
        data_left: limits::DATA,
        variables_left: limits::VARIABLES,
        global_names: FxHashMap::default(),
        externals: FxHashMap::default(),
        strings: FxHashMap::default(),
        left_out: None,
        ir_names: FxHashMap::default(),
    };
    sema.declare_predefined();
    for item in &unit.items {
        // No further error would be kept.
        if sema.session.diags.is_full() {
            break;
        }
        sema.item(item);
    }
    // Both need the whole program: the definition of a function, or a call of it, may come last.
    sema.define_repeated_prototypes();
    sema.check_recursion();
    sema.check_reported();
    (sema.unit, sema.types)
}

impl<'s> Sema<'s> {
    fn item(&mut self, item: &'s ast::Item) {
        match &item.kind {
            ast::ItemKind::Function(def) => self.function_def(def),
            ast::ItemKind::Declaration(d) => {
                self.declaration(d);
            }
            ast::ItemKind::Pragma(p) => self.pragma(p),
            ast::ItemKind::StaticAssert(a) => self.static_assert(a),
        }
    }

    fn pragma(&mut self, p: &ast::Pragma) {
        match &p.kind {
            // `opts.contract` is false where a fused operation is slow; a pragma cannot change that.
            ast::PragmaKind::FpContract(on) => self.contract = self.opts.contract && on.unwrap_or(true),
            ast::PragmaKind::Extension { name, enable } => self.extension(*name, *enable),
            ast::PragmaKind::Pack(pack) => self.pack(pack, p.span),
            // The parser has attached it to its loop.
            ast::PragmaKind::Unroll(_) => {}
        }
    }

    /// Whether the device has an extension or feature.
    pub(crate) fn has_feature(&self, name: &str) -> bool {
        self.opts.features.iter().any(|f| f == name)
    }

    /// What options and pragmas say of a kernel that is declared here.
    pub(crate) fn kernel_defaults(&self) -> cloom_ir::KernelMeta {
        cloom_ir::KernelMeta {
            partial_groups: self.opts.partial_groups,
            expected_subgroup_size: self.expected_subgroup_size,
            ..cloom_ir::KernelMeta::default()
        }
    }

    /// `#pragma OPENCL EXTENSION`. Supported extensions are always enabled, so the pragma changes nothing but what
    /// kernels expect of their sub-groups; unsupported ones get a warning, as does `all : enable`, which the
    /// specification does not allow.
    fn extension(&mut self, name: ast::Ident, enable: bool) {
        let text = self.session.names.text(name.name);
        // Programs for Intel's GPUs take a group of 32 work-items for one sub-group.
        // ggml's softmax, for example, reduces a row of 32 by one `sub_group_reduce_max` and requires no size.
        let of_intel = ["cl_intel_subgroups", "cl_intel_required_subgroup_size"].contains(&text);
        if of_intel || !enable && text == "all" {
            self.expected_subgroup_size = enable.then_some(cloom_caps::limits::INTEL_SUB_GROUP_SIZE);
        }
        if text == "all" {
            if enable {
                let message = "`all` extensions cannot be enabled, only disabled";
                let d = Diagnostic::warning("W0309", name.span, message);
                self.push(d.help("enable each extension by its name"));
            }
            return;
        }
        // The library is compiled once for all devices, and asks for what only some have.
        if self.has_feature(text) || self.opts.library {
            return;
        }
        // The prefixes of known vendors tell an extension that this device lacks from a misspelling.
        let registered = ["cl_khr_", "cl_ext_", "cl_amd_", "cl_arm_", "cl_img_", "cl_intel_", "cl_nv_", "cl_qcom_"];
        let message = match registered.iter().any(|p| text.starts_with(p)) {
            true => format!("extension `{text}` is not supported by this device"),
            false => format!("unknown extension `{text}`"),
        };
        let near = crate::source::nearest(text, self.opts.features.iter().map(String::as_str)).map(str::to_owned);
        let mut d = Diagnostic::warning("W0309", name.span, message);
        d = match near {
            Some(near) => d.suggest(name.span, near, "did you mean"),
            None => d.help("put the pragma into `#ifdef` of the extension's name if the program can do without it"),
        };
        self.push(d);
    }

    fn static_assert(&mut self, a: &ast::StaticAssert) {
        let cond = self.rvalue_of(&a.condition);
        if self.is_left_out(&cond) {
            return;
        }
        match self.eval_int(&cond) {
            Some(0) => {
                let text = a.message.as_ref().map(|m| String::from_utf8_lossy(&m.bytes).into_owned());
                let text = text.map_or(String::new(), |t| format!(": {t}"));
                self.error("E0327", a.condition.span, format!("static assertion failed{text}"));
            }
            Some(_) => {}
            None => self.not_constant(a.condition.span, "a static assertion"),
        }
    }

    /// Reports.
    pub(crate) fn push(&mut self, d: Diagnostic) {
        self.session.diags.push(d);
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(code, span, message));
    }

    fn not_constant(&mut self, span: Span, what: &str) {
        self.push(
            Diagnostic::error("E0314", span, format!("{what} must be a constant expression"))
                .label("its value is not known when the program is compiled"),
        );
    }

    fn text(&self, name: Symbol) -> &str {
        self.session.names.text(name)
    }

    fn type_name(&self, ty: Ty) -> String {
        self.types.name(ty, &self.session.names)
    }
}
