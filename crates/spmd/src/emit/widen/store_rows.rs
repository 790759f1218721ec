//! Stores of all fields of a record, combined to one.
//!
//! In come scalar stores of one block whose lanes are at the same stride of two to four elements, and which together
//! write every element: the fields of a record, one after the other. Out goes one contiguous store of the interleaved
//! lanes, in place of the last of them:
//!
//! ```text
//! p[3*i] = x;  p[3*i + 1] = y;  p[3*i + 2] = z;      lanes: x0 y0 z0 x1 y1 z1 x2 …
//! ```
//!
//! A stride that is checked ([`crate::analysis::shape`]) is one of an index of 32 bits that may wrap, and so may the
//! sum that makes the next field's index. The one store is then in a branch on all checks, and on the fields being
//! side by side; else there is a scatter for each field.
//!
//! Nothing but pure operations may be between them, so that nobody sees that the first ones come later. (LLVM's
//! interleaved access groups, and "Auto-vectorization of interleaved data for SIMD" by Nuzman, Rosen and Zaks, PLDI
//! 2006, do the same to loops.)

use super::{Lanes, VecValue, Widener};
use crate::analysis::input::VectorInput;
use crate::analysis::shape::Shape;
use crate::decisions::AccessForm;
use crate::error::Stop;
use cloom_ir::affine::{Affine, Ext, Facts, Form};
use cloom_ir::{CastOp, Flags, Inst, IntCc, Op, Scalar, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most fields of a record.
const MAX_FIELDS: i64 = 4;

/// Stores that together write records.
#[derive(Clone)]
struct Row {
    /// In the order of their addresses.
    by_address: SmallVec<[Inst; 4]>,
    /// In the order of the program.
    in_order: SmallVec<[Inst; 4]>,
    /// Whether they are certainly side by side; else only if no index wraps.
    is_certain: bool,
}

/// The rows of a function, by the store that comes last.
#[derive(Default)]
pub(super) struct StoreRows {
    rows: FxHashMap<Inst, Row>,
    /// The stores of rows that come before it.
    earlier: rustc_hash::FxHashSet<Inst>,
}

/// A store that may belong to a row.
struct Field {
    store: Inst,
    address: Form,
    /// The same if indices do not wrap.
    unwrapped: Form,
    by: i64,
    ty: Type,
}

impl StoreRows {
    /// Finds the rows of a function.
    pub(super) fn find(item: &VectorInput) -> StoreRows {
        let mut found = StoreRows::default();
        let mut affine = None;
        let assumed = Facts { no_wrap: &|_, _| true, ..Facts::default() };
        for &b in item.cfg.rpo() {
            let mut fields: Vec<Field> = Vec::new();
            for &store in &item.func.blocks[b].insts {
                let Some((by, ty)) = field(item, store) else {
                    // A load or another store between them would see that the first stores come late.
                    if !item.func.insts[store].op.is_pure() {
                        fields.clear();
                    }
                    continue;
                };
                let (exact, unwrapped): &(Affine<'_>, Affine<'_>) =
                    affine.get_or_insert_with(|| (item.affine(Facts::default()), item.affine(assumed)));
                let p = item.func.insts[store].args[0];
                let (address, unwrapped) = (exact.form(p, Ext::Own), unwrapped.form(p, Ext::Own));
                // A store at another stride or of another type ends the row: it may overlap a store that would come
                // later.
                if fields.last().is_some_and(|f| (f.by, f.ty) != (by, ty)) {
                    fields.clear();
                }
                fields.push(Field { store, address, unwrapped, by, ty });
                // As many fields as there are elements from lane to lane: then nothing is left out.
                let count = (by / i64::from(ty.bytes())) as usize;
                // Only the last `count` stores can be a row: the older ones are stored on their own, in their place.
                if fields.len() > count {
                    fields.remove(0);
                }
                if fields.len() == count
                    && let Some(row) = Row::find(&fields)
                {
                    // The combined store is written in place of the last, where all values are known.
                    found.earlier.extend(row.in_order.iter().copied().filter(|&s| s != store));
                    found.rows.insert(store, row);
                    fields.clear();
                }
            }
        }
        found
    }
}

/// The stride and type of a store that may be one of a field.
fn field(item: &VectorInput, store: Inst) -> Option<(i64, Type)> {
    let data = &item.func.insts[store];
    let (Op::Store { .. }, &[p, x]) = (&data.op, &data.args[..]) else { return None };
    let ty = item.func.ty(x);
    let size = i64::from(ty.bytes());
    // Neighbours in a private array that is laid out by unit are not neighbours in memory.
    let plain = !data.flags.contains(Flags::VOLATILE)
        && !ty.is_vector()
        && !ty.is_ptr()
        && ty.scalar != Scalar::I1
        && item.shapes.arrays.unit(p).is_none();
    match item.shapes.of(p) {
        Shape::Strided { by, .. } if plain && by % size == 0 && (2..=MAX_FIELDS).contains(&(by / size)) => {
            Some((by, ty))
        }
        _ => None,
    }
}

impl Row {
    /// The row of these fields, if they are contiguous.
    fn find(fields: &[Field]) -> Option<Row> {
        // Without assumptions first, as no test is needed then.
        let certain = by_address(fields, |f| &f.address);
        let is_certain = certain.is_some();
        let by_address = certain.or_else(|| by_address(fields, |f| &f.unwrapped))?;
        Some(Row { by_address, in_order: fields.iter().map(|f| f.store).collect(), is_certain })
    }
}

/// The fields in the order of their addresses, if they are contiguous.
fn by_address<'a>(fields: &'a [Field], address: impl Fn(&'a Field) -> &'a Form) -> Option<SmallVec<[Inst; 4]>> {
    let offset = |f: &'a Field| address(f).minus(address(&fields[0])).as_const();
    let mut offsets = fields.iter().map(|f| Some((offset(f)?, f))).collect::<Option<Vec<_>>>()?;
    offsets.sort_by_key(|&(offset, _)| offset);
    let contiguous =
        offsets.windows(2).all(|pair| pair[1].0.checked_sub(pair[0].0) == Some(pair[0].1.ty.bytes().into()));
    contiguous.then(|| offsets.iter().map(|(_, f)| f.store).collect())
}

impl Widener<'_> {
    /// Emits a store that belongs to a row. Returns whether it does.
    pub(super) fn store_of_row(&mut self, inst: Inst) -> Result<bool, Stop> {
        if self.store_rows.earlier.contains(&inst) {
            return Ok(true);
        }
        let Some(row) = self.store_rows.rows.get(&inst).cloned() else { return Ok(false) };
        let func = &self.item.func;
        let mut bases: SmallVec<[(Value, Option<Value>); 4]> = SmallVec::new();
        for &store in &row.by_address {
            match self.get(func.insts[store].args[0])? {
                // Under a mask, a checked stride has no use: lane 0, from which the check is computed, may be off.
                VecValue::Strided { base, cond, .. } if cond.is_none() || self.masks.current.is_none() => {
                    bases.push((base, cond));
                }
                _ => {
                    // The earlier stores were skipped, and are written now: still in order, and nothing has looked in
                    // between.
                    row.in_order.iter().try_for_each(|&store| self.store_alone(store))?;
                    return Ok(true);
                }
            }
        }
        let stores = row.by_address.iter().map(|&store| &func.insts[store]);
        let components: Lanes = stores.clone().map(|data| self.lane(data.args[1])).collect::<Result<_, _>>()?;
        let align = stores.clone().filter_map(|data| match data.op {
            Op::Store { align } => Some(align),
            _ => None,
        });
        // At most that of the first field, where the one store begins.
        let align = align.min().unwrap_or(1);
        // A flag holds for the one store if it holds for each of its parts.
        let flags = stores.fold(Flags::all(), |flags, data| flags & data.flags);
        let is_write_only = row.by_address.iter().all(|store| self.item.write_only.contains(store));
        let flags = flags | if is_write_only { Flags::NONTEMPORAL } else { Flags::empty() };
        // `by_address` is sorted, so that the row begins at lane 0 of the first field.
        let first = bases[0].0;
        let holds = self.is_row(&row, &bases);
        row.in_order.iter().for_each(|&store| self.decide(store, AccessForm::Record, holds.is_some()));
        let Some(holds) = holds else {
            self.store_row(&components, first, align, flags)?;
            return Ok(true);
        };
        let fast = |w: &mut Self| w.store_row(&components, first, align, flags).map(|()| Lanes::new());
        let slow = |w: &mut Self| {
            for &store in &row.in_order {
                let data = &w.item.func.insts[store];
                let Op::Store { align } = data.op else { continue };
                let ty = w.item.func.ty(data.args[1]);
                w.scatter_lanes(data.args[0], data.args[1], ty, align, data.flags)?;
            }
            Ok(Lanes::new())
        };
        self.if_else_effect(holds, fast, slow)?;
        Ok(true)
    }

    /// Whether all strides hold and the fields are side by side, at run time; `None` if that is certain.
    fn is_row(&mut self, row: &Row, bases: &[(Value, Option<Value>)]) -> Option<Value> {
        let mut holds = None;
        for &(_, cond) in bases {
            if let Some(cond) = cond {
                holds = Some(self.and(holds, cond));
            }
        }
        if row.is_certain {
            return holds;
        }
        let size = self.item.func.ty(self.item.func.insts[row.in_order[0]].args[1]).bytes();
        for pair in bases.windows(2) {
            // An index may have wrapped between two fields: then the next one does not begin where this one ends.
            let next = self.b().ptr_offset(pair[0].0, size.into());
            let mut b = self.b();
            let (next, to) =
                (b.cast(CastOp::PtrToInt, next, Type::I64), b.cast(CastOp::PtrToInt, pair[1].0, Type::I64));
            let beside = b.icmp(IntCc::Eq, next, to);
            holds = Some(self.and(holds, beside));
        }
        holds
    }
}
