//! What was read, in a form that is printed as JSON or as text.
use std::collections::BTreeMap;
use std::io::{self, Write};

use rdkafka_assignor_protocol::PartitionSet;
use rdkafka_assignor_protocol::consumer::TopicPartitions;
use serde::{Serialize, Serializer};

/// A value with what it consists of.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Node {
    /// Null: there is none.
    Absent,
    /// Yes or no.
    Flag(bool),
    /// Any number.
    Number(i128),
    /// A word that somebody wrote.
    Text(String),
    /// Names, in the writer's order.
    Names(Vec<String>),
    /// Partition numbers as a stranger wrote them.
    Numbers(Vec<i32>),
    /// Partition numbers; in JSON pairs of the first and the last of each range, as there may be billions.
    #[serde(serialize_with = "pairs")]
    Ranges(PartitionSet),
    /// Partition numbers by topic as a stranger wrote them: a topic may be there twice.
    #[serde(serialize_with = "topics")]
    Topics(Vec<TopicPartitions>),
    /// Values of one kind.
    List(Vec<Node>),
    /// Values by a name that somebody wrote.
    Map(BTreeMap<String, Node>),
    /// Values by the name of their field.
    #[serde(serialize_with = "fields")]
    Fields(Vec<(&'static str, Node)>),
}

impl Node {
    /// Every value turned into a node.
    pub fn map<T>(values: BTreeMap<String, T>, node: impl Fn(T) -> Node) -> Node {
        let nodes = values.into_iter().map(|(name, value)| (name, node(value)));
        Node::Map(nodes.collect())
    }

    /// Every value turned into a node.
    pub fn list<T>(values: Vec<T>, node: impl Fn(T) -> Node) -> Node {
        Node::List(values.into_iter().map(node).collect())
    }
}

impl<T: Into<Node>> From<Option<T>> for Node {
    fn from(value: Option<T>) -> Self {
        value.map_or(Node::Absent, Into::into)
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),* $(,)?) => {$(
        impl From<$from> for Node {
            fn from(value: $from) -> Self {
                Node::$variant(value.into())
            }
        }
    )*};
}

from! {
    bool => Flag, u8 => Number, i16 => Number, i32 => Number, u32 => Number, i64 => Number, u64 => Number,
    &str => Text, String => Text, Vec<String> => Names, Vec<i32> => Numbers, PartitionSet => Ranges,
    Vec<TopicPartitions> => Topics,
}

/// One line of JSON.
pub fn write_json(node: &Node, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, node)?;
    writeln!(out)
}

fn pairs<S: Serializer>(set: &PartitionSet, serializer: S) -> Result<S::Ok, S::Error> {
    let pairs = set
        .ranges()
        .iter()
        .map(|range| (range.start, range.end - 1));
    serializer.collect_seq(pairs)
}

fn topics<S: Serializer>(topics: &[TopicPartitions], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Topic<'a> {
        topic: &'a str,
        partitions: &'a [i32],
    }
    serializer.collect_seq(topics.iter().map(|t| Topic {
        topic: &t.topic,
        partitions: &t.partitions,
    }))
}

fn fields<S: Serializer>(
    fields: &[(&'static str, Node)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|(name, node)| (name, node)))
}
