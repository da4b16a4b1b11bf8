import type { KeyType } from './listed-keys.js';

export interface TypeViewProps {
  readonly id: string;
  /** A binary string. */
  readonly name: string;
  readonly record: KeyRecord;
  onChanged(): void;
}

export interface KeyPageProps {
  readonly id: string;
  /** A binary string. */
  readonly name: string;
  onClose(): void;
  /** Called after a rename, or to show another key. */
  onMoved(name: string): void;
  onDelete(): void;
  /** Called after each load. */
  onSeen(record: KeyRecord): void;
}

export interface KeyRecord {
  readonly type: KeyType;
  readonly ttlMs: number | null;
  readonly bytes: number;
  readonly encoding: string;
}
