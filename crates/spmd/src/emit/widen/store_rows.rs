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
//! Nothing but pure operations may be between them, so that nobody sees that the first ones come later. (LLVM's
//! interleaved access groups, and "Auto-vectorization of interleaved data for SIMD" by Nuzman, Rosen and Zaks, PLDI
//! 2006, do the same to loops.)

use super::{Lanes, VecValue, VectorInput, Widener};
use crate::analysis::shape::Shape;
use crate::error::Stop;
use cloom_ir::affine::{Affine, Ext, Facts, Form};
use cloom_ir::{Flags, Inst, Op, Scalar, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most fields of a record.
const MAX_FIELDS: i64 = 4;

/// Stores that together write records, in the order of their addresses.
type Row = SmallVec<[Inst; 4]>;

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
    by: i64,
    ty: Type,
}

impl StoreRows {
    /// Finds the rows of a function.
    pub(super) fn find(item: &VectorInput) -> StoreRows {
        let mut found = StoreRows::default();
        let mut affine = None;
        for &b in item.cfg.rpo() {
            let mut fields: Vec<Field> = Vec::new();
            for &store in &item.func.blocks[b].insts {
                let Some((by, ty)) = field(item, store) else {
                    if !item.func.insts[store].op.is_pure() {
                        fields.clear();
                    }
                    continue;
                };
                let affine: &Affine<'_> = affine.get_or_insert_with(|| item.affine(Facts::default()));
                let address = affine.form(item.func.insts[store].args[0], Ext::Own);
                if fields.last().is_some_and(|f| (f.by, f.ty) != (by, ty)) {
                    fields.clear();
                }
                fields.push(Field { store, address, by, ty });
                let count = (by / i64::from(ty.bytes())) as usize;
                if fields.len() > count {
                    fields.remove(0);
                }
                if fields.len() == count
                    && let Some(row) = row(&fields)
                {
                    found.earlier.extend(row.iter().copied().filter(|&s| s != store));
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
        Shape::Strided { by, checked: false } if plain && by % size == 0 && (2..=MAX_FIELDS).contains(&(by / size)) => {
            Some((by, ty))
        }
        _ => None,
    }
}

/// The fields in the order of their addresses, if they are contiguous.
fn row(fields: &[Field]) -> Option<Row> {
    let offset = |f: &Field| f.address.minus(&fields[0].address).as_const();
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
        let first = &func.insts[row[0]];
        let VecValue::Strided { base, cond: None, .. } = self.get(first.args[0])? else {
            row.iter().try_for_each(|&store| self.store_alone(store))?;
            return Ok(true);
        };
        let stores = row.iter().map(|&store| &func.insts[store]);
        let align = stores.clone().filter_map(|data| match data.op {
            Op::Store { align } => Some(align),
            _ => None,
        });
        let align = align.min().unwrap_or(1);
        let flags = stores.fold(first.flags, |flags, data| flags & data.flags);
        let is_write_only = row.iter().all(|store| self.item.write_only.contains(store));
        let nontemporal = if is_write_only { Flags::NONTEMPORAL } else { Flags::empty() };
        let components: Lanes =
            row.iter().map(|&store| self.lane(func.insts[store].args[1])).collect::<Result<_, _>>()?;
        self.store_row(&components, base, align, flags | nontemporal)?;
        Ok(true)
    }
}
