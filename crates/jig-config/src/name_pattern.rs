//! Patterns for names of tools and files: `*` stands for any characters, `?` for one.

/// Whether `name` is what `pattern` says.
///
/// Both come from files and servers that anybody may have written: the time grows with the product of both lengths, and
/// not faster.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut read) = (0, 0);
    // The last `*`, and up to where it stands for something.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    at = place + 1;
                    read = taken + 1;
                    star = Some((place, read));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|one| *one == '*')
}

#[cfg(test)]
mod tests;
