//! Strict reading of JSON, with errors that a person can act on.
//!
//! serde reads a struct from an array too, lets the last of two equal keys win and takes `null` for an absent
//! value; a description of a group that says such things is more likely a mistake than meant.
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Unexpected, Visitor};
use serde_json::value::RawValue;

/// A struct that is written as an object.
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
            }
        }

        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// An array of objects.
pub fn objects<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(object)| object).collect())
}

/// An array of objects that is present.
pub fn some_objects<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    objects(deserializer).map(Some)
}

/// A value that is present: `null` is an error where the value's type says so.
pub fn some<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// A map in which no key comes twice.
pub fn distinct_keys<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct DistinctKeys<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for DistinctKeys<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = entries.next_key::<String>()? {
                if map.contains_key(&key) {
                    return Err(de::Error::custom(format_args!("duplicate key `{key}`")));
                }
                map.insert(key, entries.next_value()?);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(DistinctKeys(PhantomData))
}

/// An integer from `MIN` to `MAX`.
pub struct Bounded<T, const MIN: i64, const MAX: i64>(T);

impl<T: Copy, const MIN: i64, const MAX: i64> Bounded<T, MIN, MAX> {
    /// The number.
    pub fn get(&self) -> T {
        self.0
    }
}

impl<'de, T: TryFrom<i64>, const MIN: i64, const MAX: i64> Deserialize<'de>
    for Bounded<T, MIN, MAX>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Within<T, const MIN: i64, const MAX: i64>(PhantomData<T>);

        impl<T: TryFrom<i64>, const MIN: i64, const MAX: i64> Visitor<'_> for Within<T, MIN, MAX> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an integer from {MIN} to {MAX}")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
                let wrong = || E::invalid_value(Unexpected::Signed(value), &self);
                let within = (MIN..=MAX).contains(&value);
                within
                    .then(|| T::try_from(value).ok())
                    .flatten()
                    .ok_or_else(wrong)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
                match i64::try_from(value) {
                    Ok(value) => self.visit_i64(value),
                    Err(_) => Err(E::invalid_value(Unexpected::Unsigned(value), &self)),
                }
            }
        }

        deserializer
            .deserialize_i64(Within::<T, MIN, MAX>(PhantomData))
            .map(Bounded)
    }
}

/// Any integer, however large: what does not fit stands for the nearest number that does.
#[derive(Clone, Copy)]
pub struct ClaimedPartition(i64);

impl ClaimedPartition {
    /// The number.
    pub fn number(&self) -> i64 {
        self.0
    }
}

/// The largest claim: the range that holds it still has an end.
const LARGEST_CLAIM: i64 = i64::MAX - 1;

impl<'de> Deserialize<'de> for ClaimedPartition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let shown: String = text.chars().take(40).collect();
            return Err(de::Error::invalid_type(
                Unexpected::Other(&shown),
                &"an integer",
            ));
        }
        let too_large = if text.starts_with('-') {
            i64::MIN
        } else {
            LARGEST_CLAIM
        };
        Ok(ClaimedPartition(
            text.parse().unwrap_or(too_large).min(LARGEST_CLAIM),
        ))
    }
}
