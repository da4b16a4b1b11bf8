/** An RDB file as batches of keys. It is always read from the start, because its checksum covers the whole file. */
import { closeSync, fstatSync, openSync } from 'node:fs';
import type { ByteString } from '../../../kernel/index.js';
import { FileBytes } from '../file-bytes.js';
import { type Batch, type KeySource, NO_PLACE, otherDatabase, type SourceBounds, type SourceKey } from '../source.js';
import { type RdbPart, readRdb } from './rdb-file.js';

export class RdbSource implements KeySource {
  constructor(
    private readonly path: string,
    private readonly bounds: SourceBounds,
    /** Undefined: the first database; others are reported. */
    private readonly database: number | undefined,
  ) {}

  get identity(): string {
    return onFile(this.path, (file) => {
      const { size, mtimeMs } = fstatSync(file);
      return `file of ${size} bytes, changed at ${new Date(mtimeMs).toISOString()}`;
    });
  }

  /** @throws DamagedFile; batches before the damage have already been returned */
  *batches(from: string | undefined): Iterable<Batch> {
    const file = openSync(this.path, 'r');
    try {
      const input = new FileBytes(file);
      yield* rdbBatches(input, this.bounds, this.database, Number(from ?? 0));
      if (!input.isAtEnd) throw input.damage('there are bytes after the end-of-file record');
    } finally {
      closeSync(file);
    }
  }
}

/** @param from keys before this offset are skipped */
export function* rdbBatches(
  input: FileBytes,
  bounds: SourceBounds,
  database: number | undefined,
  from: number,
): Generator<Batch> {
  const others = new Map<number, number>();
  let batch = new GrowingBatch();
  for (const part of readRdb(input, bounds.mostValueBytes)) {
    const isOther = part.kind === 'key' && part.database !== (database ?? 0);
    if (isOther) others.set(part.database, (others.get(part.database) ?? 0) + 1);
    else if (input.offset > from) batch.add(part);
    if (!batch.isFull(bounds)) continue;
    yield batch.ended(input.offset);
    batch = new GrowingBatch();
  }
  if (database === undefined)
    batch.left.push(...[...others].map(([number, keys]) => otherDatabase(number, keys, 'keys')));
  yield batch.ended(input.offset);
}

class GrowingBatch {
  readonly #keys: SourceKey[] = [];
  readonly #libraries: ByteString[] = [];
  readonly left: (readonly [string, string])[] = [];
  #bytes = 0;

  add(part: RdbPart): void {
    if (part.kind === 'key') {
      this.#keys.push(part.key);
      this.#bytes += part.key.payload?.length ?? 0;
    } else if (part.kind === 'library') this.#libraries.push(part.source);
    else this.left.push([part.item, NO_PLACE]);
  }

  isFull({ batchKeys, batchBytes }: SourceBounds): boolean {
    return this.#keys.length + this.#libraries.length + this.left.length >= batchKeys || this.#bytes >= batchBytes;
  }

  ended(offset: number): Batch {
    return { keys: this.#keys, libraries: this.#libraries, left: this.left, next: String(offset) };
  }
}

function onFile<T>(path: string, read: (file: number) => T): T {
  const file = openSync(path, 'r');
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}
