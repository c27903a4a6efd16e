// The page: joins the link, the sliders, the pictures and the fit.

import { Controls } from "./controls.js";
import { FitPanel } from "./fit.js";
import { listen } from "./keys.js";
import { Link } from "./link.js";
import { Panels } from "./panels.js";
import { significant } from "./picture.js";

const by = (id) => document.getElementById(id);

const app = {
  session: null,
  wish: 0,
  frame: null,

  say(message, tone = "") {
    by("status").textContent = message;
    by("status").className = tone;
  },

  // The candidate changed: pictures follow, and the loss is that of an earlier candidate.
  changed(candidate, dragging) {
    app.wish = app.link.want(candidate, dragging, app.panels.wanted(dragging));
    app.panels.moved();
    if (by("loss").textContent) {
      by("loss-line").classList.add("stale");
      by("loss-note").textContent = dragging ? "stale while dragging" : "stale, computing…";
    } else by("loss-note").textContent = dragging ? "not computed while dragging" : "computing…";
  },

  refresh() {
    if (app.session) app.changed(app.controls.candidate(), false);
  },

  reset() {
    app.controls.go(app.session.fitted ?? app.session.candidate);
  },

  fitted(best, word, mine) {
    app.session.fitted = best;
    by("reset").textContent = "Reset to fit";
    if (mine) app.controls.go(best);
    app.say(`${word}; ${mine ? "its best is shown (Undo returns to what was steered)" : "Reset to fit shows its best"}`, "good");
  },

  takeSession(session) {
    const first = !app.session;
    app.session = session;
    document.title = `${session.title} – ssb view`;
    by("title").textContent = session.title;
    const [rows, cols] = session.scan_shape;
    by("data-line").textContent = `scan ${rows} × ${cols}, step ${session.scan_step_a.map((s) => significant(s, 3)).join(" × ")} Å · ${session.voltage_kv} kV, ${significant(session.semiangle_mrad, 4)} mrad · ${session.bf_pixels} BF pixels`;
    by("data-line").title = session.path;
    const kind = session.software_adapter ? "<span class='software'>software adapter</span>" : session.backend === "cpu" || session.backend === "oracle" ? "host processor" : "hardware adapter";
    by("backend").innerHTML = `<b></b> <span></span> · ${kind}`;
    by("backend").querySelector("b").textContent = session.backend;
    by("backend").querySelector("span").textContent = session.device;
    by("backend").title = `${session.reason}; ${session.precision}, ${session.threads} threads; ${session.plan}`;
    by("reset").textContent = session.fitted ? "Reset to fit" : "Reset to start";
    app.panels.pending = false;
    by("whole").disabled = !session.region;
    by("region-line").textContent = session.region ? `region of the scan: rows and columns ${session.region}` : "Shift and drag on the picture draws a region";
    if (first) {
      app.controls = new Controls(session, app.changed);
      by("save-name").value = session.suggested_name;
      const option = (name) => Object.assign(document.createElement("option"), { value: name, textContent: name });
      by("method").append(...session.methods.map(option));
    } else app.controls.take(session);
    app.panels.takeSession(session);
    const share = session.bf_while_dragging < session.bf_pixels ? `${session.bf_while_dragging} of ${session.bf_pixels}` : `all ${session.bf_pixels}`;
    const notes = session.warnings.length ? ` Note: ${session.warnings.join(" · ")}` : "";
    app.say(`ready; ${share} BF pixels are used while dragging, all on release.${notes}`, session.warnings.length ? "" : "good");
    app.refresh();
    if (app.refitting) {
      app.refitting = false;
      app.fit.toggle();
    }
  },

  // Takes the drawn region and fits on it once it is prepared.
  refit() {
    const { region, main } = app.panels;
    if (!region || main === "pattern") return;
    const [r0, c0, r1, c1] = region;
    app.refitting = true;
    app.say("reading and preparing the region…");
    app.link.send({ kind: "region", rows: [r0, r1], cols: [c0, c1] });
  },

  whole() {
    if (!app.session.region) return;
    app.say("reading and preparing the whole scan…");
    app.link.send({ kind: "whole_scan" });
  },

  takeImage(header, planes) {
    if (header.id > app.wish) return;
    for (const [kind, plane] of Object.entries(planes)) app.pending[kind] = [header, plane];
    app.lastHeader = header;
    if (app.frame) return;
    app.frame = requestAnimationFrame(() => {
      app.frame = null;
      for (const [kind, [head, plane]] of Object.entries(app.pending)) app.panels.show(head, { [kind]: plane });
      app.pending = {};
      app.panels.draw();
      app.link.drawn(app.lastHeader);
      app.showFrameTime();
    });
  },

  pending: {},

  showFrameTime() {
    const time = app.link.frameTime();
    if (!time) return;
    const text = `${(1000 / time.median).toFixed(0)} frames/s · frame ${time.median.toFixed(0)} ms median, ${time.p95.toFixed(0)} ms p95 · lag ${time.lag.toFixed(0)} ms`;
    if (by("frame-time").textContent !== text) by("frame-time").textContent = text;
  },

  takeLoss({ id, loss, degenerate_fraction: share, comparable, bf_pixels: pixels }) {
    if (id !== app.wish) return;
    by("loss").textContent = `${significant(loss, 6)} rad²`;
    by("loss-line").classList.remove("stale");
    by("loss-line").classList.toggle("warn", !comparable);
    by("loss-note").textContent = comparable ? `exact, all ${pixels} BF` : `degenerate (${(100 * share).toFixed(1)} % of the points carry nothing): not comparable`;
  },
};
window.ssbView = app;

app.panels = new Panels(app);
app.fit = new FitPanel(app);
app.link = new Link({
  session: app.takeSession,
  pictures: (header, planes) => {
    Object.assign(app.panels.planes, planes);
    app.panels.draw();
  },
  image: app.takeImage,
  loss: app.takeLoss,
  trials: (message) => app.fit.takeTrials(message),
  progress: (message) => app.fit.takeProgress(message),
  fit: (message) => app.fit.takeState(message),
  saved: ({ file, fitted }) => app.say(`saved ${fitted ? "as fitted" : "as steered by hand"}: ${file}`, "good"),
  ready: () => {
    if (app.panels.pending) app.panels.revertCircle();
  },
  error: ({ message }) => {
    if (app.panels.pending) app.panels.revertCircle();
    app.refitting = false;
    app.say(message, "bad");
  },
  closed: () => app.say("ssb has ended or let this page go; start it again and open the new address", "bad"),
});

function save() {
  app.controls.remember();
  app.say("saving…");
  app.link.send({ kind: "save", name: by("save-name").value, candidate: app.controls.candidate(), upsample: Number(by("save-upsample").value) });
}
by("save-button").addEventListener("click", save);
by("save-name").addEventListener("keydown", (event) => {
  if (event.key === "Enter") save();
});
by("undo").addEventListener("click", () => app.controls.undo());
by("redo").addEventListener("click", () => app.controls.redo());
by("reset").addEventListener("click", () => app.reset());
by("refit").addEventListener("click", () => app.refit());
by("whole").addEventListener("click", () => app.whole());
listen(app);
