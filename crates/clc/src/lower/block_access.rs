//! Block reads and writes of sub-groups: the first elements of all work-items lie side by side, behind them the second
//! ones, and so on. In an image, the next elements are in the next row.

use super::func::Fn;
use crate::sema::operations::BlockAccess;
use crate::sema::types::ir_scalar;
use cloom_builtins::{Elem, Ty};
use cloom_ir::{BinOp, Flags, Query, Space, Type, Value};

impl Fn<'_, '_> {
    /// A pointer, or an image and its coordinate; then the value that is written. `ty` is the result's type.
    pub fn block_access(&mut self, op: BlockAccess, v: &[Value], ty: Type) -> Value {
        let scalar = ir_scalar(op.elem);
        let first = 1 + usize::from(op.image);
        let of = if op.write { self.ty(v[first]) } else { ty };
        let own = self.b().query(Query::SubgroupLocalId, 0);
        let mut parts = Vec::new();
        for k in 0..of.lanes {
            let part = op.write.then(|| if of.is_vector() { self.b().extract_lane(v[first], k) } else { v[first] });
            let read = match op.image {
                true => self.image_part(op.elem, v[0], v[1], own, k, part),
                false => self.memory_part(Type::scalar(scalar), v[0], own, k, part),
            };
            parts.extend(read);
        }
        match (op.write, &parts[..]) {
            (true, _) => self.zero(ty),
            (false, &[one]) => one,
            (false, _) => self.b().build(&parts),
        }
    }

    /// Element `k` of the work-item.
    fn memory_part(&mut self, of: Type, p: Value, own: Value, k: u16, part: Option<Value>) -> Option<Value> {
        let mut at = own;
        if k > 0 {
            // The second elements begin behind the first ones of a whole sub-group, even if this one is cut short by
            // the group.
            let size = self.b().query(Query::MaxSubgroupSize, 0);
            let k = self.int(Type::I64, i64::from(k));
            let before = self.b().binary(BinOp::Mul, size, k);
            at = self.b().binary(BinOp::Add, at, before);
        }
        let bytes = self.int(Type::I64, i64::from(of.bytes()));
        let offset = self.b().binary(BinOp::Mul, at, bytes);
        let p = self.b().ptr_add(p, offset);
        match part {
            Some(part) => {
                self.b().store(p, part, of.bytes(), Flags::empty());
                None
            }
            None => Some(self.b().load(of, p, of.bytes(), Flags::empty())),
        }
    }

    /// The element in row `k` from the coordinate on, whose first number is in bytes.
    fn image_part(
        &mut self,
        elem: Elem,
        image: Value,
        coordinate: Value,
        own: Value,
        k: u16,
        part: Option<Value>,
    ) -> Option<Value> {
        // The coordinate of an image block counts bytes in x, and rows in y.
        let own = self.b().cast(cloom_ir::CastOp::Trunc, own, Type::I32);
        let bytes = self.int(Type::I32, i64::from(elem.bits() / 8));
        let offset = self.b().binary(BinOp::Mul, own, bytes);
        let (x, y) = (self.b().extract_lane(coordinate, 0), self.b().extract_lane(coordinate, 1));
        let x = self.b().binary(BinOp::Add, x, offset);
        let row = self.int(Type::I32, i64::from(k));
        let y = self.b().binary(BinOp::Add, y, row);
        let of = Type::scalar(ir_scalar(elem));
        let mut params = vec![Ty::Ptr(Space::Constant, Elem::U64, 1), Ty::Value(Elem::I32, 1), Ty::Value(Elem::I32, 1)];
        let code = elem.code();
        match part {
            Some(part) => {
                params.push(Ty::Value(elem, 1));
                self.image_function(&format!("__image_block_write_{code}"), &params, &[image, x, y, part], None);
                None
            }
            None => self.image_function(&format!("__image_block_read_{code}"), &params, &[image, x, y], Some(of)),
        }
    }
}
