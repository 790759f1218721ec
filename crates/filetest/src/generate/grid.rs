//! Grid-stride loops over a buffer.

use super::tree::Stmt;
use super::{BIG, Gen, IN};

/// The buffer that such a loop reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// `in`
    In,
    /// `big`, nearly to its end.
    Big,
}

impl Gen {
    /// Such a loop, and the use of its results. Its loop-carried sums may be of any kind.
    pub fn grid_loop(&mut self, buffer: Buffer) -> Vec<Stmt> {
        let [w, a, b, v] = ["gw", "ga", "gb", "gv"];
        let big = buffer == Buffer::Big;
        let data = if big { "big" } else { "in" };
        let ty = self.grid.pick(&["uint", "uint", "int", "ulong", "size_t", "long"]);
        let init = self.grid.pick(&[
            "get_global_id(0)",
            "get_global_id(0)",
            "get_global_id(0) - get_global_offset(0)",
            "get_group_id(0) * get_local_size(0) + get_local_id(0)",
        ]);
        let step = self.grid.pick(&[
            "get_global_size(0)",
            "get_global_size(0)",
            "get_num_groups(0) * get_local_size(0)",
            "2 * get_global_size(0)",
        ]);
        let [init, step] = [init, step].map(|text| self.in_order(text));
        let wide = !big && self.grid.chance(25);
        let most = IN / if wide { 4 } else { 1 };
        let limit = match self.grid.below(4) {
            // `n` is 5.
            0 if big => format!("({ty})((uint)n * {}u)", BIG / 5),
            // Nearly the whole buffer: the trip count must be large for groups to be batched.
            _ if big => (BIG - 1 - self.grid.below(1000)).to_string(),
            0 => format!("({ty})((uint)n % {most}u)"),
            1 => format!("({ty})(items * 3u % {most}u)"),
            _ => (most - 1 - self.grid.below(most / 3)).to_string(),
        };
        let less = self.grid.pick(&["<", "<", "<="]);
        let bytes = format!("((const global uchar *){data})");
        let mut lines = vec![format!("{a} = {a} * 31u + {data}[{w}];")];
        if wide {
            lines.push(format!("{v} = {v} * 3u + ((const global uint4 *){data})[{w}];"));
        }
        for line in [
            format!("{b} ^= {data}[{w}] >> 3 ^ (uint){w};"),
            format!("{b} += {bytes}[{w}] < 100 ? {a} : (uint){w};"),
            format!("{v}.yz += {bytes}[2 * {w}];"),
            format!("{b} += in[{data}[{w}] & {}u];", IN - 1),
            format!("if ({data}[{w}] & 1u) h ^= {a};"),
        ] {
            if self.grid.chance(30) {
                lines.push(line);
            }
        }
        if big {
            // Groups are batched only if the loop has few loop-carried values.
            lines.retain(|line| !line.starts_with(v));
            lines.truncate(2);
        }
        let uses_b = lines.iter().any(|line| line.starts_with(b));
        let head = format!("for ({ty} {w} = {init}; {w} {less} {limit}; {w} += {step}) {{");
        let (first, last) = match (big, uses_b) {
            (true, false) => (format!("uint {a} = gid;"), format!("h = h * 31u + {a};")),
            (true, true) => (format!("uint {a} = gid, {b} = 1u;"), format!("h = h * 31u + {a} + {b} * 3u;")),
            (false, _) => (
                format!("uint {a} = gid, {b} = h; uint4 {v} = (uint4)(gid, 1u, 2u, h);"),
                format!("h = h * 31u + {a} + {b} * 3u + ({v}.x ^ {v}.y * 5u ^ {v}.z * 7u ^ {v}.w * 9u);"),
            ),
        };
        vec![Stmt::Line(first), Stmt::block(head, lines.into_iter().map(Stmt::Line).collect()), Stmt::Line(last)]
    }
}
