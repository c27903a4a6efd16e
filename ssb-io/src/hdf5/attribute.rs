//! Attributes of groups and datasets.

use hdf5_reader::io::Cursor;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::{self, AttributeMessage};

use super::{Object, Value, value};

impl Object {
    /// The attributes that are numbers or text, compact or dense. Attributes that do not parse are
    /// left out: none is needed to read the data.
    pub(crate) fn attributes(&self) -> Vec<(String, Value)> {
        let container = &self.container;
        let (offset_size, length_size) = container.widths();
        let decode = |a: &AttributeMessage| {
            value::decode(container, &a.datatype, &a.raw_data).map(|v| (a.name.clone(), v))
        };
        let mut found = Vec::new();
        for message in self.messages() {
            match message {
                HdfMessage::Attribute(a) => found.extend(decode(a)),
                HdfMessage::AttributeInfo(info) => {
                    let stored = container
                        .dense(info.fractal_heap_address, info.btree_name_index_address)
                        .unwrap_or_default();
                    for bytes in stored {
                        let mut cursor = Cursor::new(&bytes);
                        let parsed =
                            attribute::parse(&mut cursor, offset_size, length_size, bytes.len());
                        found.extend(parsed.ok().as_ref().and_then(decode));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// One attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<Value> {
        self.attributes()
            .into_iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v)
    }

    /// The first number of an attribute.
    pub(crate) fn attribute_number(&self, name: &str) -> Option<f64> {
        self.attribute(name)?.number()
    }

    /// The first string of an attribute.
    pub(crate) fn attribute_text(&self, name: &str) -> Option<String> {
        self.attribute(name)?.text().map(str::to_owned)
    }
}
