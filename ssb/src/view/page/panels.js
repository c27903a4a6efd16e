// The large picture, the small ones beside it, and what the pointer does on them.

import { Picture, significant, text } from "./picture.js";

export const KINDS = {
  phase: { name: "Phase", unit: "rad", long: "phase of the mean" },
  amplitude: { name: "Amplitude", unit: "counts", long: "amplitude of the mean" },
  spectrum: { name: "Spectrum", unit: "log₁₀ P", long: "power spectrum of the phase" },
  pattern: { name: "Pattern", unit: "counts", long: "mean pattern with the bright-field circle" },
  virtual_bf: { name: "Virtual BF", unit: "counts", long: "mean counts of the bright-field disk" },
  mean_phase: { name: "Mean phase", unit: "rad", long: "mean of the phases, made with the loss" },
};

export class Panels {
  constructor(app) {
    this.app = app;
    this.planes = {};
    this.labels = {};
    this.stale = new Set();
    this.main = "phase";
    this.region = null;
    this.box = document.getElementById("main-box");
    this.canvas = document.getElementById("main-canvas");
    this.cursor = document.getElementById("cursor");
    this.pictures = [{ picture: new Picture(this.canvas, true), canvas: this.canvas }];
    this.buildTabs();
    this.buildThumbs();
    this.buildTools();
    this.listen(this.pictures[0]);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  buildTabs() {
    const tabs = document.getElementById("tabs");
    Object.entries(KINDS).forEach(([kind, { name, long }], i) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: name, title: `${long} (${i + 1})` });
      button.setAttribute("role", "tab");
      button.dataset.kind = kind;
      button.addEventListener("click", () => this.choose(kind));
      tabs.append(button);
    });
  }

  buildThumbs() {
    const thumbs = document.getElementById("thumbs");
    for (let i = 0; i < 4; i += 1) {
      const figure = document.createElement("figure");
      figure.className = "thumb";
      figure.innerHTML = "<div class='picture'><canvas></canvas></div><figcaption></figcaption>";
      const canvas = figure.querySelector("canvas");
      const slot = { picture: new Picture(canvas, false), canvas, caption: figure.querySelector("figcaption") };
      figure.addEventListener("dblclick", () => this.choose(slot.kind));
      figure.title = "Double click, or its number key, shows it large";
      thumbs.append(figure);
      this.pictures.push(slot);
      this.listen(slot);
    }
  }

  buildTools() {
    const by = (id) => document.getElementById(id);
    for (const id of ["colours", "low", "high", "flip", "log"]) by(id).addEventListener("change", () => this.draw());
  }

  takeTables(tables) {
    if (this.tables) return;
    this.tables = {};
    const select = document.getElementById("colours");
    for (const { name, colours } of tables) {
      const table = new Uint32Array(256);
      for (let i = 0; i < 256; i += 1) {
        const rgb = parseInt(colours.slice(6 * i, 6 * i + 6), 16);
        table[i] = (0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
      }
      this.tables[name] = table;
      select.append(Object.assign(document.createElement("option"), { value: name, textContent: name }));
    }
  }

  takeSession(session) {
    this.session = session;
    this.takeTables(session.colours);
    this.circle = { center_px: [...session.disk.center_px], radius_px: session.disk.radius_px };
    const { disk } = session;
    this.labels.pattern = `${disk.pixels} BF pixels, radius ${significant(disk.radius_px, 4)} px`;
    this.labels.virtual_bf = `mean of ${disk.pixels} BF pixels`;
    this.choose(this.main);
  }

  // Which pictures are asked for, in the time of a frame or at leisure.
  wanted(dragging) {
    const shown = new Set(this.pictures.map((slot) => slot.kind));
    const [rows, cols] = this.session.scan_shape;
    const list = ["phase"];
    if (shown.has("amplitude") && (!dragging || rows * cols <= 262144)) list.push("amplitude");
    if (shown.has("spectrum") && (!dragging || rows * cols <= 65536 || this.main === "spectrum")) list.push("spectrum");
    if (!dragging) list.push("mean_phase");
    return list;
  }

  choose(kind) {
    if (!KINDS[kind]) return;
    this.main = kind;
    for (const tab of document.querySelectorAll("#tabs button")) tab.setAttribute("aria-selected", String(tab.dataset.kind === kind));
    const rest = ["phase", "amplitude", "spectrum", "pattern", "virtual_bf"].filter((k) => k !== kind).slice(0, 4);
    this.pictures[0].kind = kind;
    rest.forEach((k, i) => {
      this.pictures[i + 1].kind = k;
    });
    this.canvas.setAttribute("aria-label", `${KINDS[kind].long}; arrow keys move the value cursor`);
    this.region = null;
    document.getElementById("refit").disabled = true;
    document.getElementById("log-label").hidden = kind !== "pattern";
    this.draw();
  }

  // The candidate moved on: what is shown belongs to an earlier one.
  moved() {
    for (const kind of ["amplitude", "spectrum", "mean_phase"]) if (this.planes[kind]) this.stale.add(kind);
  }

  show(header, planes) {
    for (const [kind, plane] of Object.entries(planes)) {
      this.planes[kind] = plane;
      this.stale.delete(kind);
      const share = header.bf_used < header.bf_pixels;
      const percent = Math.round((100 * header.bf_used) / header.bf_pixels);
      this.labels[kind] = share ? `${header.bf_used} of ${header.bf_pixels} BF (${percent} %) while dragging` : `all ${header.bf_pixels} BF`;
    }
    if (!header.spectrum_step_per_a || !planes.spectrum) return;
    this.spectrumStep = header.spectrum_step_per_a;
    const { scan_step_a: step, semiangle_per_a: alpha } = this.session;
    if (2 * alpha > 0.5 / Math.max(...step)) this.labels.spectrum += `, 2α/λ (${significant(2 * alpha, 3)} 1/Å) is beyond Nyquist`;
  }

  step(kind) {
    if (kind === "pattern") return this.session.det_step_mrad;
    if (kind === "spectrum") return this.spectrumStep ?? [1, 1];
    return this.session.scan_step_a;
  }

  draw() {
    if (!this.session) return;
    for (const slot of this.pictures) this.drawOne(slot);
  }

  drawOne(slot) {
    const { kind } = slot;
    const by = (id) => document.getElementById(id);
    const fixed = kind === "spectrum" || kind === "pattern";
    const plane = this.planes[kind];
    const signed = kind === "phase" || kind === "mean_phase";
    slot.place = slot.picture.draw({
      plane,
      step: this.step(kind),
      table: this.tables[kind === "spectrum" ? "inferno" : by("colours").value],
      low: kind === "spectrum" ? 30 : kind === "pattern" ? 0 : Number(by("low").value),
      high: fixed ? 100 : Number(by("high").value),
      unit: KINDS[kind].unit,
      scaleUnit: { pattern: "mrad", spectrum: "1/Å" }[kind] ?? "Å",
      negative: signed && by("flip").checked,
      logarithm: kind === "pattern" && by("log").checked,
      stale: this.stale.has(kind),
      marks: (context, place) => this.marks(context, place, slot, plane),
    });
    const flipped = signed && by("flip").checked ? ", sign flipped for display" : "";
    const label = plane ? `${this.labels[kind] ?? ""}${this.stale.has(kind) ? ", stale" : ""}${flipped}` : "not computed yet";
    if (slot.caption) {
      slot.caption.textContent = `${KINDS[kind].name}: ${label}`;
      slot.caption.title = slot.caption.textContent;
    } else if (plane) text(slot.canvas.getContext("2d"), `${KINDS[kind].long}, ${label}`, (slot.place?.x ?? 0) + 6, (slot.place?.y ?? 0) + 16, 12, "left");
  }

  marks(context, place, slot, plane) {
    const ring = (y, x, ry, rx, dash, colour) => {
      context.beginPath();
      context.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
      for (const [width, style] of [[3.5, "rgba(0,0,0,.6)"], [1.6, colour]]) {
        context.lineWidth = width;
        context.strokeStyle = style;
        context.setLineDash(dash);
        context.stroke();
      }
      context.setLineDash([]);
    };
    context.save();
    context.beginPath();
    context.rect(place.x, place.y, place.w, place.h);
    context.clip();
    const pixel = [place.h / plane.rows, place.w / plane.cols];
    const at = (row, col) => [place.y + (row + 0.5) * pixel[0], place.x + (col + 0.5) * pixel[1]];
    if (slot.kind === "pattern") {
      const { center_px: center, radius_px: radius } = this.circle;
      const [y, x] = at(...center);
      ring(y, x, radius * pixel[0], radius * pixel[1], this.pending ? [6, 4] : [], "#3ddbd9");
      context.fillStyle = "#3ddbd9";
      context.fillRect(x - 2, y - 2, 4, 4);
    } else if (slot.kind === "spectrum") {
      const [y, x] = at(Math.floor(plane.rows / 2), Math.floor(plane.cols / 2));
      for (const [m, dash, name] of [[2, [], "2α/λ"], [1, [7, 5], "α/λ"]]) {
        const [ry, rx] = this.step("spectrum").map((s, i) => ((m * this.session.semiangle_per_a) / s) * pixel[i]);
        ring(y, x, ry, rx, dash, "#3ddbd9");
        // A ring that leaves the picture before its name stays without one.
        const [tx, ty] = [x + 0.72 * rx, y - 0.72 * ry];
        if (tx < place.x + place.w - 20 && ty > place.y + 14) text(context, name, tx, ty, slot.caption ? 10 : 12, "left");
      }
    } else if (slot === this.pictures[0] && this.region) {
      const [r0, c0, r1, c1] = this.region;
      context.strokeStyle = "#3ddbd9";
      context.lineWidth = 1.6;
      context.strokeRect(place.x + c0 * pixel[1], place.y + r0 * pixel[0], (c1 - c0) * pixel[1], (r1 - r0) * pixel[0]);
    }
    if (slot === this.pictures[0] && this.cross) {
      const [y, x] = at(...this.cross);
      context.strokeStyle = "#fff";
      context.lineWidth = 1;
      context.strokeRect(x - pixel[1] / 2 - 1, y - pixel[0] / 2 - 1, pixel[1] + 2, pixel[0] + 2);
    }
    context.restore();
  }

  // Row and column under the pointer, with fractions; pixel (r, c) spans r - 0.5 to r + 0.5.
  under(slot, event) {
    const plane = this.planes[slot.kind];
    if (!slot.place || !plane) return null;
    const bounds = slot.canvas.getBoundingClientRect();
    const row = ((event.clientY - bounds.top - slot.place.y) / slot.place.h) * plane.rows - 0.5;
    const col = ((event.clientX - bounds.left - slot.place.x) / slot.place.w) * plane.cols - 0.5;
    return { row, col, plane, inside: row >= -0.5 && col >= -0.5 && row < plane.rows - 0.5 && col < plane.cols - 0.5 };
  }

  listen(slot) {
    const { canvas } = slot;
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      const point = this.under(slot, event);
      if (!point?.inside) return;
      if (slot.kind === "pattern") {
        const [dr, dc] = [point.row - this.circle.center_px[0], point.col - this.circle.center_px[1]];
        const away = Math.hypot(dr, dc);
        grip = Math.abs(away - this.circle.radius_px) < Math.max(1.5, 0.15 * this.circle.radius_px) || away > this.circle.radius_px ? { edge: true } : { offset: [dr, dc] };
      } else if (slot === this.pictures[0] && event.shiftKey && slot.kind !== "spectrum") {
        grip = { from: [Math.round(point.row), Math.round(point.col)] };
      }
      if (grip) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const point = this.under(slot, event);
      if (!point) return;
      if (grip?.edge) this.moveCircle(this.circle.center_px, Math.hypot(point.row - this.circle.center_px[0], point.col - this.circle.center_px[1]));
      else if (grip?.offset) this.moveCircle([point.row - grip.offset[0], point.col - grip.offset[1]], this.circle.radius_px);
      else if (grip?.from) this.measure(grip.from, [Math.round(point.row), Math.round(point.col)], point.plane, slot.kind);
      else if (point.inside) this.read(slot, Math.round(point.row), Math.round(point.col));
    });
    canvas.addEventListener("pointerup", () => {
      if (grip && !grip.from) this.applyCircle();
      grip = null;
    });
    canvas.addEventListener("keydown", (event) => this.key(slot, event));
  }

  key(slot, event) {
    const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const plane = this.planes[slot.kind];
    if (!plane) return;
    if (slot.kind === "pattern") {
      const step = event.shiftKey ? 1 : 0.25;
      const { center_px: center, radius_px: radius } = this.circle;
      if (way) this.moveCircle([center[0] + way[0] * step, center[1] + way[1] * step], radius);
      else if (event.key === "+" || event.key === "=") this.moveCircle(center, radius + step);
      else if (event.key === "-") this.moveCircle(center, radius - step);
      else if (event.key === "Enter") this.applyCircle();
      else if (event.key === "Escape") this.revertCircle();
      else return;
    } else if (way) {
      const step = event.shiftKey ? 10 : 1;
      const [row, col] = this.cross ?? [plane.rows >> 1, plane.cols >> 1];
      const within = (v, n) => Math.min(n - 1, Math.max(0, v));
      this.cross = [within(row + way[0] * step, plane.rows), within(col + way[1] * step, plane.cols)];
      this.read(slot, ...this.cross);
      this.draw();
    } else if (event.key === "Enter" && slot === this.pictures[0] && slot.kind !== "spectrum") {
      // The first Enter marks a corner, the second one the corner across.
      if (this.corner) this.measure(this.corner, this.cross, plane, slot.kind);
      else this.cursor.textContent = "first corner of a region; move on and press Enter";
      this.corner = this.corner ? null : (this.cross ??= [plane.rows >> 1, plane.cols >> 1]);
      this.draw();
    } else if (event.key === "Escape") {
      this.corner = null;
      this.cross = null;
      this.region = null;
      document.getElementById("refit").disabled = true;
      this.draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  moveCircle(center, radius) {
    const [rows, cols] = this.session.det_shape;
    const within = (v, n) => Math.min(n - 1, Math.max(0, v));
    this.circle = { center_px: [within(center[0], rows), within(center[1], cols)], radius_px: Math.max(0.75, radius) };
    this.pending = true;
    const [r, c] = this.circle.center_px;
    this.cursor.textContent = `bright-field circle: centre (${r.toFixed(2)}, ${c.toFixed(2)}) px, radius ${this.circle.radius_px.toFixed(2)} px; taken on release (Enter)`;
    this.draw();
  }

  applyCircle() {
    if (!this.pending) return;
    this.app.say("reading and preparing the new bright-field disk…");
    this.app.link.send({ kind: "disk", ...this.circle });
  }

  revertCircle() {
    this.pending = false;
    this.circle = { center_px: [...this.session.disk.center_px], radius_px: this.session.disk.radius_px };
    this.draw();
  }

  read(slot, row, col) {
    const { kind } = slot;
    const plane = this.planes[kind];
    const value = plane.values[row * plane.cols + col];
    const step = this.step(kind);
    let where;
    if (kind === "spectrum") {
      const q = Math.hypot((row - Math.floor(plane.rows / 2)) * step[0], (col - Math.floor(plane.cols / 2)) * step[1]);
      where = `|q| ${significant(q, 3)} 1/Å${q > 0 ? `, ${significant(1 / q, 3)} Å` : ""}`;
    } else if (kind === "pattern") {
      const { center_px: center } = this.session.disk;
      where = `${significant(Math.hypot((row - center[0]) * step[0], (col - center[1]) * step[1]), 3)} mrad from the centre`;
    } else {
      where = `${(row * step[0]).toFixed(2)} Å down, ${(col * step[1]).toFixed(2)} Å across`;
    }
    this.cursor.textContent = `${KINDS[kind].name} row ${row}, column ${col}; ${where}: ${significant(value, 4)} ${KINDS[kind].unit}`;
  }

  measure(from, to, plane, kind) {
    const span = (a, b, n) => [Math.max(0, Math.min(a, b)), Math.min(n, Math.max(a, b) + 1)];
    const [r0, r1] = span(from[0], to[0], plane.rows);
    const [c0, c1] = span(from[1], to[1], plane.cols);
    this.region = [r0, c0, r1, c1];
    document.getElementById("refit").disabled = false;
    let [n, sum, squares] = [0, 0, 0];
    for (let r = r0; r < r1; r += 1) {
      for (let c = c0; c < c1; c += 1) {
        const v = plane.values[r * plane.cols + c];
        n += 1;
        sum += v;
        squares += v * v;
      }
    }
    const mean = sum / n;
    const spread = Math.sqrt(Math.max(0, squares / n - mean * mean));
    const step = this.step(kind);
    this.cursor.textContent = `region rows ${r0}–${r1 - 1}, columns ${c0}–${c1 - 1} (${((r1 - r0) * step[0]).toFixed(1)} × ${((c1 - c0) * step[1]).toFixed(1)} Å): mean ${significant(mean, 4)}, standard deviation ${significant(spread, 3)} ${KINDS[kind].unit}`;
    this.draw();
  }
}
