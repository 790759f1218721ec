//! What the front ends read.

/// A source.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// Its bytes; UTF-8 or anything like it.
    pub text: &'a [u8],
}

/// A module of SPIR-V.
#[derive(Clone, Copy, Debug)]
pub struct Il<'a> {
    /// Its bytes.
    pub binary: &'a [u8],
    /// Values of specialisation constants: number and bytes.
    pub constants: &'a [(u32, Vec<u8>)],
}
