/** Problems that the user does not want to see for a day, kept by the browser. */
import { signal } from '@preact/signals';
import { readStored, writeStored } from '../../api/stored.js';

const STORE = 'millrace-muted';
const MUTED_MS = 86_400_000;
const MAX_MUTED = 100;

interface Muted {
  /** The problem without its numbers, so that a growing number does not show it again. */
  readonly name: string;
  readonly untilMs: number;
}

const muted = signal<readonly Muted[]>(readStored(STORE, areMuted) ?? []);

function areMuted(value: unknown): value is readonly Muted[] {
  return Array.isArray(value) && value.every(({ name, untilMs }: Partial<Muted>) => name && untilMs);
}

export function isMuted(text: string): boolean {
  const name = nameOf(text);
  return muted.value.some((one) => one.name === name && one.untilMs > Date.now());
}

export function mute(text: string): void {
  const open = muted.value.filter(({ untilMs }) => untilMs > Date.now());
  keep([...open, { name: nameOf(text), untilMs: Date.now() + MUTED_MS }].slice(-MAX_MUTED));
}

export function unmuteAll(): void {
  keep([]);
}

function keep(next: readonly Muted[]): void {
  muted.value = next;
  writeStored(STORE, next);
}

function nameOf(text: string): string {
  return text.replaceAll(/\d[\d.,]*/g, '#');
}
