//! What was read, for a person: a field a line, partitions as `orders 0-3,7`.
//!
//! Names come from strangers: one that is not plain is quoted, so that it can neither pretend to be another line nor
//! reach the terminal.
use std::io::{self, Write};

use rdkafka_assignor_protocol::consumer::TopicPartitions;

use super::node::Node;

/// Writes it.
pub fn write(node: &Node, out: &mut impl Write) -> io::Result<()> {
    lines(node, 0, out)
}

/// The values within `node`, each on lines of its own.
fn lines(node: &Node, indent: usize, out: &mut impl Write) -> io::Result<()> {
    match node {
        Node::Fields(fields) => fields
            .iter()
            .try_for_each(|(name, value)| named(name, value, indent, out)),
        Node::Map(values) => values
            .iter()
            .try_for_each(|(name, value)| named(&shown(name), value, indent, out)),
        Node::Topics(topics) => topics.iter().try_for_each(|topic| {
            let TopicPartitions { topic, partitions } = topic;
            let ranges = or_dash(ranges(partitions));
            writeln!(out, "{:indent$}{} {ranges}", "", shown(topic))
        }),
        Node::List(items) => items
            .iter()
            .try_for_each(|item| self::item(item, indent, out)),
        single => writeln!(
            out,
            "{:indent$}{}",
            "",
            on_a_line(single).unwrap_or_default()
        ),
    }
}

fn named(name: &str, value: &Node, indent: usize, out: &mut impl Write) -> io::Result<()> {
    match on_a_line(value) {
        Some(text) => writeln!(out, "{:indent$}{name} {text}", ""),
        None => {
            writeln!(out, "{:indent$}{name}", "")?;
            lines(value, indent + 2, out)
        }
    }
}

/// An item of a list: on one line if it can be, else its fields below a dash.
fn item(item: &Node, indent: usize, out: &mut impl Write) -> io::Result<()> {
    let Node::Fields(fields) = item else {
        return lines(item, indent, out);
    };
    let pair = |(name, value): &(&str, Node)| Some(format!("{name} {}", on_a_line(value)?));
    match fields.iter().map(pair).collect::<Option<Vec<String>>>() {
        Some(pairs) => writeln!(out, "{:indent$}{}", "", pairs.join("; ")),
        None => {
            writeln!(out, "{:indent$}-", "")?;
            lines(item, indent + 2, out)
        }
    }
}

/// A value that fits on the line of its name; what is empty or absent is a dash.
fn on_a_line(node: &Node) -> Option<String> {
    Some(match node {
        Node::Absent => "-".to_owned(),
        Node::Flag(true) => "yes".to_owned(),
        Node::Flag(false) => "no".to_owned(),
        Node::Number(number) => number.to_string(),
        Node::Text(text) => shown(text),
        Node::Names(names) => {
            let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
            or_dash(names.join(", "))
        }
        Node::Numbers(numbers) => or_dash(ranges(numbers)),
        Node::Ranges(set) => or_dash(set.to_string()),
        Node::Topics(topics) if topics.is_empty() => "-".to_owned(),
        Node::List(items) if items.is_empty() => "-".to_owned(),
        Node::Map(values) if values.is_empty() => "-".to_owned(),
        _ => return None,
    })
}

fn or_dash(text: String) -> String {
    match text.is_empty() {
        true => "-".to_owned(),
        false => text,
    }
}

/// Numbers in the order they are in, runs that ascend by one as ranges.
fn ranges(numbers: &[i32]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let run = |run: &[i32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        other => other.iter().map(i32::to_string).collect(),
    };
    runs.map(run).collect::<Vec<String>>().join(",")
}

/// The name as it is if it is plain, else in quotes with escapes.
pub fn shown(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.:/ ()'!?[]{}@%+*&=~#".contains(c);
    let whole = !name.is_empty() && name != "-" && name.trim() == name;
    match whole && name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("{name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_ranges_and_the_order_is_the_writers() {
        assert_eq!(ranges(&[2, 3, 0, 1, 7]), "2-3,0-1,7");
        assert_eq!(
            ranges(&[1, 1, -5, i32::MAX, i32::MIN]),
            "1,1,-5,2147483647,-2147483648"
        );
    }

    #[test]
    fn names_that_are_not_plain_are_quoted() {
        assert_eq!(shown("http://w1:6066"), "http://w1:6066");
        assert_eq!(shown("a\n\u{1b}[2J"), r#""a\n\u{1b}[2J""#);
        assert_eq!(shown("\u{202e}abc"), r#""\u{202e}abc""#);
        assert_eq!(shown("a, b"), r#""a, b""#);
        assert_eq!(shown(""), r#""""#);
        assert_eq!(shown("-"), r#""-""#);
    }
}
