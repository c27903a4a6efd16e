// The socket: at most two wishes of a drag are under way, and the newest one waits in their place.

const MOST_UNDER_WAY = 2;

export class Link {
  constructor(handlers) {
    this.handlers = handlers;
    this.id = 0;
    this.underWay = new Map();
    this.waiting = null;
    this.frameTimes = [];
    this.lags = [];
    this.lastDrawn = 0;
    const url = new URL("socket", location.href);
    url.protocol = "ws:";
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => handlers.closed();
  }

  send(document) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(document));
  }

  // Asks for the pictures of a candidate; returns the number of the wish.
  want(candidate, dragging, planes) {
    this.id += 1;
    const wish = { kind: "image", id: this.id, candidate, dragging, planes };
    if (dragging && this.underWay.size >= MOST_UNDER_WAY) {
      this.waiting = wish;
    } else {
      this.waiting = null;
      this.begin(wish);
    }
    return this.id;
  }

  begin(wish) {
    this.underWay.set(wish.id, performance.now());
    this.send(wish);
  }

  receive(data) {
    if (typeof data === "string") {
      const document = JSON.parse(data);
      if (document.kind === "error" && document.id) this.ended(document.id);
      this.handlers[document.kind]?.(document);
      return;
    }
    const length = new DataView(data).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    let offset = 4 + length;
    const planes = {};
    for (const { name, rows, cols } of header.planes) {
      planes[name] = { rows, cols, values: new Float32Array(data, offset, rows * cols) };
      offset += 4 * rows * cols;
    }
    if (header.kind === "image") {
      header.sent = this.underWay.get(header.id);
      this.ended(header.id);
    }
    this.handlers[header.kind]?.(header, planes);
  }

  // An answer also ends every earlier wish: a newer one took its place.
  ended(id) {
    for (const under of [...this.underWay.keys()]) if (under <= id) this.underWay.delete(under);
    if (this.waiting && this.underWay.size < MOST_UNDER_WAY) {
      const wish = this.waiting;
      this.waiting = null;
      this.begin(wish);
    }
  }

  // A picture of a drag is on the screen.
  drawn(header) {
    if (!header.dragging) {
      this.lastDrawn = 0;
      return;
    }
    const now = performance.now();
    const keep = (list, value) => {
      list.push(value);
      if (list.length > 200) list.shift();
    };
    if (this.lastDrawn && now - this.lastDrawn < 1500) keep(this.frameTimes, now - this.lastDrawn);
    if (header.sent) keep(this.lags, now - header.sent);
    this.lastDrawn = now;
  }

  // Median and 95th percentile of the time between pictures, and of the time behind the hand, in ms.
  frameTime() {
    const at = (list, share) => {
      const sorted = Float64Array.from(list).sort();
      return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    };
    if (this.frameTimes.length < 3) return null;
    return {
      median: at(this.frameTimes, 0.5), p95: at(this.frameTimes, 0.95), lag: at(this.lags, 0.5),
      count: this.frameTimes.length,
    };
  }
}
