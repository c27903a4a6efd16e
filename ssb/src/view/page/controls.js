// Sliders with typed numbers; the candidate; undo.

const MOST_UNDO = 200;

// Everything that can be steered: key in the candidate, label, unit, range, step of a key.
function quantities(session) {
  const list = [];
  for (const term of session.terms) {
    const shown = term.name === "C10" ? "C10 <span class='quiet'>(−defocus)</span>" : `${term.name} <span class='quiet'>${term.alias || term.label}</span>`;
    const span = term.high_nm - term.low_nm;
    list.push({ key: `${term.name}_nm`, term: term.name, label: shown, plain: `${term.name}, ${term.label}`, unit: "nm", low: term.low_nm, high: term.high_nm, step: span / 800, search: term.name });
    if (term.angle) {
      const half = Math.PI / term.m;
      list.push({ key: `${term.angle}_rad`, term: term.name, label: term.angle, plain: `${term.angle}, angle of ${term.name}`, unit: "rad", low: -half, high: half, step: half / 180, period: 2 * half });
    }
  }
  const rest = [
    { key: "rotation_deg", label: "rotation", plain: "scan-detector rotation", unit: "deg", low: session.rotation_deg - 180, high: session.rotation_deg + 180, step: 0.25, search: "rotation", around: 10 },
    { key: "tilt_row_mrad", label: "tilt <span class='quiet'>row</span>", plain: "specimen tilt along rows", unit: "mrad", low: -25, high: 25, step: 0.1, search: "tilt_row" },
    { key: "tilt_col_mrad", label: "tilt <span class='quiet'>column</span>", plain: "specimen tilt along columns", unit: "mrad", low: -25, high: 25, step: 0.1, search: "tilt_col" },
    { key: "depth_spread_nm", label: "depth <span class='quiet'>spread</span>", plain: "depth spread of the thick model", unit: "nm", low: 0, high: 60, step: 0.1, search: "depth_spread", least: 2 },
  ];
  return list.concat(rest);
}

export class Controls {
  constructor(session, changed) {
    this.changed = changed;
    this.form = document.getElementById("sliders");
    this.further = document.getElementById("further");
    this.undone = [];
    this.history = [];
    this.rows = new Map();
    this.shownTerms = new Set(["C10", "C12"]);
    this.further.addEventListener("change", () => {
      const name = this.further.value;
      if (!name) return;
      this.shownTerms.add(name);
      this.build();
      this.rows.get(`${name}_nm`)?.number.focus();
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.take(session);
  }

  // A new session: ranges and the calibrated rotation may differ; the values stay.
  take(session) {
    const known = new Map((this.list ?? []).map((q) => [q.key, q]));
    this.session = session;
    this.list = quantities(session).map((q) => {
      const old = known.get(q.key);
      return old ? { ...q, low: Math.min(q.low, old.low), high: Math.max(q.high, old.high) } : q;
    });
    if (!this.values) {
      this.values = this.read(session.candidate);
      this.settled = { ...this.values };
    }
    this.build();
  }

  read(candidate) {
    const values = {};
    for (const q of this.list) values[q.key] = candidate[q.key] ?? 0;
    values.rotation_deg = candidate.rotation_deg ?? this.session.rotation_deg;
    [values.tilt_row_mrad, values.tilt_col_mrad] = candidate.tilt_mrad ?? [0, 0];
    return values;
  }

  candidate(values = this.values) {
    const candidate = {};
    for (const q of this.list) {
      const always = q.term === "C10" || q.term === "C12";
      if (q.term && (always || values[`${q.term}_nm`] !== 0 || values[q.key] !== 0)) candidate[q.key] = values[q.key];
    }
    candidate.tilt_mrad = [values.tilt_row_mrad, values.tilt_col_mrad];
    candidate.depth_spread_nm = values.depth_spread_nm;
    if (values.rotation_deg !== this.session.rotation_deg) candidate.rotation_deg = values.rotation_deg;
    return candidate;
  }

  build() {
    for (const q of this.list) if (q.term && this.values[q.key] !== 0 && q.unit === "nm") this.shownTerms.add(q.term);
    const ticked = new Map([...this.rows].map(([key, row]) => [key, row.tick?.checked]));
    const focused = document.activeElement?.id;
    this.form.replaceChildren();
    this.rows.clear();
    for (const q of this.list) {
      if (q.term && !this.shownTerms.has(q.term)) continue;
      this.form.append(this.row(q, ticked.get(q.key)));
    }
    const choices = this.session.terms.filter((t) => !this.shownTerms.has(t.name));
    const option = (value, label) => Object.assign(document.createElement("option"), { value, textContent: label });
    this.further.replaceChildren(option("", "add…"), ...choices.map((t) => option(t.name, `${t.name}: ${t.label}`)));
    this.show();
    if (focused) document.getElementById(focused)?.focus();
  }

  row(q, ticked) {
    const box = document.createElement("div");
    box.className = "slider";
    const id = `q-${q.key}`;
    const tick = q.search ? `<label class="tick" title="search ${q.plain} in a fit${q.around ? `, ${q.around} ${q.unit} to either side` : ", over the range of the slider"}"><input type="checkbox" id="${id}-fit"> fit</label>` : "";
    // Labels come from the program's own table of terms.
    box.innerHTML = `<span class="head"><label for="${id}" title="${q.plain}">${q.label}</label>${tick}</span>
      <input type="number" id="${id}" step="any" aria-label="${q.plain} in ${q.unit}"><span class="quiet">${q.unit}</span>
      <input type="range" id="${id}-slider" min="${q.low}" max="${q.high}" step="any" aria-label="${q.plain}, slider">`;
    const [number, slider] = [box.querySelector("input[type=number]"), box.querySelector("input[type=range]")];
    const check = box.querySelector("input[type=checkbox]");
    if (check) check.checked = ticked ?? (q.term === "C10" || q.term === "C12");
    slider.addEventListener("input", () => this.set(q.key, Number(slider.value), true));
    slider.addEventListener("change", () => this.set(q.key, Number(slider.value), false));
    // Arrow keys of a slider step as the letters do.
    slider.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!way) return;
      event.preventDefault();
      this.nudge(q.key, way, event);
    });
    number.addEventListener("change", () => {
      const value = Number(number.value);
      if (number.value.trim() === "" || !Number.isFinite(value)) this.show();
      else this.set(q.key, value, false);
    });
    this.rows.set(q.key, { q, number, slider, tick: check });
    return box;
  }

  // Widens the slider where a typed value lies beyond it.
  reach(q, value) {
    if (value < q.low) q.low = q.low < 0 ? Math.min(2 * q.low, value) : value;
    if (value > q.high) q.high = Math.max(2 * q.high, value);
  }

  set(key, value, dragging) {
    const q = this.list.find((one) => one.key === key);
    if (!q) return;
    let kept = value;
    if (key === "depth_spread_nm") kept = Math.max(0, value);
    this.reach(q, kept);
    this.values[key] = kept;
    this.show();
    this.tell(dragging);
  }

  nudge(key, way, { shiftKey, altKey }) {
    const q = this.list.find((one) => one.key === key);
    if (!q) return;
    const step = q.step * way * (shiftKey ? 10 : altKey ? 0.1 : 1);
    let value = Number((this.values[key] + step).toPrecision(12));
    if (q.period && Math.abs(value) > q.period / 2) value -= Math.sign(value) * q.period;
    if (key === "C12_nm") value = Math.max(0, value);
    this.set(key, value, true);
    this.settleSoon();
  }

  // A pause is an end of the drag too.
  settleSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(false), 250);
  }

  tell(dragging) {
    clearTimeout(this.timer);
    if (dragging) this.settleSoon();
    else this.remember();
    this.changed(this.candidate(), dragging);
  }

  remember() {
    if (JSON.stringify(this.values) === JSON.stringify(this.settled)) return;
    this.history.push(this.settled);
    if (this.history.length > MOST_UNDO) this.history.shift();
    this.undone = [];
    this.settled = { ...this.values };
  }

  back(from, to) {
    const values = from.pop();
    if (!values) return;
    to.push(this.settled);
    this.values = { ...this.values, ...values };
    this.settled = { ...this.values };
    this.build();
    this.changed(this.candidate(), false);
  }

  undo() { this.remember(); this.back(this.history, this.undone); }

  redo() { this.back(this.undone, this.history); }

  // Shows a candidate; it can be undone.
  go(candidate) {
    this.values = this.read(candidate);
    for (const q of this.list) this.reach(q, this.values[q.key]);
    this.build();
    this.tell(false);
  }

  // Ticked terms with the ranges of their sliders.
  search() {
    return [...this.rows.values()].filter((r) => r.tick?.checked).map(({ q }) => {
      const value = this.values[q.key];
      if (q.around) return { name: q.search, low: value - q.around, high: value + q.around };
      return { name: q.search, low: q.least ?? q.low, high: q.high };
    });
  }

  show() {
    const digits = { nm: 3, rad: 4, deg: 3, mrad: 3 };
    for (const { q, number, slider } of this.rows.values()) {
      const value = this.values[q.key];
      slider.min = q.low;
      slider.max = q.high;
      if (Number(slider.value) !== value) slider.value = value;
      if (document.activeElement !== number || Number(number.value) !== value) number.value = Number(value.toFixed(digits[q.unit]));
      const inDegrees = q.unit === "rad" ? `${((value * 180) / Math.PI).toFixed(1)} degrees` : "";
      number.title = inDegrees || `${q.low} to ${q.high} ${q.unit} on the slider`;
      slider.setAttribute("aria-valuetext", `${value.toFixed(digits[q.unit])} ${q.unit}`);
    }
  }
}
