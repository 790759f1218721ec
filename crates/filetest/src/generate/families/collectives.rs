//! Functions of whole work-groups, in OpenCL C 3.0: `work_group_reduce_add` and its like. The whole group must execute
//! them, and their results must not depend on the size of sub-groups: sums of floats are of small whole numbers, which
//! are exact in any order.

use super::Family::Collectives;
use crate::generate::Gen;
use crate::generate::expr::Place;
use crate::generate::tree::Stmt;
use crate::generate::types::{Scalar, Ty};

const KINDS: [&str; 3] = ["reduce", "scan_inclusive", "scan_exclusive"];
const OPS: [&str; 3] = ["add", "min", "max"];
const NAMES: [[&str; 3]; 3] = [
    ["work_group_reduce_add", "work_group_reduce_min", "work_group_reduce_max"],
    ["work_group_scan_inclusive_add", "work_group_scan_inclusive_min", "work_group_scan_inclusive_max"],
    ["work_group_scan_exclusive_add", "work_group_scan_exclusive_min", "work_group_scan_exclusive_max"],
];

impl Gen {
    /// A call by the whole group. Its result is a new variable.
    pub fn collective(&mut self, out: &mut Vec<Stmt>) {
        let s = self.rng.pick(&[
            Scalar::Int,
            Scalar::UInt,
            Scalar::UInt,
            Scalar::Long,
            Scalar::ULong,
            Scalar::Float,
            Scalar::Double,
        ]);
        let ty = Ty::new(s, 1);
        let name = self.name("v");
        match self.rng.below(10) {
            0 | 1 => {
                let f = self.rng.pick(&["work_group_any", "work_group_all"]);
                self.count(Collectives, f);
                let c = self.condition(3);
                out.push(Stmt::Line(format!("uint {name} = {f}({c}) != 0;")));
                return self.result(name, Ty::UINT, true);
            }
            2 | 3 => {
                self.count(Collectives, "work_group_broadcast");
                let e = self.expr(ty, 2);
                let at = self.as_same(true, |g| [0, 1, 2].map(|_| g.expr(Ty::UINT, 1)));
                let [x, y, z] = [0, 1, 2].map(|d| format!("{} % (uint)get_local_size({d})", at[d]));
                out.push(Stmt::Line(format!("{} {name} = work_group_broadcast({e}, {x}, {y}, {z});", ty.name())));
                return self.result(name, ty, true);
            }
            _ => {}
        }
        let (kind, op) = (self.rng.below(3) as usize, self.rng.below(3) as usize);
        self.count(Collectives, NAMES[kind][op]);
        let f = format!("work_group_{}_{}", KINDS[kind], OPS[op]);
        let e = if s.is_float() {
            let e = self.expr(Ty::INT, 2);
            format!("({})({e} & 1023)", ty.name())
        } else {
            self.expr(ty, 3)
        };
        out.push(Stmt::Line(format!("{} {name} = {f}({e});", ty.name())));
        self.result(name, ty, kind == 0);
    }

    fn result(&mut self, text: String, ty: Ty, uniform: bool) {
        self.places.push(Place { text, ty, writable: !uniform, uniform, private: !uniform });
    }
}
