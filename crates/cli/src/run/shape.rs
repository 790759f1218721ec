//! Parses sizes of one to three dimensions: `1024`, `640x480`, `64x64x8`.

/// One to three sizes, each at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sizes(pub Vec<usize>);

/// Reads one to three sizes.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let sizes: Option<Vec<usize>> = text.split(['x', ',']).map(|n| n.trim().parse().ok().filter(|&n| n > 0)).collect();
    match sizes {
        Some(s) if s.len() <= 3 && s.iter().try_fold(1usize, |a, &n| a.checked_mul(n)).is_some() => Ok(Sizes(s)),
        _ => Err("give one to three numbers from 1 on, such as 1024 or 640x480".into()),
    }
}

/// Reads a side of a tile.
pub fn side(text: &str) -> Result<usize, String> {
    text.trim().parse().ok().filter(|&n| n > 0).ok_or_else(|| "give one number from 1 on, such as 16".into())
}

/// Reads a side, or width and height.
pub fn side_or_sides(text: &str) -> Result<(usize, usize), String> {
    match sizes(text).map(|s| s.0).as_deref() {
        Ok(&[n]) => Ok((n, n)),
        Ok(&[w, h]) => Ok((w, h)),
        _ => Err("give one number from 1 on, or WxH, such as 1024 or 640x480".into()),
    }
}

impl std::fmt::Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&parts.join("x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_nothing_and_too_many_are_refused() {
        assert_eq!(sizes("640x480").unwrap(), Sizes(vec![640, 480]));
        assert_eq!(sizes("8,4,2").unwrap().to_string(), "8x4x2");
        for bad in ["", "0", "4x0", "1x2x3x4", "-1", "a", "4x", "99999999999x99999999999"] {
            assert!(sizes(bad).is_err(), "{bad}");
        }
        assert_eq!(side_or_sides("7"), Ok((7, 7)));
        assert!(side_or_sides("1x2x3").is_err());
    }
}
