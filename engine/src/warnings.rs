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

/// A foreign name, cut to a bearable length.
pub(crate) fn quoted(name: &str) -> String {
    match name.char_indices().nth(QUOTED) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}...", name.get(..end).unwrap_or_default()),
    }
}
