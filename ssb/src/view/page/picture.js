// Drawing an array: element (0, 0) at the top left, rows down, columns to the right, never flipped.

// Rounds down to 1, 2 or 5 times a power of ten.
export function roundLength(value) {
  const decade = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].map((m) => m * decade).find((v) => v <= value) ?? decade;
}

export function significant(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

// Values at two percentiles, from a sample of at most 16384 values.
export function percentiles(values, low, high) {
  const stride = Math.max(1, Math.floor(values.length / 16384)) | 1;
  const sample = [];
  for (let i = 0; i < values.length; i += stride) if (Number.isFinite(values[i])) sample.push(values[i]);
  const sorted = Float32Array.from(sample).sort();
  if (!sorted.length) return [0, 1];
  const at = (percent) => sorted[Math.round((percent / 100) * (sorted.length - 1))];
  const [a, b] = [at(low), at(high)];
  return b > a ? [a, b] : [a - Math.max(1e-6, Math.abs(a) * 1e-3), a + Math.max(1e-6, Math.abs(a) * 1e-3)];
}

// Where the array lies on the canvas, in CSS pixels; steps give the physical ratio of its sides.
export function layout(width, height, plane, step, bar) {
  const margin = bar ? 6 : 3;
  const room = [width - 2 * margin - (bar ? 64 : 0), height - 2 * margin];
  const size = [plane.cols * step[1], plane.rows * step[0]];
  const scale = Math.max(1e-9, Math.min(room[0] / size[0], room[1] / size[1]));
  const [w, h] = [size[0] * scale, size[1] * scale];
  return { x: margin + (room[0] - w) / 2, y: margin + (room[1] - h) / 2, w, h };
}

export class Picture {
  constructor(canvas, bar) {
    this.canvas = canvas;
    this.bar = bar;
    this.store = document.createElement("canvas");
  }

  // Draws `plane` and returns its place; `marks(context, place)` draws over it.
  draw({ plane, step, table, low, high, unit, scaleUnit, negative, stale, logarithm, marks }) {
    const { canvas, store } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return null;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!plane) return null;
    const shown = logarithm ? plane.values.map((v) => Math.log10(Math.max(v, 1e-6))) : plane.values;
    let [a, b] = percentiles(shown, low, high);
    if (logarithm) a = Math.max(a, b - 3.5);
    this.fill(plane, shown, a, b, table, negative);
    const place = layout(width, height, plane, step, this.bar);
    context.imageSmoothingEnabled = false;
    context.globalAlpha = stale ? 0.45 : 1;
    context.drawImage(store, place.x, place.y, place.w, place.h);
    context.globalAlpha = 1;
    marks?.(context, place);
    if (scaleUnit) this.scaleBar(context, place, plane.cols * step[1], scaleUnit);
    if (this.bar) this.colourBar(context, place, width, table, negative ? [-b, -a] : [a, b], logarithm ? `log₁₀ ${unit}` : unit);
    return place;
  }

  fill(plane, values, a, b, table, negative) {
    const { store } = this;
    if (store.width !== plane.cols || store.height !== plane.rows) {
      store.width = plane.cols;
      store.height = plane.rows;
      this.data = null;
    }
    const context = store.getContext("2d");
    this.data ??= context.createImageData(plane.cols, plane.rows);
    const pixels = new Uint32Array(this.data.data.buffer);
    const scale = (negative ? -255 : 255) / (b - a);
    const offset = negative ? b : a;
    for (let i = 0; i < pixels.length; i += 1) {
      const index = (values[i] - offset) * scale;
      pixels[i] = table[index > 0 ? (index < 255 ? index | 0 : 255) : 0];
    }
    context.putImageData(this.data, 0, 0);
  }

  scaleBar(context, place, extent, unit) {
    const length = roundLength(extent * (this.bar ? 0.25 : 0.4));
    const pixels = (length / extent) * place.w;
    const [x, y] = [place.x + 8, place.y + place.h - 9];
    context.fillStyle = "rgba(0,0,0,.55)";
    context.fillRect(x - 4, y - (this.bar ? 20 : 16), pixels + 8, this.bar ? 27 : 22);
    context.fillStyle = "#fff";
    context.fillRect(x, y, pixels, 3);
    text(context, `${significant(length, 2)} ${unit}`, x + pixels / 2, y - 4, this.bar ? 13 : 11, "center");
  }

  colourBar(context, place, width, table, [a, b], unit) {
    const x = Math.min(place.x + place.w + 8, width - 62);
    for (let i = 0; i < 64; i += 1) {
      const colour = table[Math.round((1 - i / 63) * 255)];
      context.fillStyle = `rgb(${colour & 255},${(colour >> 8) & 255},${(colour >> 16) & 255})`;
      context.fillRect(x, place.y + (i / 64) * place.h, 14, place.h / 64 + 1);
    }
    const steps = 4;
    const digits = Math.min(6, Math.max(0, Math.ceil(1.5 - Math.log10(b - a))));
    for (let i = 0; i <= steps; i += 1) {
      const y = place.y + (1 - i / steps) * place.h;
      text(context, (a + (i / steps) * (b - a)).toFixed(digits), x + 18, Math.min(Math.max(y + 4, place.y + 10), place.y + place.h - 1), 11, "left");
    }
    context.save();
    context.translate(x + 55, place.y + place.h * 0.375);
    context.rotate(-Math.PI / 2);
    text(context, unit, 0, 0, 11, "center");
    context.restore();
  }
}

export function text(context, string, x, y, size, align) {
  context.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  context.textAlign = align;
  context.lineWidth = 3;
  context.strokeStyle = "rgba(0,0,0,.75)";
  context.strokeText(string, x, y);
  context.fillStyle = "#fff";
  context.fillText(string, x, y);
}
