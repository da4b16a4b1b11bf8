/**
 * The parameters of a database, as CONFIG GET and CONFIG SET use them. Values that were set are part of the database:
 * they are journaled as `CONFIG SET` and survive restarts and takeovers without CONFIG REWRITE.
 */
import type { ByteString } from '../../kernel/index.js';

export class Settings {
  readonly #values = new Map<string, ByteString>();
  readonly #numbers = new Map<string, number>();
  /** Parameters that every command reads are fields, because three lookups by name cost a tenth of a small command. */
  slowerThanMicros = 0;
  latencyThresholdMs = 0;
  maxMemoryBytes = 0;
  /** Grows with each parameter that is set. */
  version = 0;
  onChange: (name: string) => void = () => {};

  constructor(private readonly defaults: ReadonlyMap<string, ByteString>) {
    this.#readFields();
  }

  get(name: string): ByteString | undefined {
    return this.#values.get(name) ?? this.defaults.get(name);
  }

  /** A numeric parameter; sizes are in bytes. */
  number(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const value = Number(this.get(name) ?? 0);
    this.#numbers.set(name, value);
    return value;
  }

  /** @param value validated, in its displayed form */
  set(name: string, value: ByteString): void {
    this.#values.set(name, value);
    this.#numbers.delete(name);
    this.#readFields();
    this.version += 1;
    this.onChange(name);
  }

  #readFields(): void {
    this.slowerThanMicros = this.number('slowlog-log-slower-than');
    this.latencyThresholdMs = this.number('latency-monitor-threshold');
    this.maxMemoryBytes = this.number('maxmemory');
  }

  /** The parameters that differ from the defaults, for snapshots. */
  *changed(): IterableIterator<[string, ByteString]> {
    for (const [name, value] of this.#values) if (this.defaults.get(name) !== value) yield [name, value];
  }
}
