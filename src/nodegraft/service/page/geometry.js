// Geometry of the map: which nodes are where, and how dots are painted. Nothing here knows the page.

const CELLS = 96, COLOURS = 10;

// A grid over the unit square, to find the nodes near a point without reading all of them.
export class Grid {
  constructor(xs, ys) {
    Object.assign(this, { xs, ys });
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    const cells = Uint32Array.from(xs, (x, index) => this.cell(x, ys[index]));
    for (const cell of cells) this.starts[cell + 1] += 1;
    for (let cell = 0; cell < CELLS * CELLS; cell += 1) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.nodes = new Uint32Array(xs.length);
    cells.forEach((cell, index) => { this.nodes[next[cell]++] = index; });
  }

  line = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));

  cell = (x, y) => this.line(y) * CELLS + this.line(x);

  // The nearest node within a radius in each direction, or null.
  nearest(x, y, radiusX, radiusY, isShown) {
    let best = null, least = 1;
    for (let row = this.line(y - radiusY); row <= this.line(y + radiusY); row += 1)
      for (let column = this.line(x - radiusX); column <= this.line(x + radiusX); column += 1)
        for (let at = this.starts[row * CELLS + column]; at < this.starts[row * CELLS + column + 1]; at += 1) {
          const node = this.nodes[at];
          const distance = ((this.xs[node] - x) / radiusX) ** 2 + ((this.ys[node] - y) / radiusY) ** 2;
          if (distance < least && isShown(node)) [best, least] = [node, distance];
        }
    return best;
  }
}

export function isInside(points, x, y) {
  let inside = false;
  for (let index = 0, before = points.length - 1; index < points.length; before = index, index += 1) {
    const [x1, y1] = points[index], [x2, y2] = points[before];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

// How much of each pixel a dot covers, or its ring.
export function stamp(radius, isRing = false) {
  const reach = Math.ceil(radius), size = 2 * reach + 1, cover = new Float32Array(size * size);
  for (let y = -reach; y <= reach; y += 1)
    for (let x = -reach; x <= reach; x += 1) {
      const distance = Math.hypot(x, y), edge = isRing ? radius / 3.5 - Math.abs(distance - radius * 0.8) : radius - distance;
      cover[(y + reach) * size + x + reach] = Math.max(0, Math.min(1, edge + 0.5));
    }
  return { reach, size, cover };
}

// Blend a stamp into an image at every node of `isPainted`, in the node's colour; far faster than a
// path for each dot. `palette` has red, green and blue of each colour, one after the other.
export function paint(image, { reach, size, cover }, { xs, ys, left, top, across, down }, isPainted, colours, palette, opacity) {
  const { data, width, height } = image;
  for (let node = 0; node < xs.length; node += 1) {
    const startX = Math.round(left + xs[node] * across) - reach, startY = Math.round(top + ys[node] * down) - reach;
    if (startX + size <= 0 || startY + size <= 0 || startX >= width || startY >= height || !isPainted(node)) continue;
    const colour = 3 * colours[node], red = palette[colour], green = palette[colour + 1], blue = palette[colour + 2];
    const firstX = Math.max(0, -startX), endX = Math.min(size, width - startX), endY = Math.min(size, height - startY);
    for (let y = Math.max(0, -startY); y < endY; y += 1)
      for (let x = firstX; x < endX; x += 1) {
        const alpha = cover[y * size + x] * opacity;
        if (alpha === 0) continue;
        const at = 4 * ((startY + y) * width + startX + x);
        data[at] += alpha * (red - data[at]);
        data[at + 1] += alpha * (green - data[at + 1]);
        data[at + 2] += alpha * (blue - data[at + 2]);
      }
  }
}

// The middle of each class: medians of the nodes that are predicted to belong to it.
export function middles(count, classes, xs, ys) {
  const members = Array.from({ length: count }, () => []);
  classes.forEach((number, index) => { if (number >= 0) members[number].push(index); });
  const median = (values) => Float64Array.from(values).sort()[values.length >> 1];
  return members.map((nodes) => (nodes.length
    ? { size: nodes.length, x: median(nodes.map((node) => xs[node])), y: median(nodes.map((node) => ys[node])) } : null));
}

// A colour for each class, in order: up to ten classes get one each; of more, each gets the colour
// whose classes are farthest away on the map, so that clusters side by side differ.
export function spreadColours(places) {
  const chosen = [];
  places.forEach((place, index) => {
    if (places.length <= COLOURS || place == null) return chosen.push(index % COLOURS);
    const nearest = new Array(COLOURS).fill(Infinity);
    chosen.forEach((colour, other) => {
      if (places[other]) nearest[colour] = Math.min(nearest[colour], Math.hypot(places[other].x - place.x, places[other].y - place.y));
    });
    return chosen.push(nearest.indexOf(Math.max(...nearest)));
  });
  return chosen;
}
