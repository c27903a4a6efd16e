//! The report of a result (`ssb report`): one HTML page that needs nothing else, neither network nor scripts.
//!
//! Warnings stand first. Every number carries its full double in a `data` element, and the JSON document of the result lies in
//! the page whole, so that nothing has to be typed off a picture.

mod cite;
mod markup;
mod tables;

use data_encoding::BASE64;
use ssb_io::result::ResultFile;

use self::markup::{Page, escaped};
use crate::Error;
use crate::figure::{FigureData, Panel, render_panel};
use crate::record::document;
use crate::result_figure::figure_data;

const STYLE: &str = include_str!("style.css");

/// One picture with its caption.
fn picture(
    page: &mut Page,
    id: &str,
    (data, panel): (&FigureData, Panel),
    caption: &str,
) -> Result<(), Error> {
    let png = BASE64.encode(&render_panel(data, panel)?.png()?);
    let caption = escaped(caption);
    page.raw(&format!(
        "<figure id=\"panel-{id}\"><img alt=\"{caption}\" src=\"data:image/png;base64,{png}\"><figcaption>{caption}</figcaption></figure>"
    ));
    Ok(())
}

fn caption(data: &FigureData, panel: Panel) -> String {
    match panel {
        Panel::Phase => {
            "Phase in rad. Row 0 is at the top, column 0 at the left, as in the array.".into()
        }
        Panel::Amplitude => "Amplitude of the mean object, in counts.".into(),
        Panel::Spectrum => format!(
            "Power spectrum of the phase; the dashed circle is the semi-angle, {:.4} 1/Å, the whole one twice that, \
             {:.4} 1/Å, where the sampling reaches it.",
            data.semiangle_per_a,
            2.0 * data.semiangle_per_a
        ),
        Panel::Pattern => format!(
            "Mean diffraction pattern in counts with the bright-field disk: {} pixels, of which {} carry signal.",
            data.pattern.bf_pixels, data.pattern.bf_active
        ),
        Panel::Loss => "Loss of every exact evaluation, in the order they were made.".into(),
        Panel::Scatter => "C12 against C10 of every exact evaluation; colour is the loss.".into(),
        Panel::Table => String::new(),
    }
}

/// Whether the result has what a panel shows.
fn shown(data: &FigureData, panel: Panel) -> bool {
    match panel {
        // The page has a table of its own.
        Panel::Table => false,
        Panel::Amplitude => data.amplitude.is_some(),
        Panel::Loss => data.search.is_some(),
        Panel::Scatter => {
            (data.search.iter()).any(|s| s.trials.iter().any(|t| t.c10_c12_nm.is_some()))
        }
        Panel::Phase | Panel::Spectrum | Panel::Pattern => true,
    }
}

fn warnings(page: &mut Page, data: &FigureData) {
    page.section("warnings", "Warnings", |page| {
        if data.warnings.is_empty() {
            page.paragraph("None.");
            return;
        }
        page.raw("<ul class=\"warnings\">");
        for warning in &data.warnings {
            page.raw(&format!("<li>{}</li>", escaped(warning)));
        }
        page.raw("</ul>");
    });
}

fn figures(page: &mut Page, result: &ResultFile, data: &FigureData) -> Result<(), Error> {
    page.open_section("figures", "Figures");
    for panel in Panel::ALL.into_iter().filter(|p| shown(data, *p)) {
        picture(page, panel.name(), (data, panel), &caption(data, panel))?;
    }
    if let Some(other) = &result.other_branch_phase_rad {
        let mut data = data.clone();
        data.phase = other.clone();
        data.title = format!("{}: the other branch of the rotation", data.title);
        let caption =
            "Phase in rad of the other branch of the rotation (180° further), kept for comparison.";
        picture(page, "other-branch", (&data, Panel::Phase), caption)?;
    }
    page.close_section();
    Ok(())
}

/// The page of a result, as HTML.
///
/// # Errors
/// Arrays that cannot be drawn truthfully (values that are not finite).
///
/// ```no_run
/// let result = ssb::ResultFile::read("result.h5")?;
/// std::fs::write("report.html", ssb::record::report(&result)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn report(result: &ResultFile) -> Result<String, Error> {
    let data = figure_data(result, None, false);
    let mut page = Page::new(&data.title, STYLE);
    page.raw(&format!(
        "<header><h1>{}</h1><p>{}</p></header>",
        escaped(&data.title),
        escaped(&data.subtitle)
    ));
    warnings(&mut page, &data);
    tables::aberrations(&mut page, result, &data);
    tables::outcome(&mut page, result);
    figures(&mut page, result, &data)?;
    tables::provenance(&mut page, result);
    cite::section(&mut page, result);
    page.section("json", "The same numbers for machines", |page| {
        page.paragraph("The document that `--json` prints, in the element with the id “result”.");
        page.json("result", &document(result));
    });
    Ok(page.end())
}
