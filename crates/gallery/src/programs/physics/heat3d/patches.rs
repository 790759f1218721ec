//! The mesh in patches: stretches of as many cells as a work-group has. In come the rows of neighbours, out come, for
//! each patch, the cells around it and the patches that these are of.

/// Lists of different lengths, end to end.
pub struct Lists {
    /// Where each begins, and where the last one ends.
    pub first: Vec<u32>,
    pub all: Vec<u32>,
}

impl Lists {
    fn of(lists: impl Iterator<Item = Vec<u32>>) -> Lists {
        let (mut first, mut all) = (vec![0], Vec::new());
        for list in lists {
            all.extend(list);
            first.push(all.len() as u32);
        }
        Lists { first, all }
    }

    /// One of them.
    pub fn list(&self, i: usize) -> &[u32] {
        &self.all[self.first[i] as usize..self.first[i + 1] as usize]
    }

    pub fn count(&self) -> usize {
        self.first.len() - 1
    }
}

/// The cells outside of each patch of `size` cells that are neighbours of one within.
pub fn around(first: &[u32], neighbours: &[u32], size: usize) -> Lists {
    let cells = first.len() - 1;
    Lists::of((0..cells).step_by(size).map(|begin| {
        let end = (begin + size).min(cells);
        // Rows of neighbouring cells lie end to end, so that those of a patch are one stretch.
        let row = first[begin] as usize..first[end] as usize;
        let outside = |q: &u32| !(begin..end).contains(&(*q as usize));
        let mut around: Vec<u32> = neighbours[row].iter().copied().filter(outside).collect();
        around.sort_unstable();
        around.dedup();
        around
    }))
}

/// The patches on which each one depends: itself, and those of the cells around it.
pub fn depends(around: &Lists, size: usize) -> Lists {
    Lists::of((0..around.count()).map(|patch| {
        let mut patches: Vec<u32> = around.list(patch).iter().map(|q| q / size as u32).collect();
        patches.push(patch as u32);
        patches.sort_unstable();
        patches.dedup();
        patches
    }))
}

/// Neighbours by columns as places in a patch's local memory: its own cells, then those around it. Cells without
/// another neighbour have the last of so many places.
pub fn local_columns(first: &[u32], neighbours: &[u32], around: &Lists, size: usize, room: usize) -> Vec<u16> {
    let n = first.len() - 1;
    let degree = first.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
    let mut table = vec![(room - 1) as u16; degree.max(1) * n];
    for i in 0..n {
        let (patch, row) = (i / size, &neighbours[first[i] as usize..first[i + 1] as usize]);
        for (k, &q) in row.iter().enumerate() {
            // The list is sorted by `around`; what is not in it is in the patch itself.
            let place = match around.list(patch).binary_search(&q) {
                Ok(at) => size + at,
                Err(_) => q as usize - patch * size,
            };
            table[k * n + i] = place as u16;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_know_what_is_around_them() {
        // A path of five cells, of which the third is held.
        let (first, neighbours) = ([0, 1, 3, 3, 5, 6], [1, 0, 2, 2, 4, 3]);
        let around = around(&first, &neighbours, 2);
        assert_eq!((0..3).map(|i| around.list(i)).collect::<Vec<_>>(), [&[2][..], &[4], &[3]]);
        let depends = depends(&around, 2);
        assert_eq!((0..3).map(|i| depends.list(i)).collect::<Vec<_>>(), [&[0, 1][..], &[1, 2], &[1, 2]]);
        let table = local_columns(&first, &neighbours, &around, 2, 4);
        assert_eq!(table, [1, 0, 3, 0, 2, 3, 2, 3, 2, 3]);
    }
}
