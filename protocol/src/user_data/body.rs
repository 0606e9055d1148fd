//! Bodies field by field: bincode 1.3.3, `DefaultOptions` (little endian, variable-length integers).
//!
//! The only module that knows bincode. It is unmaintained (RUSTSEC-2025-0141) and stays because its encoding is
//! the format of version 1; it reads slices only, with a limit, and never sees bytes that were not inflated under
//! a cap. Every field is read on its own, so an error knows the field's name, and what a newer version appended
//! is simply not asked for.
use std::collections::BTreeSet;

use bincode::config::{Bounded, WithOtherLimit};
use bincode::de::read::SliceReader;
use bincode::{DefaultOptions, Deserializer, ErrorKind, Options};
use serde::{Deserialize, Serialize};

use super::lists::{Ascending, Listed};
use super::{GlobalTable, ReadUserDataError, WriteUserDataError, check_count};

/// A body that is being written.
#[derive(Debug, Default)]
pub(super) struct Body {
    bytes: Vec<u8>,
}

impl Body {
    pub(super) fn put<T: Serialize + ?Sized>(
        &mut self,
        field: &'static str,
        value: &T,
    ) -> Result<(), WriteUserDataError> {
        DefaultOptions::new()
            .serialize_into(&mut self.bytes, value)
            .map_err(|error| WriteUserDataError::Invalid {
                field,
                reason: reason(&error),
            })
    }

    /// Sorted, without duplicates.
    pub(super) fn put_global_tables(
        &mut self,
        field: &'static str,
        tables: &[GlobalTable],
    ) -> Result<(), WriteUserDataError> {
        for table in tables {
            check_count(field, table.partitions)?;
        }
        self.put(field, &tables.iter().collect::<BTreeSet<_>>())
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The fields of a body that is being read.
pub(super) struct Fields<'a> {
    rest: Deserializer<SliceReader<'a>, WithOtherLimit<DefaultOptions, Bounded>>,
}

/// Starts to read `body`, which must have been inflated under a cap.
pub(super) fn fields(body: &[u8]) -> Fields<'_> {
    let limit = u64::try_from(body.len()).unwrap_or(u64::MAX);
    let options = DefaultOptions::new().with_limit(limit);
    Fields {
        rest: Deserializer::from_slice(body, options),
    }
}

impl<'a> Fields<'a> {
    pub(super) fn next<T: Deserialize<'a>>(
        &mut self,
        field: &'static str,
    ) -> Result<T, ReadUserDataError> {
        T::deserialize(&mut self.rest).map_err(|error| ReadUserDataError::Malformed {
            field,
            reason: reason(&error),
        })
    }

    /// A list or map whose elements or keys ascend.
    pub(super) fn next_ascending<T>(&mut self, field: &'static str) -> Result<T, ReadUserDataError>
    where
        Ascending<T>: Deserialize<'a>,
    {
        self.next(field).map(|Ascending(value)| value)
    }

    /// A list in the writer's order.
    pub(super) fn next_listed<T: Deserialize<'a>>(
        &mut self,
        field: &'static str,
    ) -> Result<Vec<T>, ReadUserDataError> {
        self.next(field).map(|Listed(list)| list)
    }

    /// Global tables whose partition counts can be believed.
    pub(super) fn next_global_tables(
        &mut self,
        field: &'static str,
    ) -> Result<Vec<GlobalTable>, ReadUserDataError> {
        let tables: Vec<GlobalTable> = self.next_ascending(field)?;
        for table in &tables {
            check_count(field, table.partitions)?;
        }
        Ok(tables)
    }

    /// A generation, if there is one.
    pub(super) fn next_generation(
        &mut self,
        field: &'static str,
    ) -> Result<Option<i32>, ReadUserDataError> {
        let generation: Option<u32> = self.next(field)?;
        let signed = generation.map(i32::try_from).transpose();
        signed.map_err(|error| ReadUserDataError::Malformed {
            field,
            reason: error.to_string(),
        })
    }

    /// Nothing may follow, unless the writer knows more fields than this reader.
    pub(super) fn finish(
        mut self,
        part: &'static str,
        newer: bool,
    ) -> Result<(), ReadUserDataError> {
        match u8::deserialize(&mut self.rest) {
            Ok(_) if !newer => Err(ReadUserDataError::Trailing { part }),
            _ => Ok(()),
        }
    }
}

fn reason(error: &ErrorKind) -> String {
    match error {
        ErrorKind::Io(_) | ErrorKind::SizeLimit => "truncated".to_owned(),
        other => other.to_string(),
    }
}
