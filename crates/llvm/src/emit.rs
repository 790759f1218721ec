//! Translates functions: signatures, blocks, block parameters (as phis), terminators. Single operations are in `ops` and `memory`.

use crate::Error;
use crate::handles::{Context, IrBuilder, LlvmModule, c_string};
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Edge, Entity, FuncRef, Function, GlobalRef, Module, Scalar, Space, Term, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage, LLVMUnnamedAddr};
use std::collections::HashMap;

/// Translates a function and what it calls into an LLVM module.
pub fn module(
    module: &Module,
    root: FuncRef,
    reachable: &[FuncRef],
    context: &Context,
    llvm: &LlvmModule<'_>,
    cpu: &str,
) -> Result<(), Error> {
    let mut cx = Cx { module, context: context.0, llvm: llvm.raw, functions: HashMap::new(), globals: HashMap::new() };
    for &f in reachable {
        cx.declare(f, f == root, cpu);
    }
    for &f in reachable {
        FunctionCx::new(&mut cx, context, f, f == root).run()?;
    }
    Ok(())
}

/// What all functions share.
pub struct Cx<'m> {
    pub module: &'m Module,
    pub context: LLVMContextRef,
    pub llvm: LLVMModuleRef,
    pub functions: HashMap<FuncRef, (LLVMTypeRef, LLVMValueRef)>,
    globals: HashMap<GlobalRef, LLVMValueRef>,
}

impl Cx<'_> {
    /// The type of one lane.
    pub fn scalar(&self, scalar: Scalar) -> LLVMTypeRef {
        // SAFETY: (and in all of this file) values and types belong to the live context and module, and LLVM's constructors of
        // types, constants and instructions have no other precondition than well-typed operands, which the IR's verifier gives.
        unsafe {
            match scalar {
                Scalar::F16 => LLVMHalfTypeInContext(self.context),
                Scalar::F32 => LLVMFloatTypeInContext(self.context),
                Scalar::F64 => LLVMDoubleTypeInContext(self.context),
                Scalar::Ptr(_) => LLVMPointerTypeInContext(self.context, 0),
                _ => LLVMIntTypeInContext(self.context, scalar.bits()),
            }
        }
    }

    /// A type.
    pub fn ty(&self, ty: Type) -> LLVMTypeRef {
        let scalar = self.scalar(ty.scalar);
        // SAFETY: see `scalar`.
        if ty.is_vector() { unsafe { LLVMVectorType(scalar, u32::from(ty.lanes)) } } else { scalar }
    }

    /// A constant with these bits in each lane.
    pub fn constant(&self, ty: Type, bits: u64) -> LLVMValueRef {
        // SAFETY: see `scalar`.
        unsafe {
            let int = LLVMIntTypeInContext(self.context, ty.scalar.bits());
            let value = LLVMConstInt(int, bits, 0);
            let value = match ty.scalar {
                s if s.is_float() => LLVMConstBitCast(value, self.scalar(s)),
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

    fn attribute(&self, name: &str) -> LLVMAttributeRef {
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

    fn declare(&mut self, f: FuncRef, root: bool, cpu: &str) {
        let func = &self.module.funcs[f];
        let mut params: Vec<LLVMTypeRef> = func.params.iter().map(|&t| self.ty(t)).collect();
        let name = c_string(&func.name);
        // SAFETY: see `scalar`.
        unsafe {
            let ret = func.ret.map_or_else(|| LLVMVoidTypeInContext(self.context), |t| self.ty(t));
            let ty = LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, 0);
            let value = LLVMAddFunction(self.llvm, name.as_ptr(), ty);
            LLVMSetLinkage(
                value,
                if root { LLVMLinkage::LLVMExternalLinkage } else { LLVMLinkage::LLVMInternalLinkage },
            );
            let whole = LLVMAttributeFunctionIndex;
            LLVMAddAttributeAtIndex(value, whole, self.attribute("nounwind"));
            LLVMAddAttributeAtIndex(value, whole, self.text_attribute("target-cpu", cpu));
            // A frame larger than a page touches each page, so that an overflow meets the guard page.
            LLVMAddAttributeAtIndex(value, whole, self.text_attribute("probe-stack", "inline-asm"));
            if root {
                // Descriptors, arguments, local memory and scratch are blocks of their own: a kernel cannot come by their
                // addresses in another way.
                for index in 1..=func.params.len() as u32 {
                    LLVMAddAttributeAtIndex(value, index, self.attribute("noalias"));
                }
            }
            self.functions.insert(f, (ty, value));
        }
    }

    /// The LLVM global of a constant or a program-scope variable, made on first use.
    pub fn global(&mut self, g: GlobalRef) -> LLVMValueRef {
        if let Some(&value) = self.globals.get(&g) {
            return value;
        }
        let data = &self.module.globals[g];
        let mut relocs = data.relocs.clone();
        relocs.sort_by_key(|r| r.offset);
        // The initial bytes in pieces: runs of bytes and addresses, then zeros.
        let bytes = |cx: &Self, range: std::ops::Range<usize>| {
            let slice = &data.init[range];
            // SAFETY: see `scalar`; the slice is copied.
            unsafe { LLVMConstStringInContext2(cx.context, slice.as_ptr().cast(), slice.len(), 1) }
        };
        // SAFETY: see `scalar`.
        unsafe {
            let i8 = LLVMInt8TypeInContext(self.context);
            // The type must be known before the addresses are: a global may point to itself.
            let mut types = Vec::new();
            let mut at = 0usize;
            for r in &relocs {
                types.push(LLVMArrayType2(i8, r.offset - at as u64));
                types.push(LLVMPointerTypeInContext(self.context, 0));
                at = r.offset as usize + 8;
            }
            types.push(LLVMArrayType2(i8, (data.init.len() - at) as u64));
            types.push(LLVMArrayType2(i8, data.size - data.init.len() as u64));
            let ty = LLVMStructTypeInContext(self.context, types.as_mut_ptr(), types.len() as u32, 1);
            let value = LLVMAddGlobal(self.llvm, ty, c_string(&format!("{}.data", data.name)).as_ptr());
            self.globals.insert(g, value);
            let mut parts = Vec::new();
            let mut at = 0usize;
            for r in &relocs {
                parts.push(bytes(self, at..r.offset as usize));
                let target = self.global(r.target);
                let mut addend = [LLVMConstInt(LLVMInt64TypeInContext(self.context), r.addend as u64, 1)];
                parts.push(LLVMConstGEP2(i8, target, addend.as_mut_ptr(), 1));
                at = r.offset as usize + 8;
            }
            parts.push(bytes(self, at..data.init.len()));
            parts.push(LLVMConstNull(types[types.len() - 1]));
            LLVMSetInitializer(
                value,
                LLVMConstStructInContext(self.context, parts.as_mut_ptr(), parts.len() as u32, 1),
            );
            LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetGlobalConstant(value, i32::from(data.space == Space::Constant));
            LLVMSetUnnamedAddress(value, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMSetAlignment(value, data.align);
            value
        }
    }
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
    values: Vec<LLVMValueRef>,
    blocks: HashMap<Block, LLVMBasicBlockRef>,
}

impl<'a, 'm> FunctionCx<'a, 'm> {
    fn new(cx: &'a mut Cx<'m>, context: &Context, f: FuncRef, root: bool) -> Self {
        let func = &cx.module.funcs[f];
        let llvm = cx.functions[&f].1;
        let mut blocks = HashMap::new();
        for &b in Cfg::new(func).rpo() {
            // SAFETY: see `Cx::scalar`.
            blocks.insert(b, unsafe {
                LLVMAppendBasicBlockInContext(cx.context, llvm, c_string(&b.to_string()).as_ptr())
            });
        }
        let entry = blocks[&func.entry()];
        let values = vec![std::ptr::null_mut(); func.values.len()];
        Self { cx, func, llvm, builder: IrBuilder::new(context), entry, root, values, blocks }
    }

    /// The translation of a value whose definition was translated.
    pub fn value(&self, v: Value) -> LLVMValueRef {
        self.values[v.index()]
    }

    fn run(mut self) -> Result<(), Error> {
        let func = self.func;
        let cfg = Cfg::new(func);
        for (i, &p) in func.param_values().iter().enumerate() {
            // SAFETY: the function has as many parameters.
            self.values[p.index()] = unsafe { LLVMGetParam(self.llvm, i as u32) };
        }
        for &b in &cfg.rpo()[1..] {
            self.position(self.blocks[&b]);
            for &p in &func.blocks[b].params {
                // SAFETY: see `Cx::scalar`.
                self.values[p.index()] = unsafe { LLVMBuildPhi(self.builder.0, self.cx.ty(func.ty(p)), c"".as_ptr()) };
            }
        }
        for &b in cfg.rpo() {
            self.position(self.blocks[&b]);
            for &inst in &func.blocks[b].insts {
                let value = self.inst(&func.insts[inst])?;
                if let Some(r) = func.insts[inst].result {
                    self.values[r.index()] = value;
                }
            }
            self.term(&func.blocks[b].term);
        }
        Ok(())
    }

    fn position(&self, block: LLVMBasicBlockRef) {
        // SAFETY: the block belongs to this function.
        unsafe { LLVMPositionBuilderAtEnd(self.builder.0, block) }
    }

    fn term(&mut self, term: &Term) {
        let b = self.builder.0;
        // SAFETY: see `Cx::scalar`; the block that the builder stands in has no terminator yet.
        unsafe {
            let here = LLVMGetInsertBlock(b);
            match term {
                Term::Jump(e) => {
                    let to = self.edge(e, here, false);
                    self.position(here);
                    LLVMBuildBr(b, to);
                }
                Term::Branch { cond, then, els } => {
                    let same = then.block == els.block;
                    let (t, e) = (self.edge(then, here, same), self.edge(els, here, same));
                    self.position(here);
                    LLVMBuildCondBr(b, self.value(*cond), t, e);
                }
                Term::Switch { value, cases, default } => {
                    // Several cases may lead to one block with different arguments: then each edge has its own way.
                    let shared = |e: &Edge| {
                        !e.args.is_empty()
                            && cases.iter().map(|c| &c.1).chain([default]).filter(|o| o.block == e.block).count() > 1
                    };
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

    /// Gives the block that an edge from `from` leads to, after handing its arguments to the phis; through a block of its own if
    /// another edge shares both ends.
    fn edge(&mut self, e: &Edge, from: LLVMBasicBlockRef, own_block: bool) -> LLVMBasicBlockRef {
        let to = self.blocks[&e.block];
        if e.args.is_empty() {
            return to;
        }
        // SAFETY: see `Cx::scalar`.
        unsafe {
            let mut from = from;
            let mut first = to;
            if own_block {
                first = LLVMAppendBasicBlockInContext(self.cx.context, self.llvm, c"edge".as_ptr());
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
