/** The changes that a trigger selects: by key, by event, and by the filter on values. */
import type { Trigger } from '../../domain/control/index.js';
import { compileGlob, documentOfValue, type Glob, type KeyEffect, type Value } from '../../domain/kv/index.js';
import { compileFilter, type FilterPredicate } from '../../domain/search/index.js';
import { type ByteString, bytesOfText } from '../../kernel/index.js';

export class KeySelection {
  readonly #patterns: readonly Glob[];
  readonly #events: ReadonlySet<string>;
  readonly #filter: FilterPredicate | undefined;

  /** @throws ErrorReply, INVALID for a pattern or filter that was not judged before */
  constructor({ patterns, events, filter }: Pick<Trigger, 'patterns' | 'events' | 'filter'>) {
    this.#patterns = patterns.map((pattern) => compileGlob(bytesOfText(pattern)));
    this.#events = new Set(events);
    this.#filter = compileFilter(filter);
  }

  hasKey(key: ByteString): boolean {
    return this.#patterns.some((matches) => matches(key));
  }

  /** A change of all keys concerns every pattern. */
  has({ key, event }: KeyEffect): boolean {
    return this.#events.has(event) && (key === undefined || this.hasKey(key));
  }

  /** Whether the new value passes the filter; of a removed key, the value before. */
  passes(before: Value | undefined, after: Value | undefined): boolean {
    const value = after ?? before;
    if (this.#filter === undefined || value === undefined) return this.#filter === undefined;
    const content = documentOfValue(value);
    return content !== undefined && this.#filter({ content: content as never });
  }
}
