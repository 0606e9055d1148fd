//! Partition numbers for a person: `orders 0-3,7`.
use std::collections::BTreeMap;
use std::fmt::Write;

/// Every name with its partitions, one name a line; nothing at all is a dash.
pub fn by_name(partitions: &BTreeMap<String, Vec<u32>>) -> String {
    lines(
        partitions
            .iter()
            .map(|(name, numbers)| (name, ranges(numbers))),
    )
}

/// The same for tables of which every partition is meant, by their partition counts.
pub fn whole_by_name(counts: &BTreeMap<String, u32>) -> String {
    let all = |count: u32| match count {
        0 => String::new(),
        1 => "0".to_owned(),
        _ => format!("0-{}", count - 1),
    };
    lines(counts.iter().map(|(name, count)| (name, all(*count))))
}

fn lines<'a>(names: impl Iterator<Item = (&'a String, String)>) -> String {
    let present = names.filter(|(_, ranges)| !ranges.is_empty());
    let lines: Vec<String> = present
        .map(|(name, ranges)| format!("{name} {ranges}"))
        .collect();
    match lines.is_empty() {
        true => "-".to_owned(),
        false => lines.join("\n"),
    }
}

/// Sorted partition numbers as ranges: `0-3,7`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut text = String::new();
    for run in numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = match run {
            [only] => write!(text, "{comma}{only}"),
            [first, .., last] => write!(text, "{comma}{first}-{last}"),
            [] => Ok(()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_ranges_and_single_numbers_stay() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7]), "0-3,7");
        assert_eq!(ranges(&[2, 4, 5]), "2,4-5");
        assert_eq!(ranges(&[u32::MAX]), "4294967295");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn names_without_partitions_are_left_out() {
        let partitions = BTreeMap::from([
            ("orders".to_owned(), vec![0, 1]),
            ("users".to_owned(), vec![]),
        ]);
        assert_eq!(by_name(&partitions), "orders 0-1");
        assert_eq!(by_name(&BTreeMap::new()), "-");
    }

    #[test]
    fn a_whole_table_is_one_range() {
        let counts = [
            ("a".to_owned(), 0),
            ("b".to_owned(), 1),
            ("c".to_owned(), 4),
        ];
        assert_eq!(whole_by_name(&BTreeMap::from(counts)), "b 0\nc 0-3");
    }
}
