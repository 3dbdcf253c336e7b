//! Names that were probably meant.

/// The names that are most like `wanted`, best first.
pub(crate) fn near<'n>(wanted: &str, names: &[&'n str]) -> Vec<&'n str> {
    let wanted = wanted.trim_matches(['*', '/', '?']).to_lowercase();
    let length = wanted.chars().count();
    if length == 0 || length > LONGEST {
        return Vec::new();
    }
    let mut near: Vec<(usize, &str)> = Vec::new();
    for name in names.iter().take(MOST_COMPARED) {
        let folded = name.to_lowercase();
        let last = folded.rsplit('/').next().unwrap_or(&folded);
        let distance = if length > 2 && folded.contains(&wanted) {
            1
        } else {
            distance(&wanted, &folded).min(distance(&wanted, last) + 1)
        };
        if distance <= (length / 3).max(1) + 1 {
            near.push((distance, name));
        }
    }
    // Names come sorted, and equally near ones stay so.
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter()
        .take(MOST_NEAR)
        .map(|(_, name)| name)
        .collect()
}

/// How many characters must be changed, added, taken away or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if other.len() > LONGEST {
        return usize::MAX - 1;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, from) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, to) in other.iter().enumerate() {
            let change = last[column] + usize::from(from != to);
            let mut least = change.min(last[column + 1] + 1).min(current[column] + 1);
            let swaps = row > 0 && column > 0 && *from == other[column - 1] && one[row - 1] == *to;
            if swaps {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}

/// The longest name that is compared: the work grows with the square.
const LONGEST: usize = 80;

/// How many names are compared.
const MOST_COMPARED: usize = 5000;

/// How many are told.
const MOST_NEAR: usize = 5;
