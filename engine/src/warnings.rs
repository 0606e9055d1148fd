//! Collects what was not believed: one warning per member, kind and name, whatever the number of offences.
use std::collections::BTreeMap;
use std::fmt::Display;

use crate::plan::{Warning, WarningKind};

/// Characters of a foreign name that a sentence repeats.
const QUOTED: usize = 100;

/// Warnings under collection.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeMap<(Option<String>, WarningKind, String), String>);

impl Warnings {
    /// Notes something about `member` (or about the group) and the thing called `name`; the first sentence stays.
    pub(crate) fn note(
        &mut self,
        member: Option<&str>,
        kind: WarningKind,
        name: &str,
        detail: impl Display,
    ) {
        self.0
            .entry((member.map(str::to_owned), kind, name.to_owned()))
            .or_insert_with(|| detail.to_string());
    }

    /// All of them, sorted by member, kind and name.
    pub(crate) fn into_sorted(self) -> Vec<Warning> {
        let warning = |((member, kind, _), detail)| Warning {
            member,
            kind,
            detail,
        };
        self.0.into_iter().map(warning).collect()
    }
}

/// A foreign name, cut to a bearable length and on one line: control characters are escaped.
pub(crate) fn quoted(name: &str) -> String {
    let mut quoted = String::new();
    for (n, character) in name.chars().enumerate() {
        match character {
            _ if n == QUOTED => {
                quoted.push_str("...");
                break;
            }
            c if c.is_control() => quoted.extend(c.escape_default()),
            c => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_name_stays_short_and_on_its_line() {
        assert_eq!(quoted("orders\u{fc}"), "orders\u{fc}");
        assert_eq!(quoted("a\nerror: \u{1b}[31m"), "a\\nerror: \\u{1b}[31m");
        assert_eq!(quoted(&"x".repeat(QUOTED)), "x".repeat(QUOTED));
        let cut = format!("{}...", "x".repeat(QUOTED));
        assert_eq!(quoted(&"x".repeat(QUOTED + 1)), cut);
    }
}
