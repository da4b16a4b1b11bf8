/**
 * The graphs of a partition's vectors that are stored in files. A graph is built by queries; after a start it is taken
 * over from its file, in slices, before a query may build it.
 *
 *  KGR1 one file of a partition is read and taken over at a time, so that its bytes are in memory once
 */
import type { Keyspace } from './keyspace.js';
import type { StorableContents } from './stored-contents.js';
import type { GraphFile } from './types/graph-file.js';

export class KeyGraphs {
  /** Whether graphs are stored in files; without files there is no work here. */
  hasFiles = false;
  /** Grows when keys have graphs for the first time or no longer, and when another file may be read. */
  generation = 0;
  #files: GraphFile[] = [];
  #reading: GraphFile | undefined;
  #areAllRead = true;
  #version = 0;

  constructor(private readonly keyspace: Keyspace) {}

  /** Keys with graphs. */
  get size(): number {
    return this.hasFiles ? this.keyspace.derived.graphs.size : 0;
  }

  all(): Iterable<StorableContents> {
    this.sync();
    return this.#files;
  }

  get hasWork(): boolean {
    return this.#reading?.isRestoring === true;
  }

  /** To be called when keys may have changed, or a file was read. */
  sync(): void {
    if (!this.hasFiles) return;
    if (this.#version !== this.keyspace.derived.graphVersion) this.#update();
    if (!this.#areAllRead) this.#readNext();
  }

  #update(): void {
    const { graphs, graphVersion } = this.keyspace.derived;
    this.#version = graphVersion;
    this.generation += 1;
    this.#files = [];
    for (const key of graphs) {
      const value = this.keyspace.stored(key);
      const file = typeof value === 'object' ? value.graphFile : undefined;
      if (file === undefined) continue;
      file.nameBy(key);
      this.#files.push(file);
    }
    if (this.#reading !== undefined && !this.#files.includes(this.#reading)) this.#reading = undefined;
    this.#areAllRead = false;
  }

  /** Works until no file is taken over, or `isOver`. Must not be called while a command is half done. */
  workUntil(isOver: () => boolean): void {
    this.sync();
    while (this.#reading?.isRestoring === true && !isOver()) this.#reading.restoreStep();
    this.sync();
  }

  #readNext(): void {
    const reading = this.#reading;
    if (reading !== undefined && (reading.wantsFile || reading.isRestoring)) return;
    this.#reading = this.#files.find((file) => file.isWaiting);
    this.#areAllRead = this.#reading === undefined;
    if (this.#reading === undefined) return;
    this.#reading.admit();
    this.generation += 1;
  }
}
