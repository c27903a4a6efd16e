// Starting and stopping a fit; its trials on a loss plot and a C10-C12 scatter.

import { significant } from "./picture.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function open(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = '10px system-ui, "DejaVu Sans", sans-serif';
  return { context, width, height, box: { x: 42, y: 14, w: width - 48, h: height - 32 } };
}

export class FitPanel {
  constructor(app) {
    this.app = app;
    this.trials = [];
    this.chosen = -1;
    this.running = false;
    this.button = document.getElementById("fit-button");
    this.line = document.getElementById("fit-line");
    this.lossPlot = document.getElementById("loss-plot");
    this.scatter = document.getElementById("scatter");
    this.button.addEventListener("click", () => this.toggle());
    for (const canvas of [this.lossPlot, this.scatter]) {
      canvas.addEventListener("click", (event) => this.click(canvas, event));
      canvas.addEventListener("keydown", (event) => {
        const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
        if (way) this.choose(this.chosen < 0 ? (way > 0 ? 0 : this.trials.length - 1) : this.chosen + way);
        else if (event.key === "Home") this.choose(this.best());
        else return;
        event.preventDefault();
      });
    }
    const again = () => this.draw();
    new ResizeObserver(again).observe(document.getElementById("plots"));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  }

  toggle() {
    const { link, controls } = this.app;
    if (this.running) {
      link.send({ kind: "cancel_fit" });
      return;
    }
    this.mine = true;
    const whole = (id) => Math.max(0, Math.round(Number(document.getElementById(id).value) || 0));
    link.send({ kind: "fit", method: document.getElementById("method").value, candidate: controls.candidate(), search: controls.search(), trials: whole("trials"), seed: whole("seed") });
  }

  takeTrials({ from, trials }) {
    this.trials.length = from;
    this.trials.push(...trials);
    if (this.chosen >= this.trials.length) this.chosen = -1;
    if (!this.drawing) {
      this.drawing = true;
      requestAnimationFrame(() => {
        this.drawing = false;
        this.draw();
      });
    }
    if (this.running) this.line.textContent = `${this.task ?? "searching"}: ${this.trials.length} evaluations${this.bestText()}`;
  }

  bestText() {
    const best = this.trials[this.best()];
    return best ? `, lowest loss ${significant(best.loss, 6)} rad²` : "";
  }

  takeProgress({ task, done, total }) {
    if (this.running) this.task = total ? `${task} ${done}/${total}` : task;
    else this.app.say(total ? `${task}: ${done} of ${total}` : task);
  }

  takeState(state) {
    this.running = state.state === "running";
    this.button.textContent = this.running ? "Stop fit" : "Start fit";
    this.button.classList.toggle("stop", this.running);
    if (this.running) {
      this.chosen = -1;
      this.line.textContent = "the fit begins…";
      return;
    }
    if (state.state === "failed") {
      this.line.textContent = state.message;
      this.app.say(`fit: ${state.message}`, "bad");
      return;
    }
    const word = state.state === "done" ? "fit done" : "fit stopped";
    if (!state.best) {
      this.line.textContent = `${word} before a first result`;
      return;
    }
    const notes = [...(state.warnings ?? [])];
    const sign = state.column_sign ? `; atom columns ${state.column_sign.state}` : "";
    this.line.textContent = `${word} in ${significant(state.seconds, 3)} s: ${state.evaluations} evaluations, loss ${significant(state.loss, 6)} rad²${sign}. ${notes.join(" · ")}`;
    this.app.fitted(state.best, word, this.mine);
    this.mine = false;
  }

  best() {
    let best = -1;
    this.trials.forEach((t, i) => {
      if (t.eligible && t.loss > 0 && (best < 0 || t.loss < this.trials[best].loss)) best = i;
    });
    return best;
  }

  choose(index) {
    if (index < 0 || index >= this.trials.length) return;
    this.chosen = index;
    const trial = this.trials[index];
    const note = trial.eligible ? "" : " (degenerate: its loss is not comparable)";
    this.line.textContent = `trial ${index}${trial.method ? `, ${trial.method}` : ""}: loss ${significant(trial.loss, 6)} rad²${note}`;
    this.app.controls.go(trial.candidate);
    this.draw();
  }

  click(canvas, event) {
    const [x, y] = [event.offsetX, event.offsetY];
    let [nearest, least] = [-1, 400];
    (canvas === this.lossPlot ? this.lossPoints : this.scatterPoints)?.forEach(([px, py], i) => {
      const away = (px - x) ** 2 + (py - y) ** 2;
      if (away < least) [nearest, least] = [i, away];
    });
    this.choose(nearest);
  }

  draw() {
    this.lossPoints = this.plot(this.lossPlot, {
      title: "loss (rad², log) against trial",
      x: this.trials.map((_, i) => i),
      y: this.trials.map((t) => (t.loss > 0 ? Math.log10(t.loss) : NaN)),
      label: (v) => significant(10 ** v, 3),
      line: true,
    });
    const nm = (key) => this.trials.map((t) => t.candidate[key] ?? 0);
    this.scatterPoints = this.plot(this.scatter, { title: "C12 against C10 (nm)", x: nm("C10_nm"), y: nm("C12_nm"), label: (v) => significant(v, 3) });
  }

  plot(canvas, { title, x, y, label, line }) {
    const { context, width, height, box } = open(canvas);
    if (width < 60 || height < 60) return [];
    const [ink, quiet, accent, bad, rule] = ["--ink", "--quiet", "--accent", "--bad", "--line"].map(colour);
    context.clearRect(0, 0, width, height);
    context.fillStyle = quiet;
    context.textAlign = "left";
    context.fillText(title, 4, 10);
    context.strokeStyle = rule;
    context.strokeRect(box.x, box.y, box.w, box.h);
    if (!x.length) {
      context.fillText("no trials yet", box.x + 8, box.y + box.h / 2);
      return [];
    }
    const range = (list) => {
      let [a, b] = [Infinity, -Infinity];
      for (const v of list) if (Number.isFinite(v)) [a, b] = [Math.min(a, v), Math.max(b, v)];
      const pad = 0.05 * (b - a) || 0.5;
      return [a - pad, b + pad];
    };
    const [[x0, x1], [y0, y1]] = [range(x), range(y)];
    const points = x.map((v, i) => [box.x + ((v - x0) / (x1 - x0)) * box.w, box.y + (1 - (y[i] - y0) / (y1 - y0)) * box.h]);
    context.fillStyle = ink;
    context.textAlign = "right";
    context.fillText(label(y1), box.x - 2, box.y + 8);
    context.fillText(label(y0), box.x - 2, box.y + box.h);
    context.textAlign = "left";
    context.fillText(line ? "0" : significant(x0, 2), box.x, height - 5);
    context.textAlign = "right";
    context.fillText(line ? String(x.length - 1) : significant(x1, 2), box.x + box.w, height - 5);
    this.dots(context, points, line, { accent, bad, quiet, ink });
    return points;
  }

  dots(context, points, line, { accent, bad, quiet, ink }) {
    if (line) {
      context.strokeStyle = accent;
      context.lineWidth = 1.5;
      context.beginPath();
      let lowest = Infinity;
      points.forEach(([px, py], i) => {
        const { eligible, loss } = this.trials[i];
        if (!eligible) return;
        if (loss < lowest) {
          if (lowest < Infinity) context.lineTo(px, this.lowestY);
          context[lowest < Infinity ? "lineTo" : "moveTo"](px, py);
          [lowest, this.lowestY] = [loss, py];
        } else context.lineTo(px, this.lowestY);
      });
      context.stroke();
    }
    const order = this.trials.map((t) => t.loss).sort((a, b) => a - b);
    const middle = order[Math.floor(order.length / 4)];
    points.forEach(([px, py], i) => {
      const { eligible, loss } = this.trials[i];
      context.fillStyle = eligible ? (loss <= middle ? accent : quiet) : bad;
      context.beginPath();
      context.arc(px, py, 2, 0, 7);
      context.fill();
    });
    const ring = (i, style) => {
      if (!points[i]) return;
      context.strokeStyle = style;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(points[i][0], points[i][1], 5, 0, 7);
      context.stroke();
    };
    ring(this.best(), accent);
    ring(this.chosen, ink);
  }
}
