/** Immutable in-memory objects, each stored with its digest so that damage is detected. */
import { createHash } from 'node:crypto';
import { MillraceError } from '../../../src/kernel/index.js';
import type { ObjectInfo, ObjectStore } from '../../../src/ports/index.js';

interface Stored {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

export class MemoryObjectStore implements ObjectStore {
  private readonly objects = new Map<string, Stored>();

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const digest = digestOf(bytes);
    const present = this.objects.get(name);
    if (present === undefined) {
      this.objects.set(name, { bytes: new Uint8Array(bytes), digest });
    } else if (present.digest !== digest) {
      throw new MillraceError('CONFLICT', `object ${name} is there already, with other contents`, { name });
    }
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const stored = this.objects.get(name);
    if (stored === undefined) return undefined;
    if (digestOf(stored.bytes) !== stored.digest) {
      throw new MillraceError('JOURNAL_DAMAGED', `object ${name} does not match its digest`, { name });
    }
    return new Uint8Array(stored.bytes);
  }

  async list(prefix: string): Promise<ObjectInfo[]> {
    return [...this.objects]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, { bytes }]) => ({ name, bytes: bytes.length }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async delete(name: string): Promise<void> {
    this.objects.delete(name);
  }

  /** Flips one bit of a stored object, as a failing disk does, for tests of the detection of damage. */
  damage(name: string): void {
    const stored = this.objects.get(name);
    if (stored === undefined || stored.bytes.length === 0) {
      throw new MillraceError('NOT_FOUND', `no object ${name} to damage`, { name });
    }
    stored.bytes[0] = (stored.bytes[0] as number) ^ 1;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
