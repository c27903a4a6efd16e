//! What to cite: the program as it ran, the method, and the searches that the result used.

use ssb_io::result::ResultFile;

use super::markup::{Page, escaped};

/// The method.
const METHOD: [&str; 3] = [
    "J. M. Rodenburg, B. C. McCallum, P. D. Nellist, Experimental tests on double-resolution coherent imaging via STEM, \
     Ultramicroscopy 48 (1993) 304-314.",
    "T. J. Pennycook, A. R. Lupini, H. Yang, M. F. Murfitt, L. Jones, P. D. Nellist, Efficient phase contrast imaging in STEM using a \
     pixelated detector. Part 1: Experimental demonstration at atomic resolution, Ultramicroscopy 151 (2015) 160-167.",
    "H. Yang, T. J. Pennycook, P. D. Nellist, Efficient phase contrast imaging in STEM using a pixelated detector. Part II: \
     Optimisation of imaging conditions, Ultramicroscopy 151 (2015) 232-239.",
];

/// Searches, by the method's name in the trials.
const SEARCHES: [(&str, &str); 2] = [
    (
        "tpe",
        "J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, Algorithms for hyper-parameter optimization, Advances in Neural Information \
         Processing Systems 24 (2011).",
    ),
    (
        "nelder-mead",
        "J. A. Nelder, R. Mead, A simplex method for function minimization, The Computer Journal 7 (1965) 308-313.",
    ),
];

pub(super) fn section(page: &mut Page, result: &ResultFile) {
    let p = &result.provenance;
    page.section("cite", "How to cite", |page| {
        page.paragraph("Say which program and settings made the result, and cite the method:");
        page.raw("<ul>");
        let text = |key: &str| p.evaluator[key].as_str().unwrap_or("unknown").to_owned();
        page.raw(&format!(
            "<li>{} (numerics {}), backend {}, {}; source SHA-256 <code>{}</code>.</li>",
            escaped(&p.program),
            escaped(&p.numerics_version),
            escaped(&text("backend")),
            escaped(&text("precision")),
            escaped(&p.source.content_sha256)
        ));
        for reference in METHOD {
            page.raw(&format!("<li>{}</li>", escaped(reference)));
        }
        for (method, reference) in SEARCHES {
            if result.trials.iter().any(|t| t.method == method) {
                page.raw(&format!("<li>{}</li>", escaped(reference)));
            }
        }
        page.raw("</ul>");
    });
}
