//! GPUs: the form of a kernel, and the operations that only a GPU has.
//!
//! The input is a kernel as the passes leave it, for one work-item; the output is PTX, the text that NVIDIA's driver
//! compiles. A GPU has threads for work-items, barriers and warps, so that `spmd` has nothing to do. The differences
//! from CPUs:
//!
//! | | |
//! |---|---|
//! | `entry` | a kernel's parameters, the launch descriptor, ids and sizes, local memory: [`cloom_ir::abi::gpu`] |
//! | `atomic` | memory orders and scopes, barriers |
//! | `subgroup` | sub-groups, which are warps |
//! | `print` | printf into a buffer |
//! | `lane` | lanes of vectors whose numbers are known at run time only |
//! | `math` | instructions that LLVM does not choose by itself |
//! | `legalise` | what LLVM cannot choose instructions for |
//!
//! The emitted text goes through the passes of [`cloom_ptx`]: a peephole, and work-arounds for bugs of ptxas.
//!
//! # Address spaces
//!
//! Global memory is LLVM's space 1, local memory 3, private memory 5. All other pointers are generic addresses (0): a
//! pointer to constant memory may point to a structure that is a parameter, which lies where the driver puts it.
//! Pointers to local and private memory have 32 bits; in memory they take 64, as the IR says.

mod atomic;
mod entry;
mod lane;
pub mod legalise;
mod math;
mod print;
mod short_pointers;
mod subgroup;

use crate::Error;
use crate::emit::{Cx, FunctionCx};
use crate::own_passes::{OwnPasses, TEXT_ERRATA, TEXT_PEEPHOLE};
use cloom_ir::{CastOp, FuncRef, GlobalRef, InstData, Module, Op, Scalar, Space, Type};
use cloom_ptx::{Draft, ParseError};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMInlineAsmDialect};
use std::collections::{HashMap, HashSet};

pub use entry::kernel_symbol;

/// LLVM's number of global memory.
pub const GLOBAL: u32 = 1;
/// LLVM's number of local memory.
pub const SHARED: u32 = 3;
/// LLVM's number of private memory.
pub const FRAME: u32 = 5;

/// The widest access in bytes.
const FRAME_ALIGN: u32 = 16;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// The work-items of a warp, which is a sub-group.
pub const WARP: u64 = 32;

/// Prepares the PTX that LLVM emitted for ptxas. PTX that cannot be parsed, or has a fault in an unknown form, is a bug
/// of Cloom.
pub fn finish(text: &str, own: &mut OwnPasses<'_>) -> Result<String, Error> {
    let mut passed = || {
        let mut draft = Draft::parse(text)?;
        own.try_step(TEXT_PEEPHOLE, || cloom_ptx::peephole::optimise(&mut draft))?;
        // The work-arounds come last, so that they also see what the peephole makes.
        own.try_step(TEXT_ERRATA, || cloom_ptx::errata::rewrite(&mut draft))?;
        Ok(draft.print())
    };
    passed().map_err(|error: ParseError| {
        let line = text.lines().nth((error.line as usize).saturating_sub(1)).unwrap_or_default();
        Error::Internal(format!("PTX of LLVM, {error}: `{}`", line.trim()))
    })
}

/// The state of a module for a GPU, beside its functions.
pub struct Gpu {
    /// The offset of each variable of local memory in the group's block.
    locals: HashMap<GlobalRef, u64>,
    /// Bytes of the local variables of the first kernel.
    pub local_size: u64,
    /// Functions that use variables of the program, themselves or by calls: they get the address of these variables as
    /// a last parameter.
    with_variables: HashSet<FuncRef>,
    /// The group's block of local memory, made on first use.
    block: Option<LLVMValueRef>,
}

impl Gpu {
    /// The state for these kernels and everything that they call.
    pub fn new(module: &Module, kernels: &[FuncRef], reachable: &[FuncRef]) -> Gpu {
        let addresses = |f: FuncRef| {
            let insts = module.funcs[f].insts_in_layout();
            insts.filter_map(
                |(_, data)| if let Op::GlobalAddr(g) = data.op { Some((g, &module.globals[g])) } else { None },
            )
        };
        let has_variables = |&f: &FuncRef| addresses(f).any(|(_, global)| global.place.is_some());
        let mut with_variables: HashSet<FuncRef> = reachable.iter().copied().filter(has_variables).collect();
        // A group runs only one of the kernels, so that the variables of all kernels begin at the same offset.
        let (mut locals, mut local_size) = (HashMap::new(), None);
        for &kernel in kernels {
            let mut size = 0u64;
            for (g, global) in super::reachable(module, &[kernel]).into_iter().flat_map(addresses) {
                if global.place.is_none() && global.space == Space::Local {
                    let at = *locals.entry(g).or_insert_with(|| size.next_multiple_of(u64::from(global.align.max(1))));
                    size = size.max(at.saturating_add(global.size));
                }
            }
            // Only the first kernel's size is reported: a second one is its coarsened version, whose size is in
            // `Coarsening`.
            local_size.get_or_insert(size);
        }
        loop {
            // A function that calls one with variables has to pass the address on: repeated until no caller is added.
            let calls_one = |f: &FuncRef| module.funcs[*f].callees().iter().any(|c| with_variables.contains(c));
            let more: Vec<_> =
                reachable.iter().copied().filter(|f| !with_variables.contains(f) && calls_one(f)).collect();
            if more.is_empty() {
                break;
            }
            with_variables.extend(more);
        }
        Gpu { locals, local_size: local_size.unwrap_or(0), with_variables, block: None }
    }

    /// Whether a function other than the kernel gets the address of the program's variables.
    pub fn takes_variables(&self, f: FuncRef) -> bool {
        self.with_variables.contains(&f)
    }
}

impl Cx<'_> {
    /// LLVM's number of an address space.
    pub fn address_space(&self, space: Space) -> u32 {
        match space {
            Space::Global if self.gpu.is_some() => GLOBAL,
            Space::Local if self.gpu.is_some() => SHARED,
            Space::Private if self.gpu.is_some() => FRAME,
            _ => 0,
        }
    }
}

impl FunctionCx<'_, '_> {
    /// Translates an instruction that a GPU has in another form; `None` for those that are as on CPUs.
    pub fn gpu_inst(&mut self, data: &InstData, ty: Type) -> Result<Option<LLVMValueRef>, Error> {
        if self.cx.gpu.is_none() {
            return Ok(None);
        }
        let value = match data.op {
            Op::Query { what, dim } => self.query(what, dim),
            Op::Cast(CastOp::Trunc) if ty == Type::I32 => match self.truncated_id(data.args[0]) {
                Some(dim) => self.low_global_id(dim),
                None => return Ok(None),
            },
            // The number of a pointer is its generic address in every address space, so that a pointer may be
            // subtracted from another that went through memory.
            Op::Cast(CastOp::PtrToInt) if self.is_short_pointer(self.func.ty(data.args[0])) => {
                let (from, generic) = (self.func.ty(data.args[0]), Type::ptr(Space::Generic));
                let pointer = self.space_cast(from, generic, self.value(data.args[0]));
                self.cast(CastOp::PtrToInt, generic, ty, pointer)
            }
            Op::Cast(CastOp::IntToPtr) if self.is_short_pointer(ty) => {
                let (from, generic) = (self.func.ty(data.args[0]), Type::ptr(Space::Generic));
                let pointer = self.cast(CastOp::IntToPtr, from, generic, self.value(data.args[0]));
                self.space_cast(generic, ty, pointer)
            }
            Op::GlobalAddr(g) if self.cx.module.globals[g].place.is_none() => match self.cx.module.globals[g].space {
                Space::Local => self.local_variable(g),
                _ => return Ok(None),
            },
            Op::Alloca { size, align, .. } => {
                // LLVM makes the slot in the generic space. With this alignment, accesses to neighbours become one
                // access.
                let align = if size >= FRAME_ALIGN.into() { align.max(FRAME_ALIGN) } else { align };
                let frame = self.alloca(size, align);
                self.to_space(frame, ty)
            }
            Op::Barrier(_) => self.nvvm("llvm.nvvm.barrier0", &[]),
            Op::Clock => self.nvvm("llvm.nvvm.read.ptx.sreg.globaltimer", &[]),
            // No instruction: the address may be invalid, and a prefetch of an invalid address faults.
            Op::Prefetch => std::ptr::null_mut(),
            Op::Fence { order, scope } => self.gpu_fence(order, scope),
            Op::AtomicRmw { order, scope, .. } | Op::AtomicCmpXchg { order, scope } => {
                self.fenced(order, scope, |cx| cx.relaxed_update(data))
            }
            Op::AtomicLoad { order, scope } => self.fenced(order, scope, |cx| cx.relaxed_load(data, ty)),
            Op::AtomicStore { order, scope } => self.fenced(order, scope, |cx| cx.relaxed_store(data)),
            Op::SubgroupBallot => self.warp_ballot(data),
            Op::SubgroupShuffle => self.warp_shuffle(data, ty),
            Op::SubgroupReduce { op, cluster } => self.warp_reduce(data, ty, op, cluster),
            Op::SubgroupScan { op, exclusive } => self.warp_scan(data, ty, op, exclusive),
            Op::Sample => self.sample(data),
            Op::Printf(format) => self.print_record(data, format)?,
            Op::DeviceCall(_) => {
                return Err(Error::Limit("kernels that enqueue kernels do not run on this device".to_owned()));
            }
            // LLVM 19 loads 16 bytes at once, whatever their alignment is.
            Op::Load { align } if ty == Type::vector(Scalar::I8, 16) && align < 16 => self.load_halves(data, ty, align),
            Op::Load { align } if self.is_short_pointer(ty) => {
                // In memory, the pointer takes the 64 bits that the IR gives it.
                let load = self.load(data, Type::I64, align);
                // SAFETY: `load` is an integer of 64 bits, and `ty` is a type of pointers.
                unsafe { LLVMBuildIntToPtr(self.builder.0, load, self.cx.ty(ty), NO_NAME) }
            }
            Op::Store { align } if self.is_short_pointer(self.func.ty(data.args[1])) => {
                // SAFETY: the second operand is a pointer, which the verifier checked.
                let wide = unsafe {
                    LLVMBuildPtrToInt(self.builder.0, self.value(data.args[1]), self.cx.ty(Type::I64), NO_NAME)
                };
                self.store_value(data, wide, align)
            }
            _ => return self.gpu_math(data, ty),
        };
        Ok(Some(value))
    }

    /// A sample, by assembly, because LLVM 19 wants to know the origin of the handle. The texture does not change
    /// during the kernel, so that a sample counts as a computation.
    fn sample(&self, data: &InstData) -> LLVMValueRef {
        let args: Vec<_> = data.args.iter().map(|&v| self.value(v)).collect();
        let (text, constraints) = ("tex.2d.v4.f32.f32 {$0, $1, $2, $3}, [$4, {$5, $6}];", "=f,=f,=f,=f,l,f,f");
        let mut channels = [self.cx.ty(Type::F32); 4];
        // SAFETY: the assembly returns a struct of four floats, and each index is one of them.
        unsafe {
            let ret = LLVMStructTypeInContext(self.cx.context, channels.as_mut_ptr(), 4, 0);
            let all = self.assembly_with(text, constraints, ret, &args, false);
            (0..4).fold(LLVMGetUndef(self.cx.ty(Type::vector(Scalar::F32, 4))), |colour, i| {
                let channel = LLVMBuildExtractValue(self.builder.0, all, i, NO_NAME);
                let at = self.cx.constant(Type::I32, i.into());
                LLVMBuildInsertElement(self.builder.0, colour, channel, at, NO_NAME)
            })
        }
    }

    /// A vector as its two halves.
    fn load_halves(&mut self, data: &InstData, ty: Type, align: u32) -> LLVMValueRef {
        let half = Type::vector(ty.scalar, ty.lanes / 2);
        let second = self.offset(self.value(data.args[0]), self.cx.constant(Type::I64, half.bytes().into()));
        let align_of_second = align.min(half.bytes());
        let (low, high) = (self.load(data, half, align), self.load_at(second, data, half, align_of_second));
        let lanes: Vec<_> = (0..u64::from(ty.lanes)).map(|i| self.cx.constant(Type::I32, i)).collect();
        // SAFETY: `low` and `high` have one type, and `lanes` has the numbers of all their lanes.
        unsafe {
            let mask = LLVMConstVector(lanes.as_ptr().cast_mut(), lanes.len() as u32);
            LLVMBuildShuffleVector(self.builder.0, low, high, mask, NO_NAME)
        }
    }

    /// Whether pointers of this type have 32 bits.
    fn is_short_pointer(&self, ty: Type) -> bool {
        matches!(ty.scalar, Scalar::Ptr(Space::Local | Space::Private))
    }

    /// Calls an intrinsic that is not overloaded.
    fn nvvm(&self, name: &str, args: &[LLVMValueRef]) -> LLVMValueRef {
        self.intrinsic(name, &[], args)
    }

    /// An assembly instruction with side effects: LLVM keeps it where it is.
    fn assembly(&self, text: &str, constraints: &str, ret: LLVMTypeRef, args: &[LLVMValueRef]) -> LLVMValueRef {
        self.assembly_with(text, constraints, ret, args, true)
    }

    fn assembly_with(
        &self,
        text: &str,
        constraints: &str,
        ret: LLVMTypeRef,
        args: &[LLVMValueRef],
        has_effects: bool,
    ) -> LLVMValueRef {
        let mut args = args.to_vec();
        // SAFETY: `ret` and the arguments belong to the live context, and the texts are given with their lengths.
        unsafe {
            let mut params: Vec<_> = args.iter().map(|&a| LLVMTypeOf(a)).collect();
            let ty = LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, 0);
            let asm = LLVMGetInlineAsm(
                ty,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                has_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            let call = LLVMBuildCall2(self.builder.0, ty, asm, args.as_mut_ptr(), args.len() as u32, NO_NAME);
            if !has_effects {
                // The assembly accesses no memory. Without `memory`, LLVM would assume that it changes memory, and
                // repeat loads after it.
                for name in ["memory", "nounwind", "willreturn"] {
                    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, self.cx.attribute(name));
                }
            }
            call
        }
    }

    /// Applies an operation on scalars to each lane of vectors of one length.
    fn each_lane(&self, ty: Type, args: &[LLVMValueRef], f: impl Fn(&[LLVMValueRef]) -> LLVMValueRef) -> LLVMValueRef {
        if !ty.is_vector() {
            return f(args);
        }
        let lanes: Vec<_> = (0..u64::from(ty.lanes))
            .map(|lane| {
                let at = self.cx.constant(Type::I32, lane);
                // SAFETY: each argument is a vector with as many lanes as `ty`.
                let args: Vec<_> =
                    args.iter().map(|&a| unsafe { LLVMBuildExtractElement(self.builder.0, a, at, NO_NAME) }).collect();
                f(&args)
            })
            .collect();
        self.build(ty, &lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cloom_passes::PassOptions;

    #[test]
    fn ptx_is_optimised_and_has_no_faults() {
        let text = "// k\n.entry k()\n{\n\t.reg .b16 \t%rs<3>;\n\t.reg .b32 \t%r<3>;\n\tneg.s16 \t%rs2, %rs1;\n\t\
                    bfe.s32 \t%r2, %r1, 24, 8; // upper\n\tret;\n}\n";
        let wanted = text
            .replace("neg.s16 \t%rs2, %rs1;", "mul.lo.s16 %rs2, %rs1, -1;")
            .replace("bfe.s32 \t%r2, %r1, 24, 8;", "shr.s32 %r2, %r1, 24;");
        assert_eq!(finish(text, &mut OwnPasses::new(&PassOptions::default())), Ok(wanted));
    }

    /// An internal error is a bug; it must not be passed on to the driver.
    #[test]
    fn what_cannot_be_parsed_is_an_error_with_its_line() {
        for (text, wanted) in [
            (".entry k()\n{\n\tret;\n\tnew ?;\n}\n", "line 4: unexpected character '?': `new ?;`"),
            (".entry k()\n{\n\tbra L;\n}\n", "line 3: unknown label L: `bra L;`"),
            (".entry k()\n{\n\tret;\n", "line 4: "),
        ] {
            let error = finish(text, &mut OwnPasses::new(&PassOptions::default())).unwrap_err();
            assert!(matches!(&error, Error::Internal(why) if why.contains(wanted)), "{error}");
        }
    }
}
