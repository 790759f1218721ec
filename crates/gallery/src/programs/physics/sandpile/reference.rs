//! The sandpile's reference: cells distribute where the kernels collect. In comes a board, out comes the next one, or
//! the one board at which nothing topples any more, which any order of toppling ends at (Dhar, 1990).

/// A step of the reference: every cell that can topple distributes what it has.
pub(super) fn step(board: &[u32], w: usize) -> Vec<u32> {
    let mut next = board.to_vec();
    for (i, &grains) in board.iter().enumerate().filter(|(_, g)| **g >= 4) {
        topple(&mut next, w, i, grains / 4);
    }
    next
}

fn topple(board: &mut [u32], w: usize, i: usize, share: u32) {
    board[i] -= 4 * share;
    let x = i % w;
    if x > 0 {
        board[i - 1] += share;
    }
    if x + 1 < w {
        board[i + 1] += share;
    }
    if i >= w {
        board[i - w] += share;
    }
    if i + w < board.len() {
        board[i + w] += share;
    }
}

/// The stable board: cells that can topple wait in a stack, the last one first.
pub(super) fn stable(mut board: Vec<u32>, w: usize) -> Vec<u32> {
    let mut waiting: Vec<usize> = (0..board.len()).filter(|&i| board[i] >= 4).collect();
    while let Some(i) = waiting.pop() {
        let share = board[i] / 4;
        if share == 0 {
            continue;
        }
        topple(&mut board, w, i, share);
        let (x, n) = (i % w, board.len());
        let mut look = |j: usize| {
            // It was below four before: it is not in the stack yet.
            if (4..4 + share).contains(&board[j]) {
                waiting.push(j);
            }
        };
        if x > 0 {
            look(i - 1);
        }
        if x + 1 < w {
            look(i + 1);
        }
        if i >= w {
            look(i - w);
        }
        if i + w < n {
            look(i + w);
        }
    }
    board
}

#[cfg(test)]
mod tests {
    use super::super::boards::collected;
    use super::*;
    use crate::random::Random;

    #[test]
    fn steps_and_the_stack_end_alike_and_cells_collect_what_others_distribute() {
        let (w, h) = (13, 9);
        let mut random = Random::new(5);
        let start: Vec<u32> = (0..w * h).map(|_| random.below(40) as u32).collect();
        let next = step(&start, w);
        for (i, &grains) in next.iter().enumerate() {
            assert_eq!(grains, collected(&start, w, h, i % w, i / w));
        }
        let mut board = start.clone();
        while board.iter().any(|&g| g >= 4) {
            board = step(&board, w);
        }
        assert_eq!(board, stable(start, w));
        assert_eq!(stable(vec![7], 1), [3]);
        // Sixteen grains in the middle of an open board.
        let mut pile = vec![0; 49];
        pile[24] = 16;
        let end = stable(pile, 7);
        assert_eq!(end.iter().sum::<u32>(), 16, "nothing reached the edge");
    }
}
