//! Lists and maps of a body: memory grows with the elements that are there, not with the count that is claimed.
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A list or map whose elements or keys ascend strictly, so that nothing is said twice.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ascending<T>(pub(crate) T);

/// A list in the writer's order.
#[derive(Debug)]
pub(crate) struct Listed<T>(pub(crate) Vec<T>);

/// For `deserialize_with`: strictly ascending.
pub(crate) fn ascending<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    Ascending<T>: Deserialize<'de>,
{
    Ascending::deserialize(deserializer).map(|Ascending(value)| value)
}

/// For `deserialize_with`: in the writer's order.
pub(crate) fn listed<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Listed::deserialize(deserializer).map(|Listed(list)| list)
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let any = |_: &T, _: &T| true;
        deserializer
            .deserialize_seq(List(any, PhantomData))
            .map(Listed)
    }
}

impl<'de, T: Deserialize<'de> + Ord> Deserialize<'de> for Ascending<Vec<T>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ascend = |before: &T, after: &T| before < after;
        deserializer
            .deserialize_seq(List(ascend, PhantomData))
            .map(Ascending)
    }
}

impl<'de, K, V> Deserialize<'de> for Ascending<BTreeMap<K, V>>
where
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(Map(PhantomData))
            .map(Ascending)
    }
}

/// Reads a list, and checks the order of neighbours.
struct List<T, F>(F, PhantomData<T>);

impl<'de, T, F> Visitor<'de> for List<T, F>
where
    T: Deserialize<'de>,
    F: Fn(&T, &T) -> bool,
{
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let mut list: Vec<T> = Vec::new();
        while let Some(element) = elements.next_element()? {
            if list.last().is_some_and(|last| !self.0(last, &element)) {
                return Err(Error::custom("elements do not ascend"));
            }
            list.push(element);
        }
        Ok(list)
    }
}

/// Reads a map whose keys ascend.
struct Map<K, V>(PhantomData<(K, V)>);

impl<'de, K, V> Visitor<'de> for Map<K, V>
where
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
{
    type Value = BTreeMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map: BTreeMap<K, V> = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry()? {
            if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(Error::custom("keys do not ascend"));
            }
            map.insert(key, value);
        }
        Ok(map)
    }
}
