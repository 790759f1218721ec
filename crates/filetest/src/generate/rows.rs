//! Loops over rows of a matrix: indices `row * width + column` of 32 bits, some of which wrap onto valid elements.
//!
//! ```c
//! uint rw = (uint)(n - 4) << 30 | 1u;                 // n is 5: 2^30 + 1, and 4·r·rw is 4·r modulo 2^32
//! for (uint c = 0; c < 40u; c++) ra = ra * 31u + in[4u * r * rw + c];
//! ```
//!
//! A vectoriser that takes for granted that an index does not wrap reads elsewhere. Rows are less than 32 and columns
//! less than 128, so that all elements are in `in`.

use super::tree::Stmt;
use super::{Gen, IN};

/// Rows that such loops read,
const ROWS: u64 = 32;
/// how far apart those are that do not wrap,
const WIDTH: u64 = 16;
/// and the columns.
const COLUMNS: u64 = 128;

impl Gen {
    /// Such a loop, and the use of its result.
    pub fn row_loop(&mut self) -> Vec<Stmt> {
        const { assert!((ROWS + 2) * WIDTH + 2 * COLUMNS <= IN) };
        let rng = &mut self.rows;
        let counter = rng.pick(&["uint", "uint", "uint", "int", "ulong"]);
        let row = rng.pick(&[
            "(uint)get_local_id(0)",
            "(uint)get_global_id(0)",
            "(uint)(get_global_id(0) - get_global_offset(0))",
            "gid",
            "gid & 31u",
            "(uint)get_local_id(0) & 31u",
            "in[gid & 63u]",
        ]);
        // `n` is 5.
        let (width, factor) = rng.pick(&[
            ("(uint)(n - 4) << 30 | 1u", "4u * "),
            ("(uint)(n - 3) << 30 | 1u", "2u * "),
            ("(uint)n * 0x33333333u + 17u", ""),
            ("(uint)n + 11u", ""),
            ("(uint)n + 11u", ""),
            ("16u", ""),
        ]);
        let limit = match rng.below(6) {
            0 => "(uint)n * 8u".into(),
            1 => "items % 60u".into(),
            2 => "(uint)n * 25u".into(),
            3 => "(uint)(n - 5)".into(),
            _ => rng.below(COLUMNS - 4).to_string(),
        };
        let base = rng.pick(&["rr * rw + ", "rr * rw + ", "rw * rr + ", "rb + ", "(rr + 1u) * rw - rw + "]);
        let (start, test, step, shift) = match rng.below(8) {
            0 => ("0".into(), format!("c != ({counter})({limit})"), "1", ""),
            // It wraps to zero on the way.
            1 if counter == "uint" => ("(uint)n - 9u".into(), format!("c != {limit}"), "1", " + 4u"),
            2 => (format!("({counter})(lid & 7u)"), format!("c < ({counter})({limit})"), "get_local_size(0)", ""),
            3 => ("0".into(), format!("c <= ({counter})({limit})"), "1", ""),
            4 => ("0".into(), format!("c < ({counter})({limit})"), "n", ""),
            5 if counter == "int" => ("-n".into(), format!("c < (int)({limit})"), "1", " + 5u"),
            _ => (rng.below(3).to_string(), format!("c < ({counter})({limit})"), "1", ""),
        };
        let index = format!("{base}(uint)c{shift}");
        let line = match rng.below(3) {
            0 => format!("ra = ra * 31u + in[{index}];"),
            1 => format!("ra = ra * 31u + (in[{index}] ^ in[c & 63]);"),
            _ => format!("ra += in[{index}] * 3u; ra ^= ra >> 7;"),
        };
        let mut body =
            Stmt::block(format!("for ({counter} c = {start}; {test}; c += {step}) {{"), vec![Stmt::Line(line)]);
        if rng.chance(30) {
            body = Stmt::block("for (uint y = 0; y < 2u; y++) {", vec![Stmt::Line(format!("rr += {factor}y;")), body]);
        }
        let first = format!("uint rr = {row}, rw = {width}, ra = gid;");
        let scaled = format!("rr = {factor}rr; uint rb = rr * rw;");
        // The bound is tested before the row is scaled, so that it holds for the row and the wrapped products stay in
        // `in`.
        let guarded = Stmt::block(format!("if (rr < {ROWS}u) {{"), vec![Stmt::Line(scaled), body]);
        let row = self.in_order(&first);
        vec![Stmt::Line(row), guarded, Stmt::line("h = h * 31u + ra;")]
    }
}
