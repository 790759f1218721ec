//! A function: arenas of values, instructions and blocks, the layout, and the metadata of kernels.
//!
//! The arenas only grow; a pass that removes an instruction takes it out of its block's list. Dead entries cost memory
//! until `compact` (printing and parsing back has the same effect).

use crate::checked::CheckedAccess;
use crate::entity::{Arena, Block, FuncRef, Inst, Value};
use crate::flags::Flags;
use crate::inst::{Args, Edge, InstData, Op, Term};
use crate::module::{CallSite, Span};
use crate::types::{Space, Type};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// What defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ValueDef {
    /// The result of an instruction.
    Inst(Inst),
    /// Parameter number n of a block.
    Param(Block, u32),
}

/// Type and definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its one definition.
    pub def: ValueDef,
}

/// A basic block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BlockData {
    /// The parameters. Those of the entry block are the function's.
    pub params: Vec<Value>,
    /// The instructions, in order.
    pub insts: Vec<Inst>,
    /// How it ends. A block under construction ends in `Unreachable`.
    pub term: Term,
    /// The source location of the terminator.
    pub term_span: Span,
}

/// Who can see a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Linkage {
    /// This module only.
    #[default]
    Internal,
    /// Other modules, when programs are linked. A declaration (no body) has it too.
    External,
    /// Other modules, too; each may define it, all alike, and one of the definitions is kept.
    LinkOnce,
    /// A built-in function: a declaration that the library defines, or its definition.
    Builtin,
}

/// A function, or the declaration of one if it has no block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Name; unique in the module.
    pub name: String,
    /// Types of the parameters.
    pub params: Vec<Type>,
    /// Type of the result.
    pub ret: Option<Type>,
    /// Who sees it.
    pub linkage: Linkage,
    /// `__attribute__((noinline))` was written.
    pub noinline: bool,
    /// Metadata, if it is a kernel.
    pub kernel: Option<Box<KernelMeta>>,
    /// The values.
    pub values: Arena<Value, ValueData>,
    /// The instructions.
    pub insts: Arena<Inst, InstData>,
    /// The blocks.
    pub blocks: Arena<Block, BlockData>,
    /// The layout: the live blocks, in order; the entry is the first.
    pub layout: Vec<Block>,
    /// The inlined calls that its code comes from: what [`Span::inlined`] counts.
    pub inlined: Vec<CallSite>,
}

/// The metadata of a kernel, for the host.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KernelMeta {
    /// One per parameter of the function.
    pub params: Vec<KernelParam>,
    /// `reqd_work_group_size`.
    pub reqd_group_size: Option<[u32; 3]>,
    /// `intel_reqd_sub_group_size`: a power of two.
    pub reqd_subgroup_size: Option<u16>,
    /// The size of sub-groups that the program expects, a power of two; unlike one that is required, the code may have
    /// another, and the host does not see it.
    pub expected_subgroup_size: Option<u16>,
    /// `work_group_size_hint`.
    pub group_size_hint: Option<[u32; 3]>,
    /// `vec_type_hint`, as written; readers take `int` when it is absent.
    pub vec_type_hint: Option<String>,
    /// Whether the last group of a dimension may be smaller than the others: from OpenCL C 2.0 on, unless
    /// `-cl-uniform-work-group-size` says otherwise.
    pub partial_groups: bool,
    /// It is a block that kernels enqueue ([`crate::abi::device`]): the host does not see it. Its parameters are those
    /// of the block, pointers to local memory, and then what it captures.
    pub is_block: bool,
    /// What the last parameters are, which the source does not have: the launcher gives their values.
    pub hidden: Vec<Hidden>,
    /// The accesses whose records [`Hidden::Reports`] points to, in their order.
    pub checked: Vec<CheckedAccess>,
}

/// A parameter that a pass adds to a kernel: an `i64` of kind [`ParamKind::Value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Hidden {
    /// The bytes of the buffer or of the local memory that this parameter points to; 0 for a null pointer.
    Size(u32),
    /// The address of an `i32` that is 0 until the launcher asks the kernel to end ([`Op::Poll`]).
    Stop,
    /// The address of the records of the kernel's checked accesses, in their order ([`crate::abi::report`]).
    Reports,
}

/// One parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelParam {
    /// Its name in the source.
    pub name: String,
    /// Its type in the source, as `clGetKernelArgInfo` spells it (`float4*`, `uint`).
    pub type_name: String,
    /// What the host passes.
    pub kind: ParamKind,
    /// Bytes that `clSetKernelArg` takes (8 for pointers).
    pub size: u32,
    /// Alignment in the argument block.
    pub align: u32,
    /// `const` was written on the pointee.
    pub is_const: bool,
    /// `restrict` was written.
    pub is_restrict: bool,
    /// `volatile` was written on the pointee.
    pub is_volatile: bool,
    /// Access qualifier of an image or pipe: 0 none, 1 read_only, 2 write_only, 3 read_write.
    pub access: u8,
    /// What a pointer to global or constant memory is aligned to, for which the application vouches; 1: nothing is
    /// known.
    pub pointee_align: u32,
}

/// What the host passes for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ParamKind {
    /// A number or a vector, `size` bytes (a 3-vector: the size of the 4-vector); the value itself is the IR parameter.
    Value,
    /// A structure, `size` bytes; the IR parameter is its address in the argument block, `ptr<constant>`.
    Struct,
    /// A buffer in global memory.
    Global,
    /// A buffer in constant memory.
    Constant,
    /// So many bytes of local memory.
    Local,
    /// A sampler, an `i32` of its bits.
    Sampler,
    /// An image.
    Image,
    /// A pipe: the address of its header, `ptr<global>`.
    Pipe,
    /// A queue on the device, an `i64`: its number ([`crate::abi::device`]).
    Queue,
}

impl KernelMeta {
    /// The offset of each parameter in the argument block, and the size of the block: in order, each at its alignment.
    pub fn layout(&self) -> (Vec<u32>, u32) {
        let mut end = 0u32;
        let offsets = self
            .params
            .iter()
            .map(|p| {
                let at = end.next_multiple_of(p.align.max(1));
                // No overflow: V12 limits the block to 1 MiB.
                end = at + p.size;
                at
            })
            .collect();
        (offsets, end)
    }
}

impl Function {
    /// A declaration; blocks make it a definition.
    pub fn new(name: impl Into<String>, params: Vec<Type>, ret: Option<Type>) -> Self {
        Self {
            name: name.into(),
            params,
            ret,
            linkage: Linkage::Internal,
            noinline: false,
            kernel: None,
            values: Arena::new(),
            insts: Arena::new(),
            blocks: Arena::new(),
            layout: Vec::new(),
            inlined: Vec::new(),
        }
    }

    /// A function for code of this one, with the same table of inlined calls and no block yet.
    pub fn new_for_code_of(&self, name: impl Into<String>, params: Vec<Type>, ret: Option<Type>) -> Self {
        Self { inlined: self.inlined.clone(), ..Self::new(name, params, ret) }
    }

    /// Whether it has no body.
    pub fn is_declaration(&self) -> bool {
        self.layout.is_empty()
    }

    /// The block that runs first. The function must have a body.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// Type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v].ty
    }

    /// The instruction that defines a value, if one does.
    pub fn def_inst(&self, v: Value) -> Option<Inst> {
        match self.values[v].def {
            ValueDef::Inst(i) => Some(i),
            ValueDef::Param(..) => None,
        }
    }

    /// The operation that defines a value, if one does.
    pub fn def_op(&self, v: Value) -> Option<&Op> {
        self.def_inst(v).map(|i| &self.insts[i].op)
    }

    /// The bits of a value that is a constant (of a vector: of each lane).
    pub fn const_bits(&self, v: Value) -> Option<u64> {
        match self.def_op(v) {
            Some(Op::Const(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// Adds a parameter to a kernel that its source does not have. Returns its value.
    pub fn add_hidden_param(&mut self, hidden: Hidden) -> Value {
        let entry = self.entry();
        self.params.push(Type::I64);
        if let Some(meta) = &mut self.kernel {
            meta.hidden.push(hidden);
            meta.params.push(KernelParam {
                name: String::new(),
                type_name: "ulong".into(),
                kind: ParamKind::Value,
                size: 8,
                align: 8,
                is_const: false,
                is_restrict: false,
                is_volatile: false,
                access: 0,
                pointee_align: 1,
            });
        }
        self.add_block_param(entry, Type::I64)
    }

    /// Adds a block at the end of the order.
    pub fn add_block(&mut self) -> Block {
        let b = self.add_loose_block();
        self.layout.push(b);
        b
    }

    /// Adds a parameter to a block; every edge to it needs one more argument.
    pub fn add_block_param(&mut self, block: Block, ty: Type) -> Value {
        let index = self.blocks[block].params.len() as u32;
        let v = self.values.push(ValueData { ty, def: ValueDef::Param(block, index) });
        self.blocks[block].params.push(v);
        v
    }

    /// Makes an instruction that is in no block yet. `ty` is the type of its result.
    pub fn make_inst(&mut self, op: Op, args: Args, ty: Option<Type>, flags: Flags, span: Span) -> Inst {
        let inst = self.insts.push(InstData { op, args, result: None, flags, span });
        if let Some(ty) = ty {
            let v = self.values.push(ValueData { ty, def: ValueDef::Inst(inst) });
            self.insts[inst].result = Some(v);
        }
        inst
    }

    /// Moves the last instruction of a block to its front, so that the whole block may use it.
    pub fn move_last_to_front(&mut self, block: Block) {
        let insts = &mut self.blocks[block].insts;
        if !insts.is_empty() {
            insts.rotate_right(1);
        }
    }

    /// Whether a value is defined in one of these blocks.
    pub fn is_defined_in(&self, v: Value, blocks: &[Block]) -> bool {
        match self.values[v].def {
            ValueDef::Param(b, _) => blocks.contains(&b),
            // An instruction does not know its block: this looks through all of them, for questions about few values.
            ValueDef::Inst(i) => blocks.iter().any(|&b| self.blocks[b].insts.contains(&i)),
        }
    }

    /// Replaces each use of a value according to `map`, in all blocks of the layout.
    pub fn map_uses(&mut self, mut map: impl FnMut(Value) -> Value) {
        for i in 0..self.layout.len() {
            let b = self.layout[i];
            let insts = std::mem::take(&mut self.blocks[b].insts);
            for &inst in &insts {
                for v in &mut self.insts[inst].args {
                    *v = map(*v);
                }
            }
            self.blocks[b].insts = insts;
            self.blocks[b].term.map_uses(&mut map);
        }
    }

    /// The instructions of the layout, block by block.
    pub fn insts_in_layout(&self) -> impl Iterator<Item = (Inst, &InstData)> + '_ {
        self.insts_in(&self.layout)
    }

    /// The instructions of these blocks, block by block.
    pub fn insts_in<'a>(&'a self, blocks: &'a [Block]) -> impl Iterator<Item = (Inst, &'a InstData)> + 'a {
        blocks.iter().flat_map(|&b| &self.blocks[b].insts).map(|&i| (i, &self.insts[i]))
    }

    /// Functions that this one calls, each once, in order of first call.
    pub fn callees(&self) -> Vec<FuncRef> {
        let mut seen = FxHashSet::default();
        let calls = self.insts_in_layout().filter_map(|(_, data)| data.op.callee());
        calls.filter(|&f| seen.insert(f)).collect()
    }

    /// Whether calls of it may be [`Op::PureCall`]: it has a result and reads nothing but its parameters and constant
    /// memory. (That it ends for any arguments is for the author of a library to see to.)
    pub fn is_pure(&self) -> bool {
        let reads_constants = |data: &InstData| {
            let is_load = matches!(data.op, Op::Load { .. } | Op::MaskedLoad { .. } | Op::Gather { .. });
            let space = data.args.first().and_then(|&p| self.values.get(p)).and_then(|p| p.ty.space());
            is_load && !data.flags.contains(Flags::VOLATILE) && space == Some(Space::Constant)
        };
        // The verifier asks this of functions whose indices it has not checked yet.
        let blocks = self.layout.iter().filter_map(|&b| self.blocks.get(b));
        let mut insts = blocks.flat_map(|b| &b.insts).filter_map(|&i| self.insts.get(i));
        self.ret.is_some()
            && !self.params.iter().any(|ty| ty.is_ptr())
            && insts.all(|data| data.op.is_pure() || reads_constants(data))
    }

    /// The number of instructions in the layout.
    pub fn size(&self) -> usize {
        // One more for each terminator.
        self.layout.iter().map(|&b| self.blocks[b].insts.len() + 1).sum()
    }

    /// Ends a block.
    pub fn set_term(&mut self, block: Block, term: Term, span: Span) {
        self.blocks[block].term = term;
        self.blocks[block].term_span = span;
    }

    /// The edge to a block with no argument.
    pub fn edge(block: Block) -> Edge {
        Edge::new(block, [])
    }

    /// The parameters of the entry block.
    pub fn param_values(&self) -> &[Value] {
        match self.layout.first() {
            Some(&b) => &self.blocks[b].params,
            None => &[],
        }
    }
}
