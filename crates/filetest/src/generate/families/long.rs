//! Loops of many iterations: grid-stride loops over `big`, which has enough elements (2^18) for groups to be batched,
//! and loops of hundreds of iterations in one work-item.
//!
//! Such programs have no other long loop, and ranges of hundreds of work-items: batching needs a grid that is not much
//! smaller than the buffer.

use super::Family::Long;
use crate::generate::Gen;
use crate::generate::grid::Buffer;
use crate::generate::stmt::At;
use crate::generate::tree::Stmt;
use crate::generate::types::Ty;

impl Gen {
    /// The loop over `big`, before the first barrier: groups are batched only there.
    pub fn long_grid_loop(&mut self) -> Vec<Stmt> {
        self.count(Long, "grid-stride loop over 2^18 elements");
        self.grid_loop(Buffer::Big)
    }

    /// A loop of hundreds of iterations, as many for each work-item or not.
    pub fn long_loop(&mut self, at: At, out: &mut Vec<Stmt>) {
        self.long_left -= 1;
        let (q, x) = (self.name("q"), self.name("v"));
        let e = self.expr(Ty::UINT, 2);
        let count = 100 + self.rng.below(400);
        let (name, trips) = match self.rng.below(3) {
            0 => ("uniform", count.to_string()),
            1 => ("divergent", format!("{count}u + ({e} & 63u)")),
            _ => ("divergent by work-item", format!("{count}u - ({} & 31u)", if at.kernel { "lid" } else { "1u" })),
        };
        self.count(Long, name);
        let step = self.rng.pick(&["* 1664525u + 1013904223u", "* 5u ^ 9u", "+ 77u"]);
        let mut body = vec![Stmt::Line(format!("{x} = {x} {step};"))];
        if at.kernel {
            body.push(Stmt::Line(format!("{x} ^= in[({x} >> 9 ^ {q}) & 1023u];")));
        }
        if self.rng.chance(40) {
            body.push(Stmt::Line(format!("if (({x} & 0xfffu) == 5u) break;")));
        }
        out.push(Stmt::Line(format!("uint {x} = {e};")));
        out.push(Stmt::block(format!("for (uint {q} = 0; {q} < {trips}; {q}++) {{"), body));
        let place =
            crate::generate::expr::Place { text: x, ty: Ty::UINT, writable: true, uniform: false, private: true };
        self.places.push(place);
    }
}
