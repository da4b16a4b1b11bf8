/**
 * The stored form of a graph: its nodes in some order, each with the name and checksum of its vector, and its links as
 * places in that order. Vectors are not part of it.
 *
 *   version and number of nodes: each 32 bits, little-endian
 *   for each node: bytes of the name (32 bits), the name, the checksum (32 bits), the number of levels (8 bits), and for
 *   each level the number of links (8 bits) and the links (32 bits each)
 *
 *  SGR1 `read` returns a graph only if all of its places exist
 */

const VERSION = 1;
const HEAD_BYTES = 8;
const PIECE_BYTES = 64 * 1024;
/** Nodes that are written or read between two pauses: about 1 ms. */
const SLICE_NODES = 256;

import { bufferOver } from '../../kernel/index.js';
export interface StoredNode {
  /** Empty: its vector was removed, and the graph is not mended yet. */
  readonly name: string;
  readonly checksum: number;
  /** By level, from 0 upwards. */
  readonly links: readonly (readonly number[])[];
}

export interface GraphToStore {
  readonly count: number;
  /** Each place is asked for once, in order. */
  readonly nodeAt: (place: number) => StoredNode;
}

/** The bytes in pieces; undefined: a pause. */
export function* storedGraphPieces({ count, nodeAt }: GraphToStore): Generator<Uint8Array | undefined, void> {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(VERSION, 0);
  head.writeUInt32LE(count, 4);
  let parts: Buffer[] = [head];
  let bytes = head.length;
  for (let place = 0; place < count; place += 1) {
    const node = bytesOfNode(nodeAt(place));
    parts.push(node);
    bytes += node.length;
    if (bytes >= PIECE_BYTES) {
      yield Buffer.concat(parts, bytes);
      parts = [];
      bytes = 0;
    } else if (place % SLICE_NODES === 0) yield undefined;
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes);
}

function bytesOfNode({ name, checksum, links }: StoredNode): Buffer {
  const text = Buffer.from(name);
  const linkBytes = links.reduce((sum, level) => sum + 1 + 4 * level.length, 0);
  const bytes = Buffer.allocUnsafe(4 + text.length + 4 + 1 + linkBytes);
  let at = bytes.writeUInt32LE(text.length, 0);
  at += text.copy(bytes, at);
  at = bytes.writeUInt32LE(checksum, at);
  at = bytes.writeUInt8(links.length, at);
  for (const level of links) {
    at = bytes.writeUInt8(level.length, at);
    for (const link of level) at = bytes.writeUInt32LE(link, at);
  }
  return bytes;
}

export class StoredGraph {
  private constructor(
    private readonly bytes: Buffer,
    readonly count: number,
  ) {}

  /** Undefined for bytes that are no graph, or one of another version. */
  static *read(given: Uint8Array): Generator<void, StoredGraph | undefined> {
    const bytes = bufferOver(given);
    if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== VERSION) return undefined;
    const graph = new StoredGraph(bytes, bytes.readUInt32LE(4));
    try {
      for (const [place, { links }] of graph.nodes()) {
        if (links.some((level) => level.some((link) => link >= graph.count))) return undefined;
        if (place % SLICE_NODES === 0) yield;
      }
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
    return graph;
  }

  /** All nodes, by place. */
  *nodes(): Generator<readonly [place: number, node: StoredNode], void> {
    const { bytes, count } = this;
    let at = HEAD_BYTES;
    for (let place = 0; place < count; place += 1) {
      const nameBytes = bytes.readUInt32LE(at);
      at += 4 + nameBytes;
      const name = bytes.toString('utf8', at - nameBytes, at);
      const checksum = bytes.readUInt32LE(at);
      const links: number[][] = [];
      let levels = bytes.readUInt8(at + 4);
      for (at += 5; levels > 0; levels -= 1) {
        const level: number[] = [];
        let left = bytes.readUInt8(at);
        for (at += 1; left > 0; left -= 1, at += 4) level.push(bytes.readUInt32LE(at));
        links.push(level);
      }
      yield [place, { name, checksum, links }];
    }
  }
}
