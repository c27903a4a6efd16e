//! An HDF5 file written front to back: data as it comes, then the structures that point to it.
//!
//! The writer crate used for results cannot make external links, store chunks that are already
//! compressed, or take data in pieces; simulated acquisitions need all three.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use super::message::{
    Target, Type, UNDEFINED, Value, attribute, dataspace, filter, link, object_header, superblock,
};

/// Where the heap of texts lies, right behind the superblock.
const HEAP_ADDRESS: u64 = 48;

/// Bytes of the heap; the smallest that readers accept is 4096.
const HEAP_BYTES: usize = 8192;

/// Half the children of a chunk-tree node, as readers assume for a version 2 superblock.
const TREE_HALF: usize = 32;

/// Attributes by name.
pub(super) type Attributes = Vec<(&'static str, Value)>;

/// A group, or what stands in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Group(Group),
    Value(Value, Attributes),
    /// An object already written at this address.
    At(u64),
    External {
        file: String,
        object: String,
    },
}

/// A group with attributes and children.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Group {
    pub(super) attributes: Attributes,
    pub(super) children: Vec<(String, Node)>,
}

impl Group {
    pub(super) fn new(attributes: Attributes) -> Self {
        Self {
            attributes,
            children: Vec::new(),
        }
    }

    pub(super) fn with(mut self, name: impl Into<String>, node: Node) -> Self {
        self.children.push((name.into(), node));
        self
    }

    pub(super) fn value(self, name: &str, value: Value) -> Self {
        self.with(name, Node::Value(value, Vec::new()))
    }

    pub(super) fn measured(self, name: &str, value: Value, units: &str) -> Self {
        self.with(
            name,
            Node::Value(value, vec![("units", Value::text(units))]),
        )
    }
}

/// One stored chunk of a dataset chunked along its first axis, one index a chunk.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    address: u64,
    bytes: u32,
}

/// A dataset of frames, one compressed chunk each.
#[derive(Debug)]
pub(super) struct Frames {
    kind: Type,
    /// Shape of one frame.
    frame: [usize; 2],
    chunks: Vec<Chunk>,
}

/// The file being written.
#[derive(Debug)]
pub(super) struct Stream {
    out: BufWriter<File>,
    at: u64,
    heap: Heap,
}

/// The global heap collection that holds texts of any length.
#[derive(Debug)]
struct Heap {
    bytes: Vec<u8>,
    texts: u16,
}

impl Heap {
    fn new() -> Self {
        let mut bytes = b"GCOL\x01\0\0\0".to_vec();
        bytes.extend((HEAP_BYTES as u64).to_le_bytes());
        Self { bytes, texts: 0 }
    }

    /// Stores a text and returns the reference that stands in its place.
    fn put(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        let mut reference = (text.len() as u32).to_le_bytes().to_vec();
        if text.is_empty() {
            reference.extend([0; 12]);
            return Ok(reference);
        }
        let padded = text.len().next_multiple_of(8);
        // The last 16 bytes are the head of the free space.
        if self.bytes.len() + 16 + padded + 16 > HEAP_BYTES {
            let message = format!("texts of more than {HEAP_BYTES} bytes in all");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.texts += 1;
        self.bytes.extend(self.texts.to_le_bytes());
        // One reference to it; four reserved bytes.
        self.bytes.extend([1, 0, 0, 0, 0, 0]);
        self.bytes.extend((text.len() as u64).to_le_bytes());
        self.bytes.extend(text);
        self.bytes.resize(self.bytes.len() + padded - text.len(), 0);
        reference.extend(HEAP_ADDRESS.to_le_bytes());
        reference.extend(u32::from(self.texts).to_le_bytes());
        Ok(reference)
    }

    /// The collection with its free space.
    fn finish(mut self) -> Vec<u8> {
        let free = (HEAP_BYTES - self.bytes.len()) as u64;
        self.bytes.extend([0; 8]);
        self.bytes.extend(free.to_le_bytes());
        self.bytes.resize(HEAP_BYTES, 0);
        self.bytes
    }
}

impl Stream {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let mut stream = Self {
            out: BufWriter::with_capacity(1 << 20, file),
            at: 0,
            heap: Heap::new(),
        };
        // Room for the superblock and the heap, which are written last.
        stream.put(&[0; HEAP_ADDRESS as usize + HEAP_BYTES])?;
        Ok(stream)
    }

    /// A value as it is stored: text of the heap becomes a reference.
    fn stored(&mut self, value: &Value) -> io::Result<Value> {
        let mut stored = value.clone();
        if value.kind == Type::HeapText {
            stored.bytes = self.heap.put(&value.bytes)?;
        }
        Ok(stored)
    }

    fn put_attributes(
        &mut self,
        attributes: &Attributes,
        messages: &mut Vec<(u8, Vec<u8>)>,
    ) -> io::Result<()> {
        for (name, value) in attributes {
            messages.push((0x0C, attribute(name, &self.stored(value)?)));
        }
        Ok(())
    }

    /// Appends bytes and returns where they start.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let address = self.at;
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(address)
    }

    /// The header of a contiguous dataset whose data lies at `address`.
    pub(super) fn contiguous(
        &mut self,
        kind: Type,
        dims: &[u64],
        address: u64,
        attributes: &Attributes,
    ) -> io::Result<u64> {
        let count: u64 = dims.iter().product();
        let mut layout = vec![3, 1];
        layout.extend(address.to_le_bytes());
        layout.extend((count * u64::from(kind.size())).to_le_bytes());
        let mut messages = vec![
            (0x01, dataspace(dims, false)),
            (0x03, kind.encode()),
            // Fill value version 3: space allocated late, fill written if set, none set.
            (0x05, vec![3, 0x0A]),
            (0x08, layout),
        ];
        self.put_attributes(attributes, &mut messages)?;
        self.put(&object_header(&messages))
    }

    /// Starts a dataset of frames.
    pub(super) fn frames(kind: Type, frame: [usize; 2]) -> Frames {
        Frames {
            kind,
            frame,
            chunks: Vec::new(),
        }
    }

    /// Appends the next frame, already filtered.
    pub(super) fn frame(&mut self, frames: &mut Frames, filtered: &[u8]) -> io::Result<()> {
        let bytes = u32::try_from(filtered.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a chunk of over 4 GiB"))?;
        let address = self.put(filtered)?;
        frames.chunks.push(Chunk { address, bytes });
        Ok(())
    }

    /// The header of a dataset of frames behind the filter `(id, name, client values)`.
    pub(super) fn finish_frames(
        &mut self,
        frames: &Frames,
        (id, name, client_values): (u16, &str, &[u32]),
        attributes: &Attributes,
    ) -> io::Result<u64> {
        let tree = self.chunk_tree(frames)?;
        let [rows, cols] = frames.frame;
        let dims = [frames.chunks.len() as u64, rows as u64, cols as u64];
        let mut layout = vec![3, 2, 4];
        layout.extend(tree.to_le_bytes());
        for d in [1, rows as u32, cols as u32, frames.kind.size()] {
            layout.extend(d.to_le_bytes());
        }
        let mut messages = vec![
            (0x01, dataspace(&dims, true)),
            (0x03, frames.kind.encode()),
            // Fill value version 3: space allocated by chunk, fill written if set, none set.
            (0x05, vec![3, 0x0B]),
            (0x08, layout),
            (0x0B, filter(id, name, client_values)),
        ];
        self.put_attributes(attributes, &mut messages)?;
        self.put(&object_header(&messages))
    }

    /// Writes the version 1 chunk tree bottom-up and returns the address of its root.
    fn chunk_tree(&mut self, frames: &Frames) -> io::Result<u64> {
        if frames.chunks.is_empty() {
            return Ok(UNDEFINED);
        }
        let key = |index: usize| {
            let bytes = frames.chunks.get(index).map_or(0, |c| c.bytes);
            let mut out = Vec::with_capacity(40);
            out.extend(bytes.to_le_bytes());
            out.extend(0_u32.to_le_bytes());
            for offset in [index as u64, 0, 0, 0] {
                out.extend(offset.to_le_bytes());
            }
            out
        };
        let node_bytes = 24 + (2 * TREE_HALF + 1) * key(0).len() + 2 * TREE_HALF * 8;
        // (first frame, address) of each child of the level being written.
        let mut level: Vec<(usize, u64)> = frames
            .chunks
            .iter()
            .map(|c| c.address)
            .enumerate()
            .collect();
        let mut depth = 0_u8;
        loop {
            let nodes: Vec<&[(usize, u64)]> = level.chunks(2 * TREE_HALF).collect();
            let first = self.at;
            let address = |n: usize| first + (n * node_bytes) as u64;
            let mut parents = Vec::with_capacity(nodes.len());
            for (n, children) in nodes.iter().enumerate() {
                let end = nodes
                    .get(n + 1)
                    .map_or(frames.chunks.len(), |next| next[0].0);
                let left = if n > 0 { address(n - 1) } else { UNDEFINED };
                let right = if n + 1 < nodes.len() {
                    address(n + 1)
                } else {
                    UNDEFINED
                };
                let mut node = b"TREE".to_vec();
                node.extend([1, depth]);
                node.extend((children.len() as u16).to_le_bytes());
                node.extend(left.to_le_bytes());
                node.extend(right.to_le_bytes());
                for (frame, child) in *children {
                    node.extend(key(*frame));
                    node.extend(child.to_le_bytes());
                }
                node.extend(key(end));
                node.resize(node_bytes, 0);
                parents.push((children[0].0, self.put(&node)?));
            }
            if let [(_, root)] = parents[..] {
                return Ok(root);
            }
            level = parents;
            depth += 1;
        }
    }

    /// Writes a group with all that stands in it and returns its address.
    pub(super) fn group(&mut self, group: &Group) -> io::Result<u64> {
        let mut messages = vec![
            // Link info: no creation order, no dense storage. Group info: no hints.
            (0x02, [&[0, 0][..], &[0xFF; 16]].concat()),
            (0x0A, vec![0, 0]),
        ];
        for (name, node) in &group.children {
            let target = match node {
                Node::Group(child) => Target::Here(self.group(child)?),
                Node::At(address) => Target::Here(*address),
                Node::Value(value, attributes) => {
                    let stored = self.stored(value)?;
                    let address = self.put(&stored.bytes)?;
                    Target::Here(self.contiguous(value.kind, &value.dims, address, attributes)?)
                }
                Node::External { file, object } => Target::External {
                    file: file.clone(),
                    object: object.clone(),
                },
            };
            messages.push((0x06, link(name, &target)));
        }
        self.put_attributes(&group.attributes, &mut messages)?;
        self.put(&object_header(&messages))
    }

    /// Writes the root group, the heap and the superblock, and flushes to the disk.
    pub(super) fn finish(mut self, root: &Group) -> io::Result<()> {
        let root = self.group(root)?;
        let head = superblock(root, self.at);
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&head)?;
        self.out.write_all(&self.heap.finish())?;
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}
