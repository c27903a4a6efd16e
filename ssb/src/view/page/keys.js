// Keys that work wherever nothing is typed.

import { KINDS } from "./panels.js";

const STEPS = [
  ["q", "a", "C10_nm", "C10"],
  ["w", "s", "C12_nm", "C12"],
  ["e", "d", "phi12_rad", "phi12"],
  ["r", "f", "rotation_deg", "rotation"],
  ["t", "y", "tilt_row_mrad", "tilt, row"],
  ["h", "j", "tilt_col_mrad", "tilt, column"],
  ["m", "n", "depth_spread_nm", "depth spread"],
];

const MORE = [
  ["Shift, Alt", "with a step: ten times, a tenth"],
  ["u, Shift+U", "undo, redo"],
  ["0", "reset to the fit"],
  ["g", "start or stop a fit"],
  [", and .", "the trial before, the trial after"],
  ["b", "the best trial"],
  ["1 to 6", "which picture is large"],
  ["c", "next colours"],
  ["x", "flip the sign (display only)"],
  ["[ and ]", "less, more contrast"],
  ["v, Shift+V", "refit on the drawn region, return to the whole scan"],
  ["k", "name the result to be saved; Enter saves"],
  ["Arrows", "on a picture: value cursor, Enter marks two corners of a region; on the pattern: move the circle, + and − size it, Enter takes it, Escape reverts; on a plot: choose a trial"],
  ["?", "these keys"],
];

export function listen(app) {
  const by = (id) => document.getElementById(id);
  const table = by("help-table");
  const line = (keys, does) => {
    const row = table.insertRow();
    row.insertCell().append(...keys.split(" ").map((k) => (/^(and|to)$/.test(k) ? ` ${k} ` : Object.assign(document.createElement("kbd"), { textContent: k }))));
    row.insertCell().textContent = does;
  };
  for (const [up, down, , name] of STEPS) line(`${up} ${down}`, `${name} up, down`);
  for (const [keys, does] of MORE) line(keys, does);
  const help = () => by("help").showModal();
  by("help-open").addEventListener("click", help);

  const actions = {
    u: () => app.controls.undo(),
    U: () => app.controls.redo(),
    0: () => app.reset(),
    g: () => app.fit.toggle(),
    ",": () => app.fit.choose(app.fit.chosen - 1),
    ".": () => app.fit.choose(app.fit.chosen + 1),
    b: () => app.fit.choose(app.fit.best()),
    c: () => {
      const select = by("colours");
      select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
      app.panels.draw();
    },
    x: () => by("flip").click(),
    v: () => app.refit(),
    V: () => app.whole(),
    "[": () => contrast(-1),
    "]": () => contrast(1),
    k: () => by("save-name").select(),
    "?": help,
  };
  const contrast = (way) => {
    const low = Math.min(20, Math.max(0, Number(by("low").value) + way * 0.5));
    by("low").value = low;
    by("high").value = 100 - low;
    app.panels.draw();
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input[type=text], input[type=number], select, dialog, dialog *");
    if (typing || !app.controls) return;
    const { key } = event;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "z") {
      app.controls[event.shiftKey ? "redo" : "undo"]();
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    const letter = key.length === 1 ? key.toLowerCase() : key;
    // With Alt some keyboards type other letters; the place of the key counts then.
    const placed = event.altKey && event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : letter;
    const step = STEPS.find(([up, down]) => up === placed || down === placed);
    if (step) {
      app.controls.nudge(step[2], step[0] === placed ? 1 : -1, event);
    } else if (actions[key]) {
      actions[key]();
    } else if (/^[1-6]$/.test(key)) {
      app.panels.choose(Object.keys(KINDS)[Number(key) - 1]);
      app.refresh();
    } else return;
    event.preventDefault();
  });
}
