//! Operations over lanes, on every type of lane and many lengths, on every target that runs here: masked accesses touch
//! their active lanes only, which guard pages on both sides of the data check.

#![allow(unsafe_code, reason = "it calls machine code")]

mod common;

use cloom_ir::{BinOp, Builder, CastOp, Flags, IntCc, Module, Scalar, Space, Type, Value};

const PAGE: usize = 4096;

/// Pages of data between two guard pages.
struct Guarded {
    start: *mut u8,
    pages: usize,
}

impl Guarded {
    fn new(pages: usize) -> Self {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping; the part that is made accessible lies inside it.
        unsafe {
            let start = libc::mmap(std::ptr::null_mut(), (pages + 2) * PAGE, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let data = start.cast::<u8>().add(PAGE);
            assert_eq!(libc::mprotect(data.cast(), pages * PAGE, libc::PROT_READ | libc::PROT_WRITE), 0);
            Guarded { start: data, pages }
        }
    }

    fn end(&self) -> u64 {
        self.start as u64 + (self.pages * PAGE) as u64
    }

    #[allow(clippy::mut_from_ref, reason = "one test at a time uses it, and no kernel runs meanwhile")]
    fn bytes(&self) -> &mut [u8] {
        // SAFETY: the pages are accessible and live as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.pages * PAGE) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, made in `new`.
        unsafe { libc::munmap(self.start.sub(PAGE).cast(), (self.pages + 2) * PAGE) };
    }
}

fn memory(s: Scalar) -> Type {
    Type::scalar(if s.is_ptr() { Scalar::I64 } else { s })
}

/// The mask whose lanes are the low bits of bytes in memory.
fn load_mask(b: &mut Builder<'_>, p: Value, lanes: u16) -> Value {
    let bytes = b.load(Type::vector(Scalar::I8, lanes), p, 1, Flags::empty());
    b.cast(CastOp::Trunc, bytes, Type::vector(Scalar::I1, lanes))
}

fn load_pointer(b: &mut Builder<'_>, p: Value) -> Value {
    b.load(Type::ptr(Space::Global), p, 8, Flags::empty())
}

/// Patterns of masks: none, all, one, the first few, every second, something.
fn masks(lanes: u16) -> Vec<Vec<bool>> {
    let n = usize::from(lanes);
    let of = |f: &dyn Fn(usize) -> bool| (0..n).map(f).collect::<Vec<_>>();
    vec![
        of(&|_| false),
        of(&|_| true),
        of(&|i| i == 0),
        of(&|i| i == n - 1),
        of(&|i| i < n / 2 + 1),
        of(&|i| i >= n / 2),
        of(&|i| i % 2 == 1),
        of(&|i| (i * i + i / 3) % 5 < 2),
    ]
}

/// For each mask and several offsets: the address of the consecutive lanes, the mask, the address of each lane.
fn check(s: Scalar, lanes: u16, volatile: bool, space: Space) {
    let (n, size) = (usize::from(lanes), memory(s).bytes() as usize);
    let ty = Type::vector(s, lanes);
    let (mask_at, ptrs_at) = (8, (8 + n).next_multiple_of(8));
    let stride = ptrs_at + 8 * n;
    // Output: the masked load, the gather, any, all, ballot.
    let (gathered_at, words_at) = (n * size, (2 * n * size).next_multiple_of(8));
    let out_stride = words_at + 24;
    let flags = if volatile { Flags::VOLATILE } else { Flags::empty() };
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b, abi| {
        let (from, to) = (common::part(b, abi, 0, stride), common::part(b, abi, 1, out_stride));
        let row = load_pointer(b, from);
        let row = b.cast(CastOp::Space, row, Type::ptr(space));
        let p = b.ptr_offset(from, mask_at as u64);
        let mask = load_mask(b, p, lanes);
        let p = b.ptr_offset(from, ptrs_at as u64);
        let ptrs = b.load(Type::vector(Scalar::Ptr(Space::Global), lanes), p, 8, Flags::empty());
        let align = memory(s).bytes();
        let x = b.masked_load(ty, row, mask, align, flags);
        let y = b.gather(ty, ptrs, mask, 1, flags);
        b.store(to, x, 1, Flags::empty());
        let p = b.ptr_offset(to, gathered_at as u64);
        b.store(p, y, 1, Flags::empty());
        let sum = if s.is_ptr() {
            let one = b.iota(Scalar::I64, lanes);
            b.ptr_add(x, one)
        } else {
            let bits = if s.is_float() { Scalar::int(s.bits()).unwrap() } else { s };
            let i = b.iota(bits, lanes);
            let x = if s.is_float() { b.cast(CastOp::Bitcast, x, ty.with_scalar(bits)) } else { x };
            let sum = b.binary(BinOp::Add, x, i);
            if s.is_float() { b.cast(CastOp::Bitcast, sum, ty) } else { sum }
        };
        b.masked_store(row, sum, mask, align, flags);
        b.scatter(ptrs, y, mask, 1, flags);
        let any = b.any(mask);
        let all = b.all(mask);
        let mut words = [any, all].map(|x| b.cast(CastOp::Zext, x, Type::I64)).to_vec();
        words.push(if lanes <= 64 { b.ballot(mask) } else { b.iconst(Type::I64, 7) });
        for (i, &w) in words.iter().enumerate() {
            let p = b.ptr_offset(to, (words_at + 8 * i) as u64);
            b.store(p, w, 8, Flags::empty());
        }
        b.ret(None);
    });
    let pages = 2 * (n * size).div_ceil(PAGE) + 1;
    let memory_of = Guarded::new(pages);
    let (start, end) = (memory_of.start as u64, memory_of.end());
    let bytes = (n * size) as u64;
    for (device, options) in common::variants() {
        let prepared = common::Prepared::new(&device, &options, &module, func);
        for mask in masks(lanes) {
            let first = mask.iter().position(|&on| on).unwrap_or(0);
            let last = mask.iter().rposition(|&on| on).unwrap_or(0);
            let nothing = !mask.contains(&true);
            // Only active lanes are within the pages.
            let mut rows = vec![start + 64 * size as u64, start.wrapping_sub((first * size) as u64)];
            rows.push(end - ((last + 1) * size) as u64);
            if nothing {
                rows = vec![0, 8, end - size as u64, end];
            } else if space == Space::Private {
                // An access to private memory is within its variable, whichever lanes are on.
                rows = vec![start + 64 * size as u64, end - bytes];
            } else if pages > 1 {
                rows.push(start + PAGE as u64 - size as u64 * (n as u64 / 2).max(1));
            }
            let mut input = Vec::new();
            for &row in &rows {
                input.extend(row.to_le_bytes());
                input.extend(mask.iter().enumerate().map(|(i, &on)| u8::from(on) | (i as u8) << 1));
                input.resize(input.len().next_multiple_of(8), 0);
                for (i, &on) in mask.iter().enumerate() {
                    // Descending from the end, two lanes at each address; inactive lanes have an invalid one.
                    let p = if on { end - (size * (i / 2 + 1)) as u64 } else { 0xdead_0000_0000_0001 + i as u64 };
                    input.extend(p.to_le_bytes());
                }
            }
            for (k, &row) in rows.iter().enumerate() {
                let data = memory_of.bytes();
                for (i, byte) in data.iter_mut().enumerate() {
                    *byte = (i * 7 + i / 256 + k) as u8;
                }
                let before = data.to_vec();
                let got = prepared.run(1, &input[k * stride..][..stride], out_stride).0;
                let mut expected = vec![0; out_stride];
                let mut after = before.clone();
                let place = |address: u64| (address - start) as usize;
                for i in (0..n).filter(|&i| mask[i]) {
                    let p = place(row.wrapping_add((i * size) as u64));
                    let x = &before[p..p + size];
                    expected[i * size..][..size].copy_from_slice(x);
                    let sum = x.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b)).wrapping_add(i as u64);
                    after[p..p + size].copy_from_slice(&sum.to_le_bytes()[..size]);
                    let q = place(end) - size * (i / 2 + 1);
                    expected[gathered_at + i * size..][..size].copy_from_slice(&before[q..q + size]);
                }
                for i in (0..n).filter(|&i| mask[i]) {
                    let q = place(end) - size * (i / 2 + 1);
                    after[q..q + size].copy_from_slice(&expected[gathered_at + i * size..][..size]);
                }
                let ballot = mask.iter().rev().fold(0, |bits: u64, &on| bits << 1 | u64::from(on));
                let words = [!nothing as u64, mask.iter().all(|&on| on) as u64, if n <= 64 { ballot } else { 7 }];
                for (i, w) in words.iter().enumerate() {
                    expected[words_at + 8 * i..][..8].copy_from_slice(&w.to_le_bytes());
                }
                let what = format!("{s}x{lanes}, mask {mask:?}, {row:#x} of {start:#x}+{bytes:#x} {options:?}");
                assert_eq!(got, expected, "{what}");
                assert!(memory_of.bytes() == after, "{what}: memory");
            }
        }
    }
}

macro_rules! tests {
    ($($name:ident $scalar:expr, $lanes:expr;)*) => {$(
        #[test]
        fn $name() {
            for lanes in $lanes {
                check($scalar, lanes, false, Space::Global);
                check($scalar, lanes, false, Space::Private);
            }
            check($scalar, 8, true, Space::Local);
        }
    )*};
}

tests! {
    bytes Scalar::I8, [2, 3, 8, 16, 32, 64];
    shorts Scalar::I16, [2, 8, 16, 32];
    ints Scalar::I32, [2, 3, 4, 8, 16, 33];
    longs Scalar::I64, [2, 3, 4, 8, 64];
    halves Scalar::F16, [3, 8, 16];
    floats Scalar::F32, [2, 4, 8, 16, 32, 64];
    doubles Scalar::F64, [2, 4, 8, 16];
    pointers Scalar::Ptr(Space::Global), [2, 4, 8, 16];
    very_many Scalar::I8, [256];
}

/// Pointer vectors, and each operation on vectors that is not lane-wise arithmetic.
#[test]
fn vectors_of_pointers_and_lanes_by_number() {
    for lanes in [2u16, 3, 4, 8, 16, 64, 257] {
        let n = u64::from(lanes);
        let mut module = Module::new();
        let func = common::group_function(&mut module, |b, abi| {
            let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
            let i = b.iota(Scalar::I64, lanes);
            let base = b.splat(from, lanes);
            let eight = b.iconst(Type::I64, 8);
            let eights = b.splat(eight, lanes);
            let by = b.binary(BinOp::Mul, i, eights);
            // A uniform base, then a uniform offset, then both.
            let p = b.ptr_add(base, by);
            let p = b.ptr_add(p, eights);
            let start = b.ptr_add(base, eights);
            let p = b.cast(CastOp::Space, p, Type::vector(Scalar::Ptr(Space::Constant), lanes));
            let p = b.cast(CastOp::PtrToInt, p, Type::vector(Scalar::I64, lanes));
            let p = b.cast(CastOp::IntToPtr, p, Type::vector(Scalar::Ptr(Space::Global), lanes));
            let later = b.icmp(IntCc::Ugt, p, start);
            let p = b.select(later, p, base);
            let x = b.load(Type::I64, from, 8, Flags::empty());
            // A lane index is taken modulo the number of lanes.
            let picked = b.extract(p, x);
            let truth = b.extract(later, x);
            let later = b.insert(later, x, truth);
            let p = b.insert(p, x, from);
            let mask = b.unary(cloom_ir::UnOp::Not, later);
            let first = b.iconst(Type::I32, 0);
            let changed = b.extract(p, first);
            for (k, v) in [picked, changed].into_iter().enumerate() {
                let v = b.cast(CastOp::PtrToInt, v, Type::I64);
                let base = b.cast(CastOp::PtrToInt, from, Type::I64);
                let v = b.binary(BinOp::Sub, v, base);
                let q = b.ptr_offset(to, 8 * k as u64);
                b.store(q, v, 8, Flags::empty());
            }
            let any = b.any(mask);
            let any = b.cast(CastOp::Zext, any, Type::I64);
            let q = b.ptr_offset(to, 16);
            b.store(q, any, 8, Flags::empty());
            b.ret(None);
        });
        for (device, options) in common::variants() {
            let prepared = common::Prepared::new(&device, &options, &module, func);
            for x in [0, 1, 5, 1000, u64::MAX] {
                let out = prepared.run(1, &x.to_le_bytes(), 24).0;
                let words: Vec<u64> = out.chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
                let lane = x % n;
                let at = |lane: u64| if lane == 0 { 0 } else { 8 * (lane + 1) };
                assert_eq!(words, [at(lane), 0, 1], "{lanes} lanes, {x}, {options:?}");
            }
        }
    }
}

/// The mask of short vectors: four lanes go on and off together, and are stored together.
#[test]
fn lanes_in_groups() {
    for (s, group, lanes) in
        [(Scalar::F32, 4u16, 32u16), (Scalar::I8, 4, 64), (Scalar::I16, 2, 16), (Scalar::I64, 8, 16)]
    {
        let (n, size) = (usize::from(lanes), s.bytes() as usize);
        let items = lanes / group;
        let mut module = Module::new();
        let func = common::group_function(&mut module, |b, abi| {
            let (from, to) = (common::buffer(b, abi, 0), common::buffer(b, abi, 1));
            let mask = load_mask(b, from, items);
            let order: Vec<u16> = (0..lanes).map(|i| i / group).collect();
            let whole = b.shuffle(mask, mask, &order);
            let p = b.ptr_offset(from, u64::from(items));
            let x = b.load(Type::vector(s, lanes), p, 1, Flags::empty());
            b.masked_store(to, x, whole, 1, Flags::empty());
            // Reversed, which keeps groups of two or more lanes together only if they are reversed as a whole.
            let order: Vec<u16> = (0..items).rev().collect();
            let back = b.shuffle(mask, mask, &order);
            let q = b.ptr_offset(to, (n * size) as u64);
            let narrow = b.iota(Scalar::I8, items);
            b.masked_store(q, narrow, back, 1, Flags::empty());
            b.ret(None);
        });
        let input: Vec<u8> = (0..n * size).map(|i| (i * 7 + 1) as u8).collect();
        for (device, options) in common::variants() {
            let prepared = common::Prepared::new(&device, &options, &module, func);
            for mask in masks(items) {
                let flags: Vec<u8> = mask.iter().map(|&on| on.into()).collect();
                let out = prepared.run(1, &[&flags[..], &input].concat(), n * size + usize::from(items)).0;
                let mut want: Vec<u8> = input.clone();
                for (i, byte) in want.iter_mut().enumerate() {
                    if !mask[i / size / usize::from(group)] {
                        *byte = 0;
                    }
                }
                want.extend((0..items).map(|i| if mask[usize::from(items - 1 - i)] { i as u8 } else { 0 }));
                assert_eq!(out, want, "{s}x{lanes} by {group}, {mask:?}, {options:?}");
            }
        }
    }
}
