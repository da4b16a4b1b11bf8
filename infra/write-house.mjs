#!/usr/bin/env node
/**
 * Writes docs/house.svg: the folders of `src` and their folders as rooms in layers, with an arrow for the imports from one
 * room to another. `--check` writes no file, and fails if the picture would change. Needs `make build`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
const { importsOf, sources } = await import('../dist/test/support/import-graph.js');
const picture = join(root, 'docs', 'house.svg');

const CHARACTER = { title: 8.2, text: 6.4 };
const LINE = { title: 24, text: 16 };
const MARGIN = 12;
const GAP = { x: 16, y: 30 };
/** Rooms of a folder that have the same layer are at most so many in a row. */
const MAX_IN_A_ROW = 5;
const SWEEPS = 8;

/** From each room, the rooms that it imports. */
function graphOf(rooms, imports, roomOf) {
  const graph = new Map(rooms.map((room) => [room, new Set()]));
  for (const { file, target } of imports) {
    if (target === undefined) continue;
    const [from, to] = [roomOf(file), roomOf(target)];
    if (from !== to && graph.has(from) && graph.has(to)) graph.get(from).add(to);
  }
  return graph;
}

/** The graph without the arrows that a chain of others implies. */
function reduced(graph) {
  const reaches = (from, to, seen = new Set()) =>
    [...graph.get(from)].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  const implied = (from, to) => [...graph.get(from)].some((next) => next !== to && reaches(next, to));
  return new Map([...graph].map(([from, tos]) => [from, [...tos].filter((to) => !implied(from, to)).sort()]));
}

/** Rows of rooms: each row imports only from rows below it, so the last one imports from none. */
function rowsOf(graph, most) {
  const layers = new Map();
  const layerOf = (room, path = []) => {
    if (path.includes(room)) throw new Error(`rooms import each other: ${[...path, room].join(', ')}`);
    if (!layers.has(room)) {
      layers.set(room, Math.max(-1, ...[...graph.get(room)].map((to) => layerOf(to, [...path, room]))) + 1);
    }
    return layers.get(room);
  };
  for (const room of graph.keys()) layerOf(room);
  const rows = [];
  for (let layer = Math.max(...layers.values()); layer >= 0; layer -= 1) {
    const row = [...graph.keys()].filter((room) => layers.get(room) === layer).sort();
    const lines = Math.max(1, Math.ceil(row.length / most));
    for (let line = 0; line < lines; line += 1) {
      rows.push(row.slice(Math.ceil((line * row.length) / lines), Math.ceil(((line + 1) * row.length) / lines)));
    }
  }
  return rows;
}

/** Rooms with their places, and arrows as lists of points: an arrow has a separate place in each row that it passes. */
function laidOut(graph, sizes, most = Number.POSITIVE_INFINITY) {
  const rows = rowsOf(graph, most).map((row) => row.map((name) => ({ name, ...sizes.get(name), up: [], down: [] })));
  const rowAt = new Map(rows.flatMap((row, at) => row.map((node) => [node.name, { node, at }])));
  const arrows = [];
  for (const [from, tos] of reduced(graph)) {
    for (const to of tos) {
      const { node: first, at: begin } = rowAt.get(from);
      const { node: last, at: end } = rowAt.get(to);
      const chain = [first];
      for (let at = begin + 1; at < end; at += 1) {
        const bend = { name: `${from} ${to}`, width: 1, height: 0, up: [], down: [] };
        rows[at].push(bend);
        chain.push(bend);
      }
      chain.push(last);
      for (let at = 1; at < chain.length; at += 1) {
        chain[at - 1].down.push(chain[at]);
        chain[at].up.push(chain[at - 1]);
      }
      arrows.push({ from, to, chain });
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const row of rows) placeRow(row);
    for (const row of isDown ? rows : [...rows].reverse()) {
      for (const node of row) node.wish = middleOf(isDown ? node.up : node.down) ?? node.x;
      row.sort((a, b) => a.wish - b.wish || (a.name < b.name ? -1 : 1));
      placeRow(row);
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) for (const row of rows) pull(row);
  const left = Math.min(...rows.flat().map(({ x, width }) => x - width / 2));
  let y = 0;
  for (const row of rows) {
    const height = Math.max(...row.map((node) => node.height));
    for (const node of row) {
      node.x -= left;
      node.y = y;
      node.rowHeight = height;
    }
    y += height + GAP.y;
  }
  const width = Math.max(...rows.flat().map((node) => node.x + node.width / 2));
  return { nodes: rows.flat().filter(({ height }) => height > 0), arrows, width, height: y - GAP.y };
}

/** Places a row in its order, centred around 0. */
function placeRow(row) {
  const total = row.reduce((sum, { width }) => sum + width + GAP.x, -GAP.x);
  let x = -total / 2;
  for (const node of row) {
    node.x = x + node.width / 2;
    x += node.width + GAP.x;
  }
}

/** Moves each node towards its neighbours as far as those of its row leave room. */
function pull(row) {
  row.forEach((node, at) => {
    const wish = middleOf([...node.up, ...node.down]);
    if (wish === undefined) return;
    const before = row[at - 1];
    const after = row[at + 1];
    const least = before === undefined ? -Infinity : before.x + (before.width + node.width) / 2 + GAP.x;
    const highest = after === undefined ? Infinity : after.x - (after.width + node.width) / 2 - GAP.x;
    node.x = Math.min(Math.max(wish, least), Math.max(highest, least));
  });
}

function middleOf(nodes) {
  return nodes.length === 0 ? undefined : nodes.reduce((sum, { x }) => sum + x, 0) / nodes.length;
}

const whole = (number) => String(Math.round(number));

/** From the bottom of the first room to the top of the last. */
function arrowPath(chain) {
  const [first, ...others] = chain;
  let y = first.y + first.rowHeight;
  let d = `M${whole(first.x)} ${whole(first.y + first.height)}V${whole(y)}`;
  let x = first.x;
  for (const node of others) {
    const half = (node.y - y) / 2;
    d += `C${whole(x)} ${whole(y + half)} ${whole(node.x)} ${whole(node.y - half)} ${whole(node.x)} ${whole(node.y)}`;
    if (node.height === 0 && node.rowHeight > 0) d += `V${whole(node.y + node.rowHeight)}`;
    x = node.x;
    y = node.y + (node.height === 0 ? node.rowHeight : 0);
  }
  return d;
}

function drawn({ nodes, arrows }, contents) {
  const paths = arrows.map(({ from, to, chain }) => `<path d="${arrowPath(chain)}"><title>${from} imports ${to}</title></path>`);
  const boxes = nodes.map((node) => {
    const { name, x, y, width, height } = node;
    return `<g transform="translate(${whole(x - width / 2)} ${whole(y)})"><rect width="${whole(width)}" height="${whole(height)}" rx="4"/>${contents(name, width)}</g>`;
  });
  return [...paths, ...boxes].join('\n');
}

const files = sources().sort();
const imports = files.flatMap(importsOf);
const topOf = (file) => file.split('/')[0];
const roomOf = (file) => file.split('/').slice(0, -1).slice(0, 2).join('/');
const tops = [...new Set(files.map(topOf))].sort();

/** The rooms in a folder, and the layout of each. */
const interiors = new Map(
  tops.map((top) => {
    const rooms = [...new Set(files.filter((file) => topOf(file) === top).map(roomOf))].filter((room) => room !== top);
    const names = new Map(rooms.sort().map((room) => [room, room.slice(top.length + 1)]));
    const sizes = new Map(rooms.map((room) => [room, { width: names.get(room).length * CHARACTER.text + 14, height: LINE.text + 8 }]));
    const interior = rooms.length === 0 ? undefined : laidOut(graphOf(rooms, imports, roomOf), sizes, MAX_IN_A_ROW);
    return [top, { interior, names }];
  }),
);
const sizes = new Map(
  tops.map((top) => {
    const { interior } = interiors.get(top);
    const width = Math.max(top.length * CHARACTER.title, interior?.width ?? 0) + 2 * MARGIN;
    return [top, { width, height: LINE.title + (interior === undefined ? 4 : interior.height + MARGIN) }];
  }),
);
const house = laidOut(graphOf(tops, imports, topOf), sizes);

function contentsOf(top, width) {
  const { interior, names } = interiors.get(top);
  const head = `<text class="top" x="${whole(width / 2)}" y="18">${top}</text>`;
  if (interior === undefined) return head;
  const inside = drawn(interior, (room, own) => `<text x="${whole(own / 2)}" y="16">${names.get(room)}</text>`);
  const left = whole((width - interior.width) / 2);
  return `${head}\n<g class="rooms" transform="translate(${left} ${LINE.title})">\n${inside}\n</g>`;
}

const [width, height] = [Math.ceil(house.width) + 2 * MARGIN, Math.ceil(house.height) + 2 * MARGIN];
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>The folders of src</title>
<desc>Written by make house. An arrow leads from a folder to one that it imports; imports that a chain of arrows implies are left out.</desc>
<style>
svg{--wall:#59636e;--room:#eef2f6;--inner:#fff;--ink:#1f2328;--line:#7d8590;background:none}
@media (prefers-color-scheme:dark){svg{--wall:#9198a1;--room:#1c2128;--inner:#2d333b;--ink:#f0f3f6;--line:#8b949e}}
rect{fill:var(--room);stroke:var(--wall)}.rooms rect{fill:var(--inner)}
text{font:11px sans-serif;fill:var(--ink);text-anchor:middle}.top{font-size:14px;font-weight:bold}
path{fill:none;stroke:var(--line);stroke-width:1.3;marker-end:url(#to)}.rooms path{stroke-width:1}
#to path{fill:var(--line);stroke:none;marker-end:none}
</style>
<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
<g transform="translate(${MARGIN} ${MARGIN})">
${drawn(house, contentsOf)}
</g>
</svg>
`;

if (!process.argv.includes('--check')) writeFileSync(picture, svg);
else if (readFileSync(picture, 'utf8') !== svg) {
  console.error('docs/house.svg is not the picture of the imports of src: run `make house`');
  process.exit(1);
}
