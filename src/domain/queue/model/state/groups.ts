/**
 * URL groups: named sets of endpoints, with the configuration that each publish to the group starts from.
 * group-commands.ts judges them.
 */
import { assert } from '../../../../kernel/index.js';
import type { QueueEventOf } from '../events.js';
import { groupBytes, groupMemoryBytes } from '../held.js';
import type { UrlGroup } from '../records.js';

export class Groups {
  readonly #byName = new Map<string, UrlGroup>();
  #bytes = 0;
  #memoryBytes = 0;

  /** Bytes of the texts of all groups. */
  get bytes(): number {
    return this.#bytes;
  }

  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): UrlGroup | undefined {
    return this.#byName.get(name);
  }

  all(): Iterable<UrlGroup> {
    return this.#byName.values();
  }

  set({ name, endpoints, defaults, atMs }: QueueEventOf<'GroupSet'>): void {
    const createdAtMs = this.#byName.get(name)?.createdAtMs ?? atMs;
    this.#put({ name, endpoints, defaults, createdAtMs, updatedAtMs: atMs });
  }

  delete({ name }: QueueEventOf<'GroupDeleted'>): void {
    this.#weigh(this.#byName.get(name), -1);
    assert(this.#byName.delete(name), 'a group goes that is not there', { name });
  }

  restore({ group }: QueueEventOf<'GroupRestored'>): void {
    this.#put(group);
  }

  #put(group: UrlGroup): void {
    this.#weigh(this.#byName.get(group.name), -1);
    this.#byName.set(group.name, group);
    this.#weigh(group, 1);
  }

  /** @param sign -1 when the group is removed */
  #weigh(group: UrlGroup | undefined, sign: 1 | -1): void {
    if (group === undefined) return;
    this.#bytes += sign * groupBytes(group);
    this.#memoryBytes += sign * groupMemoryBytes(group);
  }

  *rebuildingEvents(): Iterable<QueueEventOf<'GroupRestored'>> {
    for (const group of this.#byName.values()) yield { type: 'GroupRestored', group };
  }
}
