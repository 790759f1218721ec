//! Translates functions: signatures, blocks, block parameters (as phis), terminators. Single operations are in `ops`
//! and `memory`.

use crate::gpu::{self, Gpu};
use crate::handles::{Context, IrBuilder, LlvmModule, STACK_REPORT, c_string};
use crate::lines::Lines;
use crate::{Error, Options, runs_work_items};
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Edge, Entity, FuncRef, Function, GlobalRef, Module, Op, Scalar, Space, Term, Type, Value, abi};
use cloom_target::{Architecture, Target};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMCallConv, LLVMLinkage, LLVMUnnamedAddr, LLVMVisibility};
use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;

/// Translates functions and what they call into an LLVM module. Returns the bytes of local memory of a GPU's kernel.
pub fn module(
    module: &Module,
    roots: &[FuncRef],
    reachable: &[FuncRef],
    context: &Context,
    llvm: &LlvmModule<'_>,
    options: &Options,
) -> Result<u64, Error> {
    let &Options { ref target, denorms_are_zero, lines, .. } = options;
    let mut cx = Cx {
        module,
        context: context.raw,
        llvm: llvm.raw,
        target,
        denorms_are_zero,
        functions: HashMap::new(),
        globals: HashMap::new(),
        pending: Vec::new(),
        data_size: 0,
        zeros: None,
        variables: None,
        fused: HashMap::new(),
        gpu: runs_work_items(target).then(|| Gpu::new(module, roots, reachable)),
        lines: lines.then(|| Lines::new(module, context.raw, llvm.raw)),
    };
    for &f in reachable {
        let is_root = roots.contains(&f);
        // Everything is declared before anything is translated: calls name functions in any order.
        match is_root && cx.gpu.is_some() {
            true => cx.declare_kernel(f),
            false => cx.declare(f, is_root),
        }
    }
    cx.declare_pure(reachable);
    for &f in reachable {
        FunctionCx::new(&mut cx, context, f, roots.contains(&f)).run()?;
    }
    // Which globals there are is known only after all functions were translated.
    cx.initialise_globals()?;
    Ok(cx.gpu.map_or(0, |gpu| gpu.local_size))
}

/// The symbol of a function. It has a dot, as no name in a source has, so it cannot be mistaken for a function that
/// code generation knows (`memcpy`). A GPU's kernel has its own name, which profilers show.
pub fn symbol(module: &Module, f: FuncRef, root: bool, target: &Target) -> String {
    let name = &module.funcs[f].name;
    if root && runs_work_items(target) {
        return gpu::kernel_symbol(name);
    }
    if root { format!("{name}.group") } else { format!("{name}.function") }
}

/// LLVM's number of the vector procedure call standard of AArch64, whose callees save 16 vector registers.
const AARCH64_VECTOR_CALL: u32 = 97;

/// Bytes of constant data that one kernel may reach.
const MAX_DATA: u64 = 256 << 20;

/// State shared by all functions of the module.
pub struct Cx<'m> {
    pub module: &'m Module,
    pub context: LLVMContextRef,
    pub llvm: LLVMModuleRef,
    pub target: &'m Target,
    pub denorms_are_zero: bool,
    pub functions: HashMap<FuncRef, (LLVMTypeRef, LLVMValueRef)>,
    globals: HashMap<GlobalRef, LLVMValueRef>,
    /// Globals without their initial value yet.
    pending: Vec<GlobalRef>,
    data_size: u64,
    /// The global with the address of the program's variables, made on first use.
    variables: Option<LLVMValueRef>,
    /// The zeros that inactive lanes load, made on first use.
    zeros: Option<LLVMValueRef>,
    /// Functions that are fused operations, with their types, made on first use.
    pub fused: HashMap<Type, (LLVMTypeRef, LLVMValueRef)>,
    /// If the target is a GPU.
    pub gpu: Option<Gpu>,
    /// Source lines, if they are wanted.
    pub lines: Option<Lines<'m>>,
}

/// Cases of a `switch` from which on comparisons choose the case if it has no jump table: LLVM looks for tables of
/// parts of it in time that grows with the square of the cases.
const MANY_CASES: usize = 500;
/// LLVM makes one table of all cases if their values span at most so many for each. That it sees at once.
const MAX_SPAN: u64 = 10;

/// Whether a `switch` has many cases that no single table holds.
fn has_scattered_switch(func: &Function) -> bool {
    let is_scattered = |term: &Term| {
        let Term::Switch { value, cases, .. } = term else { return false };
        // LLVM sorts cases as signed numbers, and so the span of its table is that of signed ones.
        let signed = |bits: u64| {
            let shift = 64 - func.ty(*value).scalar.bits();
            ((bits << shift) as i64) >> shift
        };
        let values = || cases.iter().map(|c| signed(c.0));
        let (Some(least), Some(greatest)) = (values().min(), values().max()) else { return false };
        let span = greatest.wrapping_sub(least) as u64;
        cases.len() > MANY_CASES && span / MAX_SPAN >= cases.len() as u64
    };
    func.layout.iter().any(|&b| is_scattered(&func.blocks[b].term))
}

impl Cx<'_> {
    /// The type of one lane.
    pub fn scalar(&self, scalar: Scalar) -> LLVMTypeRef {
        // SAFETY: the context is live, and LLVM has a type for each scalar and address space.
        unsafe {
            match scalar {
                // See `half`.
                Scalar::F16 => LLVMInt16TypeInContext(self.context),
                Scalar::F32 => LLVMFloatTypeInContext(self.context),
                Scalar::F64 => LLVMDoubleTypeInContext(self.context),
                Scalar::Ptr(space) => LLVMPointerTypeInContext(self.context, self.address_space(space)),
                _ => LLVMIntTypeInContext(self.context, scalar.bits()),
            }
        }
    }

    /// A type.
    pub fn ty(&self, ty: Type) -> LLVMTypeRef {
        let scalar = self.scalar(ty.scalar);
        // SAFETY: `scalar` is a type of the live context that a vector may hold.
        if ty.is_vector() { unsafe { LLVMVectorType(scalar, u32::from(ty.lanes)) } } else { scalar }
    }

    /// LLVM's own half with as many lanes, for conversions.
    pub fn llvm_half(&self, like: Type) -> LLVMTypeRef {
        // SAFETY: the context is live, and a vector may hold halves.
        unsafe {
            let half = LLVMHalfTypeInContext(self.context);
            if like.is_vector() { LLVMVectorType(half, u32::from(like.lanes)) } else { half }
        }
    }

    /// A constant with these bits in each lane.
    pub fn constant(&self, ty: Type, bits: u64) -> LLVMValueRef {
        // SAFETY: the context is live, the integer has the scalar's width, and `lanes` lives through the call that
        // reads it.
        unsafe {
            let int = LLVMIntTypeInContext(self.context, ty.scalar.bits());
            let value = LLVMConstInt(int, bits, 0);
            let value = match ty.scalar {
                s @ (Scalar::F32 | Scalar::F64) => LLVMConstBitCast(value, self.scalar(s)),
                Scalar::Ptr(_) => LLVMConstIntToPtr(value, self.scalar(ty.scalar)),
                _ => value,
            };
            if !ty.is_vector() {
                return value;
            }
            let mut lanes = vec![value; usize::from(ty.lanes)];
            LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32)
        }
    }

    pub fn attribute(&self, name: &str) -> LLVMAttributeRef {
        // SAFETY: the name is given with its length.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMCreateEnumAttribute(self.context, kind, 0)
        }
    }

    fn text_attribute(&self, key: &str, value: &str) -> LLVMAttributeRef {
        // SAFETY: both strings are given with their lengths.
        unsafe {
            LLVMCreateStringAttribute(
                self.context,
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            )
        }
    }

    fn declare(&mut self, f: FuncRef, root: bool) {
        let func = &self.module.funcs[f];
        let mut params: Vec<LLVMTypeRef> = func.params.iter().map(|&t| self.ty(t)).collect();
        if self.gpu.as_ref().is_some_and(|gpu| gpu.takes_variables(f)) {
            params.push(self.ty(Type::ptr(Space::Global)));
        }
        let name = c_string(&symbol(self.module, f, root, self.target));
        // SAFETY: the types belong to the live context, the calls copy `params` and the name, and each index is one of
        // a parameter.
        unsafe {
            let ret = func.ret.map_or_else(|| LLVMVoidTypeInContext(self.context), |t| self.ty(t));
            let ty = LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, 0);
            let value = LLVMAddFunction(self.llvm, name.as_ptr(), ty);
            LLVMSetLinkage(
                value,
                if root { LLVMLinkage::LLVMExternalLinkage } else { LLVMLinkage::LLVMInternalLinkage },
            );
            self.describe(value);
            if has_scattered_switch(func) {
                let attribute = self.text_attribute("no-jump-tables", "true");
                LLVMAddAttributeAtIndex(value, LLVMAttributeFunctionIndex, attribute);
            }
            if root {
                // `noalias`: descriptors, arguments, local memory and scratch are separate objects, which a kernel
                // reaches through these parameters only.
                for index in 1..=func.params.len() as u32 {
                    LLVMAddAttributeAtIndex(value, index, self.attribute("noalias"));
                }
            }
            self.functions.insert(f, (ty, value));
        }
    }

    /// Sets what LLVM may know of functions that pure calls name, and how they are called.
    ///
    /// They get the convention of Intel's OpenCL built-ins, or of Arm's vector functions: vector operands and results
    /// are in registers, and the callee saves half of the vector registers, if it uses them. A slow path is cold: the
    /// register allocator spills around its call and not on the fast path. A function with other calls keeps its stack
    /// aligned for vectors: registers are saved around calls in each iteration of a loop, and one that crosses a cache
    /// line is forwarded slowly.
    fn declare_pure(&self, reachable: &[FuncRef]) {
        let callees = |f: FuncRef| {
            self.module.funcs[f].insts_in_layout().filter_map(|(_, data)| match data.op {
                Op::PureCall(callee) => Some(callee),
                _ => None,
            })
        };
        let is_cold = |&f: &FuncRef| self.module.funcs[f].noinline;
        let add = |value, attribute| {
            // SAFETY: `value` is a function of the live module, and the attribute belongs to its context.
            unsafe { LLVMAddAttributeAtIndex(value, LLVMAttributeFunctionIndex, attribute) }
        };
        for &f in reachable {
            if callees(f).any(|callee| !is_cold(&callee)) {
                add(self.functions[&f].1, self.text_attribute("stackrealign", ""));
            }
        }
        for f in reachable.iter().flat_map(|&f| callees(f)).collect::<BTreeSet<_>>() {
            let (_, value) = self.functions[&f];
            // The value of `memory` is a set of bits: none.
            add(value, self.attribute("memory"));
            add(value, self.attribute("willreturn"));
            if is_cold(&f) {
                add(value, self.attribute("cold"));
            }
            // With AVX-512 the convention does not have `rbp` saved, which LLVM 19 forgets where the caller has its
            // frame pointer there: a callee with a frame pointer of its own saves it.
            add(value, self.text_attribute("frame-pointer", "all"));
            // SAFETY: `value` is a function of the live module.
            unsafe { LLVMSetFunctionCallConv(value, self.pure_convention()) }
        }
    }

    /// The calling convention of pure calls.
    fn pure_convention(&self) -> u32 {
        match (self.target.architecture(), self.target.features().vector_bits) {
            // With AVX2, not AVX-512, LLVM 19 inserts `vzeroupper` before a call without operands of 256 bits, also
            // where the upper halves of registers are to be preserved.
            (Architecture::X86_64, 256) => LLVMCallConv::LLVMCCallConv as u32,
            (Architecture::X86_64, _) => LLVMCallConv::LLVMIntelOCLBICallConv as u32,
            (Architecture::AArch64, _) => AARCH64_VECTOR_CALL,
            _ => LLVMCallConv::LLVMCCallConv as u32,
        }
    }

    /// Sets the attributes that hold for every function.
    pub fn describe(&self, value: LLVMValueRef) {
        // SAFETY: `value` is a function of the live module, and the attributes belong to its context.
        unsafe {
            let whole = LLVMAttributeFunctionIndex;
            LLVMAddAttributeAtIndex(value, whole, self.attribute("nounwind"));
            LLVMAddAttributeAtIndex(value, whole, self.text_attribute("target-cpu", self.target.cpu()));
            if self.target.features().vector_bits >= 512 {
                // Wide vectors are only asked for where they pay.
                LLVMAddAttributeAtIndex(value, whole, self.text_attribute("prefer-vector-width", "512"));
            }
            if self.gpu.is_some() {
                self.mark_convergent(value);
                if self.denorms_are_zero {
                    // The instructions of a GPU that flush denormals (`.ftz`) exist for floats, not for doubles. The
                    // mode of a CPU is for both.
                    let mode = self.text_attribute("denormal-fp-math-f32", "preserve-sign,preserve-sign");
                    LLVMAddAttributeAtIndex(value, whole, mode);
                }
                return;
            }
            if self.denorms_are_zero {
                let mode = self.text_attribute("denormal-fp-math", "preserve-sign,preserve-sign");
                LLVMAddAttributeAtIndex(value, whole, mode);
            }
            // A frame larger than a page touches each page, so that an overflow meets the guard page.
            LLVMAddAttributeAtIndex(value, whole, self.text_attribute("probe-stack", "inline-asm"));
            LLVMAddAttributeAtIndex(value, whole, self.text_attribute(STACK_REPORT.0, STACK_REPORT.1));
        }
    }

    /// The LLVM global of a constant, made on first use; its initial value comes at the end.
    pub fn global(&mut self, g: GlobalRef) -> Result<LLVMValueRef, Error> {
        if let Some(&value) = self.globals.get(&g) {
            return Ok(value);
        }
        let data = &self.module.globals[g];
        if data.space != Space::Constant {
            // Each kernel has an object of its own: a variable would exist once for each.
            return Err(Error::NotLowered(data.name.clone(), "a variable without a place"));
        }
        self.data_size = self.data_size.saturating_add(data.size);
        if self.data_size > MAX_DATA {
            return Err(Error::Limit(format!("the constant data is larger than {MAX_DATA} bytes")));
        }
        // SAFETY: the types belong to the live context, and the calls copy the list of types and the name.
        unsafe {
            // A packed struct has its parts at their offsets in the source, whatever their alignment is.
            let mut types: Vec<_> = self.pieces(g).into_iter().map(|p| self.piece_type(&p)).collect();
            let ty = LLVMStructTypeInContext(self.context, types.as_mut_ptr(), types.len() as u32, 1);
            let space = if self.gpu.is_some() { gpu::GLOBAL } else { 0 };
            let name = c_string(&format!("{}.data", data.name));
            let value = LLVMAddGlobalInAddressSpace(self.llvm, ty, name.as_ptr(), space);
            LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetGlobalConstant(value, 1);
            LLVMSetUnnamedAddress(value, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMSetAlignment(value, data.align);
            self.pending.push(g);
            let pointer = self.ty(Type::ptr(Space::Constant));
            // On a GPU, kernels have generic pointers to constant memory (see `gpu`): each use would be such a cast.
            let value = if space == 0 { value } else { LLVMConstAddrSpaceCast(value, pointer) };
            self.globals.insert(g, value);
            Ok(value)
        }
    }

    /// Where the loader puts the address of the memory of the program's variables.
    pub fn variables(&mut self) -> LLVMValueRef {
        *self.variables.get_or_insert_with(|| {
            // SAFETY: the module is live, the call copies the name, and the initial value has the variable's type.
            unsafe {
                let ty = LLVMPointerTypeInContext(self.context, 0);
                let value = LLVMAddGlobal(self.llvm, ty, c_string(abi::VARIABLES).as_ptr());
                // A symbol that the loader finds, but that code need not look up in a table.
                LLVMSetVisibility(value, LLVMVisibility::LLVMHiddenVisibility);
                LLVMSetInitializer(value, LLVMConstNull(ty));
                // The loader stores the address. Without this, LLVM would take the null for what the variable holds.
                LLVMSetExternallyInitialized(value, 1);
                LLVMSetAlignment(value, 8);
                value
            }
        })
    }

    /// The address of a lane of zeros.
    pub fn zeros(&mut self) -> LLVMValueRef {
        *self.zeros.get_or_insert_with(|| {
            // SAFETY: the module is live, the call copies the name, and the initial value has the global's type.
            unsafe {
                let ty = LLVMInt64TypeInContext(self.context);
                let value = LLVMAddGlobal(self.llvm, ty, c"zeros.data".as_ptr());
                LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
                LLVMSetGlobalConstant(value, 1);
                LLVMSetInitializer(value, LLVMConstNull(ty));
                LLVMSetAlignment(value, 8);
                value
            }
        })
    }

    /// A global as a list of parts: runs of bytes and addresses, then zeros.
    fn pieces(&self, g: GlobalRef) -> Vec<Piece> {
        let data = &self.module.globals[g];
        let mut relocs = data.relocs.clone();
        relocs.sort_by_key(|r| r.offset);
        let mut pieces = Vec::new();
        let mut at = 0usize;
        for r in relocs {
            let offset = r.offset as usize;
            // If two addresses overlap, the first one wins.
            if offset >= at {
                pieces.push(Piece::Bytes(at..offset));
                pieces.push(Piece::Address(r.target, r.addend));
                at = offset + 8;
            }
        }
        pieces.push(Piece::Bytes(at..data.init.len()));
        pieces.push(Piece::Zeros(data.size - data.init.len() as u64));
        pieces
    }

    fn piece_type(&self, piece: &Piece) -> LLVMTypeRef {
        // SAFETY: the context is live, and an array of bytes may have any length.
        unsafe {
            let bytes = |n| LLVMArrayType2(LLVMInt8TypeInContext(self.context), n);
            match piece {
                Piece::Bytes(range) => bytes(range.len() as u64),
                Piece::Address(..) => LLVMPointerTypeInContext(self.context, 0),
                Piece::Zeros(n) => bytes(*n),
            }
        }
    }

    /// Gives the globals their values; addresses in them may add more globals, also ones that refer to each other.
    fn initialise_globals(&mut self) -> Result<(), Error> {
        while let Some(g) = self.pending.pop() {
            let module = self.module;
            let data = &module.globals[g];
            let mut parts = Vec::new();
            for piece in self.pieces(g) {
                let ty = self.piece_type(&piece);
                // SAFETY: the context is live, the call copies the bytes, and `target` is a global of this module.
                parts.push(unsafe {
                    match piece {
                        Piece::Bytes(range) => {
                            let slice = &data.init[range];
                            LLVMConstStringInContext2(self.context, slice.as_ptr().cast(), slice.len(), 1)
                        }
                        Piece::Address(target, addend) => {
                            let target = self.global(target)?;
                            let mut by = [LLVMConstInt(LLVMInt64TypeInContext(self.context), addend as u64, 1)];
                            LLVMConstGEP2(LLVMInt8TypeInContext(self.context), target, by.as_mut_ptr(), 1)
                        }
                        Piece::Zeros(_) => LLVMConstNull(ty),
                    }
                });
            }
            // SAFETY: the parts have the types with which the global was made, and `parts` lives through the call.
            unsafe {
                let value = LLVMConstStructInContext(self.context, parts.as_mut_ptr(), parts.len() as u32, 1);
                let global = match self.globals[&g] {
                    // The map has what code uses: on a GPU the cast to a generic pointer, whose operand is the global.
                    cast if LLVMIsAGlobalVariable(cast).is_null() => LLVMGetOperand(cast, 0),
                    global => global,
                };
                LLVMSetInitializer(global, value);
            }
        }
        Ok(())
    }
}

/// A part of a global.
enum Piece {
    Bytes(std::ops::Range<usize>),
    Address(GlobalRef, i64),
    Zeros(u64),
}

/// One function under translation.
pub struct FunctionCx<'a, 'm> {
    pub cx: &'a mut Cx<'m>,
    pub func: &'m Function,
    pub llvm: LLVMValueRef,
    pub builder: IrBuilder,
    pub entry: LLVMBasicBlockRef,
    /// Whether it is the work-group function, whose first parameter is the launch descriptor.
    pub root: bool,
    /// Private memory for single operations, by size.
    pub slots: HashMap<u64, LLVMValueRef>,
    values: Vec<LLVMValueRef>,
    blocks: HashMap<Block, LLVMBasicBlockRef>,
}

impl<'a, 'm> FunctionCx<'a, 'm> {
    fn new(cx: &'a mut Cx<'m>, context: &Context, f: FuncRef, root: bool) -> Self {
        let func = &cx.module.funcs[f];
        let llvm = cx.functions[&f].1;
        let mut blocks = HashMap::new();
        for &b in Cfg::new(func).rpo() {
            // SAFETY: `llvm` is a function of the live context, and the call copies the name.
            blocks.insert(b, unsafe {
                LLVMAppendBasicBlockInContext(cx.context, llvm, c_string(&b.to_string()).as_ptr())
            });
        }
        let entry = blocks[&func.entry()];
        let values = vec![std::ptr::null_mut(); func.values.len()];
        Self { cx, func, llvm, builder: IrBuilder::new(context), entry, root, slots: HashMap::new(), values, blocks }
    }

    /// The translation of a value whose definition was translated.
    pub fn value(&self, v: Value) -> LLVMValueRef {
        self.values[v.index()]
    }

    fn run(mut self) -> Result<(), Error> {
        let func = self.func;
        let cfg = Cfg::new(func);
        if let Some(lines) = &mut self.cx.lines {
            lines.define(func, self.llvm);
        }
        self.position(self.entry);
        let params = match self.cx.gpu {
            Some(_) => self.gpu_parameters(),
            // SAFETY: the function has as many parameters.
            None => (0..func.params.len() as u32).map(|i| unsafe { LLVMGetParam(self.llvm, i) }).collect(),
        };
        for (&p, value) in func.param_values().iter().zip(params) {
            self.values[p.index()] = value;
        }
        // All phis are made first: an edge adds to the phis of its target, which may come before or after its source.
        // (The entry's parameters are those of the function.)
        for &b in &cfg.rpo()[1..] {
            self.position(self.blocks[&b]);
            for &p in &func.blocks[b].params {
                // SAFETY: the builder stands in the parameter's block, and the phi's type belongs to the live context.
                self.values[p.index()] = unsafe { LLVMBuildPhi(self.builder.0, self.cx.ty(func.ty(p)), c"".as_ptr()) };
            }
        }
        // In reverse postorder, dominators come first: each operand has its translation when it is used.
        for &b in cfg.rpo() {
            self.position(self.blocks[&b]);
            for &inst in &func.blocks[b].insts {
                if let Some(lines) = &mut self.cx.lines {
                    lines.locate(self.llvm, &self.builder, func.insts[inst].span);
                }
                let value = self.inst(&func.insts[inst])?;
                if let Some(r) = func.insts[inst].result {
                    self.values[r.index()] = value;
                }
            }
            self.term(&func.blocks[b].term);
        }
        Ok(())
    }

    /// A block at the end of the function.
    pub fn new_block(&self, name: &CStr) -> LLVMBasicBlockRef {
        // SAFETY: the function belongs to the live context, and the call copies the name.
        unsafe { LLVMAppendBasicBlockInContext(self.cx.context, self.llvm, name.as_ptr()) }
    }

    fn position(&self, block: LLVMBasicBlockRef) {
        // SAFETY: the block belongs to this function.
        unsafe { LLVMPositionBuilderAtEnd(self.builder.0, block) }
    }

    fn term(&mut self, term: &Term) {
        let b = self.builder.0;
        // SAFETY: the builder's block has no terminator yet, all targets are blocks of this function, and the verifier
        // checked the types of the operands.
        unsafe {
            let here = LLVMGetInsertBlock(b);
            match term {
                Term::Jump(e) => {
                    let to = self.edge(e, here, false);
                    self.position(here);
                    LLVMBuildBr(b, to);
                }
                Term::Branch { cond, then, els } => {
                    // A phi has one value for each predecessor: `br c, bb1(x), bb1(y)` needs two predecessors. `edge`
                    // leaves the builder in the block that it makes.
                    let same = then.block == els.block;
                    let (t, e) = (self.edge(then, here, same), self.edge(els, here, same));
                    self.position(here);
                    let branch = LLVMBuildCondBr(b, self.value(*cond), t, e);
                    self.weigh_reports(branch, then, els);
                }
                Term::Switch { value, cases, default } => {
                    // Several cases may lead to one block with different arguments: each such edge is split.
                    let mut edges: HashMap<Block, usize> = HashMap::new();
                    for edge in cases.iter().map(|c| &c.1).chain([default]) {
                        *edges.entry(edge.block).or_default() += 1;
                    }
                    let shared = |e: &Edge| !e.args.is_empty() && edges.get(&e.block).is_some_and(|&n| n > 1);
                    let default_to = self.edge(default, here, shared(default));
                    let targets: Vec<_> =
                        cases.iter().map(|(bits, e)| (*bits, self.edge(e, here, shared(e)))).collect();
                    self.position(here);
                    let switch = LLVMBuildSwitch(b, self.value(*value), default_to, cases.len() as u32);
                    let ty = self.func.ty(*value);
                    for (bits, to) in targets {
                        LLVMAddCase(switch, self.cx.constant(ty, bits), to);
                    }
                }
                Term::Return(Some(v)) => {
                    LLVMBuildRet(b, self.value(*v));
                }
                Term::Return(None) => {
                    LLVMBuildRetVoid(b);
                }
                // Falling through into other code would be worse than any result.
                Term::Unreachable => match self.func.ret {
                    Some(ty) => {
                        LLVMBuildRet(b, LLVMConstNull(self.cx.ty(ty)));
                    }
                    None => {
                        LLVMBuildRetVoid(b);
                    }
                },
            }
        }
    }

    /// The target block of an edge from `from`, after its arguments were added to the phis. If another edge has the
    /// same two ends, the edge is split: it goes through a block of its own.
    fn edge(&mut self, e: &Edge, from: LLVMBasicBlockRef, own_block: bool) -> LLVMBasicBlockRef {
        let to = self.blocks[&e.block];
        // Without phis in the target, equal edges need no blocks of their own.
        if e.args.is_empty() {
            return to;
        }
        // SAFETY: both blocks belong to this function, and the verifier checked that each argument has the type of its
        // parameter.
        unsafe {
            let mut from = from;
            let mut first = to;
            if own_block {
                first = self.new_block(c"edge");
                self.position(first);
                LLVMBuildBr(self.builder.0, to);
                from = first;
            }
            for (&p, &a) in self.func.blocks[e.block].params.iter().zip(&e.args) {
                let mut value = self.value(a);
                LLVMAddIncoming(self.value(p), &mut value, &mut from, 1);
            }
            first
        }
    }
}
