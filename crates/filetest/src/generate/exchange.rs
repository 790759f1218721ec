//! Functions of sub-groups: shuffles, rotations, ballots, clustered and non-uniform operations.
//!
//! The size of a sub-group differs from rung to rung, so results cannot be compared directly. Each statement stores its
//! operands in local memory, computes from these the expected result for the actual sub-group, and adds only whether
//! both are equal. With sub-groups of one work-item, as the reference has them, that is always so.
//!
//! ```c
//! { uint x = EXPRESSION; uint on = CONDITION;
//!   barrier(..); sgx[lin] = x; sgon[lin] = on; barrier(..);
//!   ... if (on) { uint r = sub_group_non_uniform_reduce_add(x), w = 0u;
//!                 for (q = 0; q < size; q++) if (sgon[first + q]) w = w + sgx[first + q];
//!                 ok = r == w; } ...
//!   h = h * 31u + ok; }
//! ```

use super::Gen;
use super::families::Family::Subgroups;
use super::tree::Stmt;

/// What programs with such functions declare in the kernel. A sub-group is a run of neighbours in dimension 0.
pub const LOCALS: [&str; 2] = [
    "local ulong sgx[128]; local uchar sgon[128];",
    "const uint lin = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));",
];

/// An operation: its name, and how the next operand joins those before.
const OPS: [(&str, &str); 7] = [
    ("add", "(w + v[q])"),
    ("mul", "(w * v[q])"),
    ("min", "min(w, v[q])"),
    ("max", "max(w, v[q])"),
    ("and", "(w & v[q])"),
    ("or", "(w | v[q])"),
    ("xor", "(w ^ v[q])"),
];

const SHUFFLES: [&str; 9] = [
    "sub_group_shuffle",
    "sub_group_shuffle_xor",
    "sub_group_shuffle_up",
    "sub_group_shuffle_down",
    "sub_group_rotate",
    "sub_group_clustered_rotate",
    "sub_group_non_uniform_broadcast",
    "sub_group_broadcast",
    "sub_group_broadcast_first",
];

const COMBINED: [&str; 4] = [
    "sub_group_non_uniform_reduce",
    "sub_group_non_uniform_scan_inclusive",
    "sub_group_non_uniform_scan_exclusive",
    "sub_group_clustered_reduce",
];

impl Gen {
    /// One statement of the whole group, inside of which work-items may diverge.
    pub fn exchange_subgroups(&mut self, out: &mut Vec<Stmt>) {
        let types = ["uint", "uint", "int", "uchar", "short", "long", "ulong", "float", "double"];
        let t = self.rng.pick(&types);
        let is_float = matches!(t, "float" | "double");
        let (e, c) = (self.expr(super::Ty::UINT, 2), self.condition(2));
        // Small whole numbers: exact in any order, and never what is no number.
        let x = if is_float { format!("({t})(({e}) & 1023u)") } else { format!("({t})({e})") };
        let mut body: Vec<Stmt> = [
            format!("{t} x = {x}; uint on = {c}, ok = 1u;"),
            "barrier(CLK_LOCAL_MEM_FENCE);".into(),
            format!("((local {t} *)sgx)[lin] = x; sgon[lin] = (uchar)on;"),
            "barrier(CLK_LOCAL_MEM_FENCE);".into(),
            "const uint own = get_sub_group_local_id(), size = get_sub_group_size(), first = lin - own;".into(),
            format!("const uint most = get_max_sub_group_size(); const local {t} *v = (const local {t} *)sgx + first;"),
        ]
        .map(Stmt::Line)
        .into();
        match self.rng.below(8) {
            0..=2 => self.shuffled(t, &mut body),
            3 => self.ballots(&mut body),
            4 => self.votes(t, &mut body),
            _ => self.combined(t, is_float, &mut body),
        }
        body.push(Stmt::line("h = h * 31u + ok;"));
        out.push(Stmt::block("{", body));
    }

    /// The value of another work-item. `from` is its number in the sub-group; where there is none, anything may come.
    fn shuffled(&mut self, t: &str, body: &mut Vec<Stmt>) {
        let f = self.rng.pick(&SHUFFLES);
        self.count(Subgroups, f);
        let k = if self.rng.chance(50) { self.rng.below(5).to_string() } else { "(lid * 7u & 3u)".into() };
        let same = self.rng.below(5).to_string();
        let mut head = "{".to_owned();
        let (call, from) = match f {
            "sub_group_shuffle" => {
                let i = self.expr(super::Ty::UINT, 1);
                let i = self.rng.pick(&[format!("(({i}) % size)"), "(size - 1u - own)".into(), "0u".into()]);
                (format!("{f}(x, {i})"), i)
            }
            "sub_group_shuffle_xor" => (format!("{f}(x, {k})"), format!("(own ^ {k})")),
            // For the first work-items the number wraps around: there is no such one, and `from < size` leaves the
            // result out.
            "sub_group_shuffle_up" => (format!("{f}(x, {k})"), format!("(own - {k})")),
            "sub_group_shuffle_down" => (format!("{f}(x, {k})"), format!("(own + {k})")),
            // The distance is the same for all.
            "sub_group_rotate" => (format!("{f}(x, {same})"), format!("((own + {same}) % most)")),
            "sub_group_clustered_rotate" => {
                let n = self.rng.pick(&[1u8, 2, 4]);
                head = format!("if (most >= {n}u) {{");
                (format!("{f}(x, {same}, {n})"), format!("((own & ~{}u) + ((own + {same}) & {}u))", n - 1, n - 1))
            }
            "sub_group_broadcast_first" => (format!("{f}(x)"), "0u".into()),
            _ => {
                let i = self.as_same(true, |g| g.expr(super::Ty::UINT, 1));
                (format!("{f}(x, ({i}) % size)"), format!("(({i}) % size)"))
            }
        };
        body.push(Stmt::block(
            head,
            vec![Stmt::Line(format!("{t} r = {call}; uint from = {from}; if (from < size) ok = r == v[from];"))],
        ));
    }

    /// The bits of all, and what is read from them.
    fn ballots(&mut self, body: &mut Vec<Stmt>) {
        let votes = "for (uint q = 0; q < size; q++) if (sgon[first + q]) votes |= 1ul << q;";
        body.push(Stmt::Line(format!("ulong votes = 0ul; {votes}")));
        body.push(Stmt::line("uint4 b = sub_group_ballot((int)on); ok = ((ulong)b.y << 32 | b.x) == votes;"));
        let i = self.expr(super::Ty::UINT, 1);
        for (name, text) in [
            ("sub_group_ballot_bit_count", "sub_group_ballot_bit_count(b) == popcount(votes)".to_owned()),
            ("sub_group_inverse_ballot", "(sub_group_inverse_ballot(b) != 0) == (on != 0u)".into()),
            (
                "sub_group_ballot_bit_extract",
                format!("(sub_group_ballot_bit_extract(b, ({i}) % size) != 0) == (int)(votes >> (({i}) % size) & 1ul)"),
            ),
            (
                // For the last of 64 work-items, `2ul << own` has lost its bit: the mask below is all ones then.
                "sub_group_ballot_inclusive_scan",
                "sub_group_ballot_inclusive_scan(b) == popcount(votes & (2ul << own) - 1ul)".into(),
            ),
            (
                "sub_group_ballot_exclusive_scan",
                "sub_group_ballot_exclusive_scan(b) == popcount(votes & (1ul << own) - 1ul)".into(),
            ),
            ("sub_group_ballot_find_lsb", "(votes == 0ul || sub_group_ballot_find_lsb(b) == ctz(votes))".into()),
            ("sub_group_ballot_find_msb", "(votes == 0ul || sub_group_ballot_find_msb(b) == 63u - clz(votes))".into()),
            ("get_sub_group_eq_mask", "get_sub_group_eq_mask().x == (own < 32u ? 1u << own : 0u)".into()),
        ] {
            if self.rng.chance(40) {
                self.count(Subgroups, name);
                body.push(Stmt::Line(format!("ok &= {text};")));
            }
        }
        self.count(Subgroups, "sub_group_ballot");
        // In a loop that work-items leave one after the other.
        if self.rng.chance(50) {
            self.count(Subgroups, "sub_group_ballot in a divergent loop");
            let check = "uint4 z = sub_group_ballot(1); ulong there = 0ul;";
            let there = "for (uint p = 0; p < size; p++) if ((sgx[first + p] & 3ul) >= q) there |= 1ul << p;";
            let barrier = || Stmt::line("barrier(CLK_LOCAL_MEM_FENCE);");
            body.extend([barrier(), Stmt::line("sgx[lin] = (ulong)lid * 5ul;"), barrier()]);
            let inner = [check, there, "ok &= ((ulong)z.y << 32 | z.x) == there;"].map(Stmt::line).into();
            body.push(Stmt::block("for (uint q = 0; q <= (lid * 5u & 3u); q++) {", inner));
        }
    }

    /// Votes of the active work-items, and the election of one of them.
    fn votes(&mut self, t: &str, body: &mut Vec<Stmt>) {
        let head = self.rng.pick(&["if (on) {", "if (!on) {"]);
        let there = if head == "if (on) {" { "sgon[first + q]" } else { "!sgon[first + q]" };
        let mut inner = vec![Stmt::Line(format!(
            "uint lowest = size, alike = 1u, some = 0u, every = 1u; for (uint q = 0; q < size; q++) if ({there}) \
             {{ lowest = min(lowest, q); alike &= v[q] == v[lowest]; some |= v[q] != ({t})0; every &= v[q] != ({t})0; }}"
        ))];
        for (name, text) in [
            ("sub_group_elect", "(sub_group_elect() != 0) == (own == lowest)"),
            ("sub_group_broadcast_first divergent", "sub_group_broadcast_first(x) == v[lowest]"),
            ("sub_group_non_uniform_all_equal", "(sub_group_non_uniform_all_equal(x) != 0) == (int)alike"),
            ("sub_group_non_uniform_any", "(sub_group_non_uniform_any((int)(x != (T)0)) != 0) == (int)some"),
            ("sub_group_non_uniform_all", "(sub_group_non_uniform_all((int)(x != (T)0)) != 0) == (int)every"),
        ] {
            if self.rng.chance(60) {
                self.count(Subgroups, name);
                inner.push(Stmt::Line(format!("ok &= {};", text.replace("(T)", &format!("({t})")))));
            }
        }
        body.push(Stmt::block(head, inner));
    }

    /// Reductions and scans of the active work-items, or of clusters.
    fn combined(&mut self, t: &str, is_float: bool, body: &mut Vec<Stmt>) {
        let f = self.rng.pick(&COMBINED);
        self.count(Subgroups, f);
        // Products of floats would be rounded.
        let (op, together) = self.rng.pick(if is_float { &OPS[2..4] } else { &OPS });
        let next = format!("w = any ? ({t}){together} : v[q]; any = 1u;");
        if f == "sub_group_clustered_reduce" {
            let n = self.rng.pick(&[1u8, 2, 4, 8, 16]);
            let inner = vec![
                Stmt::Line(format!("{t} w = x; uint any = 0u, begin = own & ~{}u;", n - 1)),
                Stmt::block(
                    format!("for (uint q = begin; q < min(begin + {n}u, size); q++) {{"),
                    vec![Stmt::Line(next)],
                ),
                Stmt::Line(format!("ok = {f}_{op}(x, {n}) == w;")),
            ];
            return body.push(Stmt::block(format!("if (most >= {n}u) {{"), inner));
        }
        let (end, empty) = match f {
            "sub_group_non_uniform_reduce" => ("size", ""),
            "sub_group_non_uniform_scan_inclusive" => ("own + 1u", ""),
            // What comes before the first one is the operation's neutral element.
            _ => ("own", "!any || "),
        };
        let head = self.rng.pick(&["if (on) {", "if (!on) {", "if (1) {"]);
        let there = match head {
            "if (on) {" => "if (sgon[first + q]) ",
            "if (!on) {" => "if (!sgon[first + q]) ",
            _ => "",
        };
        let inner = vec![
            Stmt::Line(format!("{t} w = x; uint any = 0u;")),
            Stmt::Line(format!("for (uint q = 0; q < {end}; q++) {there}{{ {next} }}")),
            // All active work-items execute it, whatever they compare with.
            Stmt::Line(format!("{t} r = {f}_{op}(x); ok = {empty}r == w;")),
        ];
        body.push(Stmt::block(head, inner));
    }
}
