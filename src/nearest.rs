//! "Did you mean ...?": the nearest of some names.

/// The name that is nearest to `wanted`, if any is near enough to be a slip.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(wanted, names).into_iter().next()
}

/// The names that are near enough to be slips: equal but for letter case, or within a third of the length in edits. The
/// nearest come first.
pub fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
    // A single letter is near to every other one.
    let limit = if wanted.len() < 2 { 0 } else { (wanted.len() / 3).clamp(1, 6) };
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names {
        let candidate: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
        if candidate.len().abs_diff(wanted.len()) > limit {
            continue;
        }
        let distance = edits(&wanted, &candidate);
        if distance <= limit {
            found.push((distance, name));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).collect()
}

/// Edit distance with swaps of neighbours (optimal string alignment).
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitute = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cost = substitute.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_typos_and_letter_case() {
        let names = ["orders", "order_items", "clicks"];
        assert_eq!(nearest("order", names), Some("orders"));
        assert_eq!(nearest("ORDERS", names), Some("orders"));
        assert_eq!(nearest("clikcs", names), Some("clicks"));
        assert_eq!(nearest("payments", names), None);
        assert_eq!(nearest("b", ["a"]), None);
        assert_eq!(nearest("A", ["a"]), Some("a"));
        assert_eq!(nearest("window-topn-n-changed", ["window-top-n-n-changed"]), Some("window-top-n-n-changed"));
        assert_eq!(nearest("quite-another-thing", ["window-top-n-n-changed"]), None);
    }

    #[test]
    fn the_nearest_come_first() {
        assert_eq!(super::near("FORM", ["FOR", "FROM", "GROUP", "FORMS"]), ["FOR", "FORMS", "FROM"]);
    }
}
