//! [`VecMap`]: a map with a small code size.

use alloc::vec::Vec;
use core::borrow::Borrow;

/// A map that stores its entries in a vector, sorted by key.
///
/// Inserting an entry moves all entries with greater keys. So the map suits up to a few hundred entries, or keys that
/// are inserted in ascending order. For each pair of key and value types, it compiles to a twentieth of the code of a
/// `BTreeMap`.
#[derive(Debug)]
pub struct VecMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for VecMap<K, V> {
    fn default() -> Self {
        VecMap(Vec::new())
    }
}

impl<K: Ord, V> VecMap<K, V> {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &self.0[at].1)
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &mut self.0[at].1)
    }

    /// Inserts an entry. If the map already contains the key, replaces its value.
    pub fn insert(&mut self, key: K, value: V) {
        match self.place(&key) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| self.0.remove(at).1)
    }

    pub fn retain(&mut self, mut stays: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| stays(key, value));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub fn into_entries(self) -> Vec<(K, V)> {
        self.0
    }

    /// Returns the index of the entry with this key, or as `Err` the index at which to insert an entry.
    ///
    /// Not inlined, because each type of map calls this function in several places.
    #[inline(never)]
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_lie_in_the_order_of_their_keys() {
        let mut map = VecMap::default();
        for key in [3, 1, 2] {
            map.insert(key, key * 10);
        }
        map.insert(1, 11);
        assert_eq!(map.iter().collect::<Vec<_>>(), [(&1, &11), (&2, &20), (&3, &30)]);
        assert_eq!((map.get(&2), map.get(&4)), (Some(&20), None));
        assert_eq!((map.remove(&2), map.remove(&2)), (Some(20), None));
        map.retain(|key, value| {
            *value += 1;
            *key != 3
        });
        assert_eq!((map.len(), map.contains_key(&3), map.into_entries()), (1, false, [(1, 12)].to_vec()));
    }
}
