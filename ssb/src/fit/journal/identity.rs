//! Which fit a journal belongs to, and in what another request differs.

use serde_json::Value;

/// Longer values are not shown.
const SHOWN: usize = 60;

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > SHOWN {
        "a long value".into()
    } else {
        text
    }
}

/// The differences between what a journal says and what is asked, each with its path.
pub(super) fn differences(recorded: &Value, asked: &Value) -> Vec<String> {
    let mut list = Vec::new();
    compare("", recorded, asked, &mut list);
    list
}

fn compare(path: &str, recorded: &Value, asked: &Value, list: &mut Vec<String>) {
    if recorded == asked {
        return;
    }
    if let (Value::Object(r), Value::Object(a)) = (recorded, asked) {
        let mut names: Vec<&String> = r.keys().chain(a.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let below = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let of = |map: &serde_json::Map<String, Value>| map.get(name).cloned();
            let (r, a) = (of(r).unwrap_or_default(), of(a).unwrap_or_default());
            compare(&below, &r, &a, list);
        }
        return;
    }
    let (r, a) = (shown(recorded), shown(asked));
    list.push(if r == a {
        format!("{path} differs")
    } else {
        format!("{path} is {r} there and {a} now")
    });
}
