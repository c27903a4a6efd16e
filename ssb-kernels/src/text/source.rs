//! A kernel's text: its parameters, the few lines that call it, and a name for its compiled form.

use std::hash::{DefaultHasher, Hash, Hasher};

/// What a parameter of a kernel is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Parameter {
    /// The next argument of the launch: a buffer, or the scalars and lengths.
    Argument,
    /// A position of the unit, by Metal's name.
    Position(String),
}

/// A text that is ready to be compiled for the host.
#[derive(Clone, Debug)]
pub struct HostSource {
    /// The text for the C++ compiler.
    pub text: String,
    /// The lines that call the kernel; they include the text as `text_file`.
    pub entry: String,
    /// The number of arguments that a launch must give.
    pub arguments: usize,
}

/// The name that both languages' texts give to a cube's shared memory.
const SHARED_IN_METAL: &str = "threadgroup uchar dynamic_shared_mem[";

/// Prepares the text of `kernel`; `None` if it has no such kernel.
///
/// The text stays as it is but for two things in MSL. C++ has no storage class that stands for `threadgroup`, so the
/// declaration of a cube's shared memory becomes one of an array that is defined elsewhere, as it is in CUDA. And a
/// `const` that is said twice, which C++ refuses, is said once.
pub fn prepare(text: &str, kernel: &str, text_file: &str) -> Option<HostSource> {
    let parameters = parameters(text, kernel)?;
    let mut arguments = 0;
    let addresses: Vec<String> = parameters
        .iter()
        .map(|parameter| match parameter {
            Parameter::Argument => {
                arguments += 1;
                format!("arguments[{}]", arguments - 1)
            }
            Parameter::Position(name) => format!("&ssb_position.{name}"),
        })
        .collect();
    let call = if addresses.is_empty() {
        format!("{kernel}();")
    } else {
        let list = addresses.join(", ");
        format!("void* all[] = {{{list}}};\n    ssb_call(&{kernel}, all);")
    };
    let entry = format!(
        "#include \"{text_file}\"\n\n\
         extern \"C\" __attribute__((no_sanitize(\"thread\"))) void ssb_unit(void** arguments) {{\n    \
         (void)arguments;\n    {call}\n}}\n"
    );
    let declared = SHARED_IN_METAL.replace("threadgroup", "extern");
    Some(HostSource {
        text: text
            .replacen(SHARED_IN_METAL, &declared, 1)
            .replace("const const device", "const device"),
        entry,
        arguments,
    })
}

/// Where the name stands in the definition of `kernel`.
fn definition(text: &str, kernel: &str) -> Option<usize> {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(kernel).map(|(at, _)| at).find(|&at| {
        !text[..at].ends_with(in_name) && text[at + kernel.len()..].trim_start().starts_with('(')
    })
}

fn parameters(text: &str, kernel: &str) -> Option<Vec<Parameter>> {
    let list = &text[definition(text, kernel)? + kernel.len()..];
    let list = list.trim_start().strip_prefix('(')?;
    let list = &list[..list.find(") {")?];
    Some(
        list.split(',')
            .map(str::trim)
            .filter(|parameter| !parameter.is_empty())
            .map(parameter)
            .collect(),
    )
}

fn parameter(declaration: &str) -> Parameter {
    let attribute = declaration
        .rsplit_once("[[")
        .map_or("", |(_, rest)| rest.trim_end_matches("]]").trim());
    if attribute.is_empty() || attribute.starts_with("buffer(") {
        Parameter::Argument
    } else {
        Parameter::Position(attribute.to_owned())
    }
}

/// A name for what `text` compiles to under `salt`.
///
/// CubeCL writes the types at the head of a text in an order that changes from run to run; the name does not.
pub fn fingerprint(text: &str, kernel: &str, salt: &str) -> String {
    let (head, body) = text.split_at(definition(text, kernel).unwrap_or(0));
    let mut types: Vec<&str> = head.split("struct ").map(str::trim).collect();
    types.sort_unstable();
    let mut hasher = DefaultHasher::new();
    (salt, types, body).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA: &str = "struct info_st {\n    float scalars_float[2];\n};\n\nextern \"C\" __global__ void \
        __launch_bounds__(64)add (\n    const float* __restrict__ buffer_0, float* buffer_1, \
        const __grid_constant__ info_st info\n) {\nadd_more();\n}";
    const MSL: &str = "[[kernel]]\nvoid add(\n    const device float * buffer_0 [[buffer(0)]],\n    \
        constant info_st& info [[buffer(1)]],\n    uint3 thread_pos_in_grid [[thread_position_in_grid]]\n) \
        {\nthreadgroup uchar dynamic_shared_mem[64];\n}";

    #[test]
    fn every_parameter_is_bound() {
        let cuda = prepare(CUDA, "add", "add.cu").unwrap();
        assert_eq!(cuda.arguments, 3);
        assert_eq!(cuda.text, CUDA);
        let msl = prepare(MSL, "add", "add.metal").unwrap();
        assert_eq!(msl.arguments, 2);
        assert!(
            msl.entry
                .contains("{arguments[0], arguments[1], &ssb_position.thread_position_in_grid}")
        );
        assert!(msl.text.contains("{\nextern uchar dynamic_shared_mem[64];"));
        assert!(prepare(CUDA, "subtract", "add.cu").is_none());
    }

    #[test]
    fn the_order_of_types_has_no_part_in_the_name() {
        let a = "struct A {\n int i;\n};\n";
        let b = "struct B {\n int i;\n};\n";
        let body = "struct C {};\nvoid k() {\nf();\ng();\n}";
        let name = |text: String| fingerprint(&format!("typedef int uint;\n{text}"), "k", "");
        assert_eq!(name(format!("{a}{b}{body}")), name(format!("{b}{a}{body}")));
        assert_ne!(name(format!("{a}{body}")), name(format!("{a}{b}{body}")));
        let other = body.replace("f();\ng();", "g();\nf();");
        assert_ne!(name(format!("{a}{body}")), name(format!("{a}{other}")));
    }
}
