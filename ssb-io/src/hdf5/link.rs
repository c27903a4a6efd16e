//! Links: what a group lists, and how a path is followed through soft and external links.

use std::path::{Path, PathBuf};

use hdf5_reader::btree_v1::collect_btree_v1_leaves_storage;
use hdf5_reader::btree_v2::{BTreeV2Header, BTreeV2Record, collect_btree_v2_records_storage};
use hdf5_reader::error::Result as ParseResult;
use hdf5_reader::fractal_heap::{FractalHeap, FractalHeapDirectBlockCache};
use hdf5_reader::io::Cursor;
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::HdfMessage;
pub(crate) use hdf5_reader::messages::link::LinkTarget;
use hdf5_reader::messages::link::{self, LinkMessage};
use hdf5_reader::symbol_table::SymbolTableNode;

use super::{Container, Object};
use crate::IoError;

/// One named child of a group.
pub(crate) type Link = LinkMessage;

/// Soft and external links followed for one path.
const MAX_LINKS: usize = 32;

/// Joins a group's path and a child's name.
pub(crate) fn join(group: &str, name: &str) -> String {
    format!("{}/{name}", group.trim_end_matches('/'))
}

impl Container {
    /// The objects of a dense store (many links or attributes), as bytes.
    pub(super) fn dense(&self, heap: u64, index: u64) -> ParseResult<Vec<Vec<u8>>> {
        let (offset_size, length_size) = self.widths();
        if Cursor::is_undefined_offset(heap, offset_size)
            || Cursor::is_undefined_offset(index, offset_size)
        {
            return Ok(Vec::new());
        }
        let storage = self.storage();
        let heap = FractalHeap::parse_at_storage(storage, heap, offset_size, length_size)?;
        let header = BTreeV2Header::parse_at_storage(storage, index, offset_size, length_size)?;
        let records = collect_btree_v2_records_storage(
            storage,
            &header,
            offset_size,
            length_size,
            None,
            &[],
            None,
        )?;
        let mut cache = FractalHeapDirectBlockCache::default();
        records
            .iter()
            .filter_map(|record| match record {
                BTreeV2Record::LinkNameHash { heap_id, .. }
                | BTreeV2Record::AttributeNameHash { heap_id, .. } => Some(heap_id),
                _ => None,
            })
            .map(|id| {
                heap.get_object_storage_cached(id, storage, offset_size, length_size, &mut cache)
            })
            .collect()
    }

    /// The entries of an old-style group.
    fn symbol_table(&self, btree: u64, heap: u64) -> ParseResult<Vec<Link>> {
        let (offset_size, length_size) = self.widths();
        let storage = self.storage();
        let heap = LocalHeap::parse_at_storage(storage, heap, offset_size, length_size)?;
        let leaves = collect_btree_v1_leaves_storage(
            storage,
            btree,
            offset_size,
            length_size,
            None,
            &[],
            None,
        )?;
        let mut links = Vec::new();
        for (_, node) in leaves {
            let head = storage.read_range(node, 8)?;
            let count = u16::from_le_bytes([head[6], head[7]]);
            let entry = 2 * usize::from(offset_size) + 24;
            let bytes = storage.read_range(node, 8 + usize::from(count) * entry)?;
            let node = SymbolTableNode::parse(&mut Cursor::new(&bytes), offset_size, length_size)?;
            for entry in node.entries {
                let target = if entry.cache_type == 2 {
                    let [a, b, c, d] = [0, 1, 2, 3].map(|i| entry.scratch[i]);
                    let at = u64::from(u32::from_le_bytes([a, b, c, d]));
                    LinkTarget::Soft {
                        path: heap.get_string_storage(at, storage)?,
                    }
                } else {
                    LinkTarget::Hard {
                        address: entry.object_header_address,
                    }
                };
                links.push(Link {
                    name: heap.get_string_storage(entry.link_name_offset, storage)?,
                    target,
                    creation_order: None,
                });
            }
        }
        Ok(links)
    }

    /// Where the file that a link names is: as written beside this file, else its base name
    /// beside this file. The second path is the one to name when neither exists.
    pub(crate) fn linked_path(&self, name: &str) -> Result<PathBuf, PathBuf> {
        let folder = self.path().parent().unwrap_or(Path::new(""));
        if name == "." {
            return Ok(self.path().to_owned());
        }
        let written = folder.join(name);
        if written.is_file() {
            return Ok(written);
        }
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let beside = folder.join(base);
        if beside.is_file() {
            Ok(beside)
        } else {
            Err(beside)
        }
    }
}

impl Object {
    /// The children of a group, sorted by name; links are not followed.
    pub(crate) fn links(&self) -> Result<Vec<Link>, IoError> {
        let (offset_size, length_size) = self.container.widths();
        let list = || -> ParseResult<Vec<Link>> {
            let mut links = Vec::new();
            for message in self.messages() {
                match message {
                    HdfMessage::Link(link) => links.push(link.clone()),
                    HdfMessage::SymbolTable(table) => links.extend(
                        self.container
                            .symbol_table(table.btree_address, table.heap_address)?,
                    ),
                    HdfMessage::LinkInfo(info) => {
                        for bytes in self
                            .container
                            .dense(info.fractal_heap_address, info.btree_name_index_address)?
                        {
                            links.push(link::parse(
                                &mut Cursor::new(&bytes),
                                offset_size,
                                length_size,
                                bytes.len(),
                            )?);
                        }
                    }
                    _ => {}
                }
            }
            Ok(links)
        };
        let mut links = list().map_err(|error| self.error(&error))?;
        links.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(links)
    }

    /// The object behind a link of this group; `None` for a soft link that leads nowhere.
    ///
    /// # Errors
    /// [`IoError::MissingExternalFile`] when the file of an external link is not there.
    pub(crate) fn follow(&self, link: &Link) -> Result<Option<Self>, IoError> {
        self.follow_within(link, &mut 0)
    }

    fn follow_within(&self, link: &Link, links: &mut usize) -> Result<Option<Self>, IoError> {
        let path = join(&self.path, &link.name);
        if !matches!(link.target, LinkTarget::Hard { .. }) {
            *links += 1;
            if *links > MAX_LINKS {
                return Ok(None);
            }
        }
        match &link.target {
            LinkTarget::Hard { address } => self.container.object(*address, &path).map(Some),
            LinkTarget::Soft { path } => {
                if path.starts_with('/') {
                    self.container.root()?.find_within(path, links)
                } else {
                    self.find_within(path, links)
                }
            }
            LinkTarget::External { filename, path: to } => {
                let file = self.container.linked_path(filename).map_err(|missing| {
                    IoError::MissingExternalFile(
                        self.fault()
                            .object(&path)
                            .expected(format!("the linked file {}", missing.display()))
                            .found(format!("no such file (the link says `{filename}`)"))
                            .action("put the data files beside the master"),
                    )
                })?;
                self.container
                    .open_linked(&file)?
                    .root()?
                    .find_within(to, links)
            }
        }
    }

    /// The object at a path below this group; `None` when there is none.
    pub(crate) fn find(&self, path: &str) -> Result<Option<Self>, IoError> {
        self.find_within(path, &mut 0)
    }

    fn find_within(&self, path: &str, links: &mut usize) -> Result<Option<Self>, IoError> {
        let mut at = self.clone();
        for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
            let Some(link) = at.links()?.into_iter().find(|link| link.name == name) else {
                return Ok(None);
            };
            match at.follow_within(&link, links)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }
}
