//! The values of parameters in the work-group function: of the group and of one vector.
//!
//! In comes a parameter of a continuation ([`Param`]); out goes the value that stands for it. What is the same for the
//! whole group is loaded or computed once, where the code of a group begins, and kept. What belongs to a vector is
//! computed from the vector's position, where its code begins.

use super::{Emitter, Part, VectorPosition};
use crate::analysis::private_layout::object_stride;
use crate::analysis::shape::Shape;
use crate::emit::widen::VecValue;
use crate::error::{Stop, bug};
use crate::params::{MAX_ID, MAX_LOCAL_SIZE, Param};
use crate::split::continuation_fn::load_value;
use crate::split::continuations::Continuation;
use crate::split::frame::{Frame, Slot, memory_type, slot_align};
use cloom_ir::{BinOp, Block, Entity, Flags, Function, IntCc, KernelMeta, Op, ParamKind, Query, Type, Value, abi};
use rustc_hash::FxHashMap;

impl Emitter<'_> {
    /// Loads a field of a launcher's block, in the entry of the group.
    pub(super) fn load_at(&mut self, base: Value, offset: u64, ty: Type) -> Value {
        let home = self.group_entry;
        let mut b = self.at(home);
        let p = b.ptr_offset(base, offset);
        b.load(ty, p, ty.scalar.bytes(), Flags::empty())
    }

    /// The group-uniform value of a parameter, loaded or computed in the entry of the group.
    pub(super) fn group_value(&mut self, p: Param) -> Result<Value, Stop> {
        if let Some(&v) = self.group_values.get(&p) {
            return Ok(v);
        }
        let entry = self.group_entry;
        let (launch, group, local, scratch) = (self.launch, self.group, self.local, self.scratch);
        let value = match p {
            Param::Kernel(n) => self.argument(n as usize)?,
            Param::Query(what, dim) => {
                let d = 8 * u64::from(dim);
                match what {
                    Query::WorkDim => self.load_at(launch, abi::LAUNCH_WORK_DIM, Type::I32),
                    Query::GlobalSize => self.load_at(launch, abi::LAUNCH_GLOBAL_SIZE + d, Type::I64),
                    Query::GlobalOffset => self.load_at(launch, abi::LAUNCH_GLOBAL_OFFSET + d, Type::I64),
                    Query::EnqueuedLocalSize => self.load_at(launch, abi::LAUNCH_LOCAL_SIZE + d, Type::I64),
                    Query::NumGroups => self.load_at(launch, abi::LAUNCH_NUM_GROUPS + d, Type::I64),
                    Query::GroupId => {
                        let first = self.load_at(group, abi::GROUP_ID + d, Type::I64);
                        match self.group_number.filter(|_| dim == 0) {
                            Some(number) => {
                                self.at(entry).binary_flags(BinOp::Add, first, number, Flags::NUW | Flags::NSW)
                            }
                            None => first,
                        }
                    }
                    Query::LocalSize => self.sizes[usize::from(dim)],
                    Query::LocalMemorySize => self.load_at(group, abi::GROUP_LOCAL_STRIDE, Type::I64),
                    Query::NumSubgroups => self.subgroups(self.sizes),
                    Query::EnqueuedNumSubgroups | Query::MaxSubgroupSize => {
                        let mut sizes = self.sizes;
                        for (d, size) in (0..).zip(&mut sizes) {
                            *size = self.group_value(Param::Query(Query::EnqueuedLocalSize, d))?;
                        }
                        if what == Query::EnqueuedNumSubgroups {
                            self.subgroups(sizes)
                        } else {
                            let (row, lanes) = (sizes[0], u64::from(self.width.lanes));
                            let mut b = self.at(entry);
                            let lanes = b.iconst(Type::I64, lanes);
                            b.binary(BinOp::Umin, row, lanes)
                        }
                    }
                    Query::LocalId
                    | Query::GlobalId
                    | Query::SubgroupLocalId
                    | Query::SubgroupSize
                    | Query::SubgroupId => return Err(bug("an id is no query of the group")),
                }
            }
            // The first global id of the group.
            Param::GlobalId(dim) => {
                let id = self.group_value(Param::Query(Query::GroupId, dim))?;
                let size = self.group_value(Param::Query(Query::EnqueuedLocalSize, dim))?;
                let offset = self.group_value(Param::Query(Query::GlobalOffset, dim))?;
                let mut b = self.at(entry);
                let first = b.binary_flags(BinOp::Mul, id, size, Flags::NUW | Flags::NSW);
                b.binary(BinOp::Add, first, offset)
            }
            Param::Local(g) => {
                let offset = self.locals.get(&g).copied().unwrap_or(0);
                self.at(entry).ptr_offset(local, offset)
            }
            Param::GroupSlot(v) => match self.frame.slots[v.index()] {
                Some(Slot::Group(offset)) => self.at(entry).ptr_offset(scratch, offset),
                _ => return Err(bug("a slot of the group is missing")),
            },
            _ => return Err(bug("a parameter is not the group's")),
        };
        self.group_values.insert(p, value);
        Ok(value)
    }

    /// Whether stores to write-only buffers may be non-temporal, as the launch says.
    pub(super) fn nontemporal(&mut self) -> Value {
        let (entry, launch) = (self.group_entry, self.launch);
        let flag = self.load_at(launch, abi::LAUNCH_NONTEMPORAL, Type::I32);
        let mut b = self.at(entry);
        let zero = b.iconst(Type::I32, 0);
        b.icmp(IntCc::Ne, flag, zero)
    }

    /// How many vectors a group of this size has.
    fn subgroups(&mut self, sizes: [Value; 3]) -> Value {
        let lanes = u64::from(self.width.lanes);
        let entry = self.group_entry;
        let mut b = self.at(entry);
        let (rest, lanes) = (b.iconst(Type::I64, lanes - 1), b.iconst(Type::I64, lanes));
        let row = b.binary_flags(BinOp::Add, sizes[0], rest, Flags::NUW | Flags::NSW);
        let row = b.binary(BinOp::Udiv, row, lanes);
        sizes[1..].iter().fold(row, |n, &size| b.binary_flags(BinOp::Mul, n, size, Flags::NUW | Flags::NSW))
    }

    /// A kernel argument, loaded in the entry of the group.
    fn argument(&mut self, n: usize) -> Result<Value, Stop> {
        let (entry, kernel, args, local) = (self.group_entry, self.kernel, self.args, self.local);
        let default = KernelMeta::default();
        let meta = kernel.kernel.as_deref().unwrap_or(&default);
        let (offsets, _) = meta.layout();
        let (Some(param), Some(&offset)) = (meta.params.get(n), offsets.get(n)) else {
            return Err(bug("a parameter of the kernel is missing"));
        };
        let ty = kernel.ty(kernel.param_values()[n]);
        let mut b = self.at(entry);
        let p = b.ptr_offset(args, u64::from(offset));
        Ok(match param.kind {
            ParamKind::Struct => p,
            ParamKind::Local => {
                let bytes = b.load(Type::I64, p, 8, Flags::empty());
                b.ptr_add(local, bytes)
            }
            _ => b.load(ty, p, param.align, Flags::empty()),
        })
    }

    /// Uniform values that the continuation needs, loaded before its loops: its first work-item may store new ones.
    pub(super) fn load_uniform(&mut self, c: &Continuation, pre: Block) -> FxHashMap<Value, Value> {
        let mut loaded = FxHashMap::default();
        for &v in &c.live_in {
            if let Some(Slot::Group(offset)) = self.frame.slots[v.index()] {
                let (scratch, ty) = (self.scratch, self.kernel.ty(v));
                let mut b = self.at(pre);
                let p = b.ptr_offset(scratch, offset);
                let value = load_value(&mut b, p, ty);
                loaded.insert(v, value);
            }
        }
        loaded
    }

    /// The values of a continuation's parameters for one vector.
    pub(super) fn vector_params(
        &mut self,
        part: &Part,
        position: &VectorPosition,
        (uniform, invariants): (&FxHashMap<Value, Value>, &[Value]),
        start: Block,
    ) -> Result<Vec<VecValue>, Stop> {
        let lanes = u64::from(self.width.lanes);
        let mut record = None;
        let mut values = Vec::new();
        for &p in &part.params {
            let shape = shape_of(p, self.kernel, self.frame, 0);
            let base = match p {
                Param::LocalId(d) => position.ids[usize::from(d)],
                Param::GlobalId(d) => {
                    let first = self.group_value(p)?;
                    self.at(start).binary(BinOp::Add, first, position.ids[usize::from(d)])
                }
                Param::Subgroup(Query::SubgroupLocalId) => self.at(start).iconst(Type::I64, 0),
                Param::Subgroup(Query::SubgroupSize) => {
                    let (size, first) = (self.sizes[0], position.ids[0]);
                    let mut b = self.at(start);
                    let left = b.binary(BinOp::Sub, size, first);
                    let lanes = b.iconst(Type::I64, lanes);
                    b.binary(BinOp::Umin, left, lanes)
                }
                // Vectors are numbered as their first work-items are.
                Param::Subgroup(_) => position.number,
                Param::Uniform(v) => *uniform.get(&v).ok_or(bug("a value of the group is missing"))?,
                Param::GroupInvariant(k) => invariants[k as usize],
                Param::ItemSlot(v) | Param::Array(v) => match self.frame.slots[v.index()] {
                    Some(Slot::Item(offset)) => self.frame_slot(&mut record, position, start, offset * lanes),
                    _ => return Err(bug("a slot of the work-item is missing")),
                },
                Param::NextContinuation => {
                    let offset = self.frame.next.ok_or(bug("a slot of the work-item is missing"))?;
                    self.frame_slot(&mut record, position, start, offset * lanes)
                }
                _ => self.group_value(p)?,
            };
            // The place of a work-item in its vector's part of the frame.
            let base = match (position.lane, p, shape) {
                (Some(lane), Param::ItemSlot(_), Shape::Strided { by, .. }) => {
                    let mut b = self.at(start);
                    let by = b.iconst(Type::I64, by as u64);
                    let offset = b.binary(BinOp::Mul, lane, by);
                    b.ptr_add(base, offset)
                }
                _ => base,
            };
            values.push(match shape {
                Shape::Strided { by, .. } => VecValue::Strided { base, by, cond: None },
                _ => VecValue::Uniform(base),
            });
        }
        Ok(values)
    }

    /// An address in the part of the frame that is the vector's.
    fn frame_slot(
        &mut self,
        record: &mut Option<Value>,
        position: &VectorPosition,
        start: Block,
        offset: u64,
    ) -> Value {
        let (scratch, fixed) = (self.scratch, self.frame.fixed);
        let bytes = self.frame.per_item * u64::from(self.width.lanes);
        let mut b = self.at(start);
        let record = *record.get_or_insert_with(|| {
            let size = b.iconst(Type::I64, bytes);
            let at = b.binary_flags(BinOp::Mul, position.number, size, Flags::NUW | Flags::NSW);
            let base = b.ptr_offset(scratch, fixed);
            b.ptr_add(base, at)
        });
        b.ptr_offset(record, offset)
    }
}

/// The shape of a parameter where `dim` is the vectorisation dimension.
pub fn shape_of(p: Param, kernel: &Function, frame: &Frame, dim: usize) -> Shape {
    match p {
        Param::LocalId(d) | Param::GlobalId(d) if usize::from(d) == dim => Shape::strided(1),
        Param::Subgroup(Query::SubgroupLocalId) => Shape::strided(1),
        Param::ItemSlot(v) => {
            let ty = memory_type(kernel.ty(v));
            Shape::strided(object_stride(u64::from(ty.bytes()), slot_align(ty)))
        }
        Param::Array(v) => match (kernel.def_op(v), frame.slots[v.index()]) {
            (Some(&Op::Alloca { size, align, .. }), Some(_)) => Shape::strided(object_stride(size, align)),
            _ => Shape::Uniform,
        },
        Param::NextContinuation => Shape::strided(4),
        _ => Shape::Uniform,
    }
}

/// The largest value of an integer parameter.
pub fn bound_of(p: Param) -> u64 {
    match p {
        Param::LocalId(_) | Param::Query(Query::LocalSize | Query::EnqueuedLocalSize, _) => MAX_LOCAL_SIZE,
        Param::Subgroup(Query::SubgroupId) => MAX_LOCAL_SIZE,
        Param::Subgroup(_) => 64,
        Param::GlobalId(_) | Param::Query(_, _) => MAX_ID,
        _ => u64::MAX,
    }
}
