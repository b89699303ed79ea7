//! Lists that are read entry by entry.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use super::lenient::{Hope, Lenient, Mismatch, mismatch};

/// The entries of a list that were good, and why the others were not.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// The good entries, in the server's order.
    pub items: Vec<T>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
}

/// An entry that was left out of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its place in the list as the server sent it, from 0; over several pages, the count goes on.
    pub index: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "entry {} ({}): {}", self.index, crate::printable(name), self.reason),
            None => write!(f, "entry {}: {}", self.index, self.reason),
        }
    }
}

impl<T> Listed<T> {
    /// How many entries the server sent.
    pub fn sent(&self) -> usize {
        self.items.len() + self.rejected.len()
    }

    /// Adds the entries of the next page.
    pub fn append(&mut self, mut page: Listed<T>) {
        let before = self.sent();
        self.items.append(&mut page.items);
        self.rejected
            .extend(page.rejected.into_iter().map(|rejected| Rejected { index: rejected.index + before, ..rejected }));
    }
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { items: Vec::new(), rejected: Vec::new() }
    }
}

impl<'de, T: Lenient<'de>> Lenient<'de> for Listed<T> {
    const EXPECTED: &'static str = "an array";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);
        impl<'de, T: Lenient<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = Result<Listed<T>, Mismatch>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Listed::default();
                while let Some(entry) = seq.next_element_seed(Hope::<T>::new())? {
                    match entry {
                        Ok(item) => list.items.push(item),
                        Err(mismatch) => {
                            let index = list.sent();
                            list.rejected.push(reject::<T>(index, mismatch));
                        }
                    }
                }
                Ok(Ok(list))
            }

            mismatch!(bool number string null object);
        }
        deserializer.deserialize_any(ListVisitor(PhantomData)).map(|read| match read {
            // A list that is none has one entry, which is no good; that it was there is still told.
            Err(Mismatch::Type(found)) if found != "null" => {
                let rejected = reject::<Listed<T>>(0, Mismatch::Type(found));
                Ok(Listed { items: Vec::new(), rejected: alloc::vec![rejected] })
            }
            read => read,
        })
    }
}

fn reject<'de, T: Lenient<'de>>(index: usize, mut mismatch: Mismatch) -> Rejected {
    let name = match &mut mismatch {
        Mismatch::Object { name, .. } => name.take(),
        Mismatch::Type(_) => None,
    };
    Rejected { index, name, reason: mismatch.reason(T::EXPECTED) }
}

impl<'de, T: Deserialize<'de> + Lenient<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::lenient(deserializer)?.map_err(|mismatch| D::Error::custom(mismatch.reason("an array")))
    }
}

impl<T: Serialize> Serialize for Listed<T> {
    /// The good entries only.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}
