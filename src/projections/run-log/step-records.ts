/** Parses the JSON of step records and of call outcomes. Invalid JSON gives empty results instead of an error. */

import { type HeaderList, parseDurationSeconds } from '../../domain/queue/index.js';
import { bufferOver } from '../../kernel/index.js';

type Members = Readonly<Record<string, unknown>>;

export interface StepContents {
  /** Undefined: the step returned no value. */
  readonly out: string | undefined;
  readonly sleepForMs: number | undefined;
  readonly sleepUntilMs: number | undefined;
  readonly waitEventId: string | undefined;
  readonly timeoutText: string | undefined;
  readonly hasTimedOut: boolean;
}

export interface CallAnswer {
  readonly status: number;
  readonly header: HeaderList;
  readonly text: string;
}

export function stepContentsOf(content: Uint8Array): StepContents {
  const { out, sleepFor, sleepUntil, waitEventId, timeout, waitTimeout } = membersOf(content);
  return {
    out: out === undefined || out === null ? undefined : typeof out === 'string' ? out : JSON.stringify(out),
    sleepForMs: durationMs(sleepFor),
    sleepUntilMs: typeof sleepUntil === 'number' ? Math.round(sleepUntil * 1000) : undefined,
    waitEventId: maybeText(waitEventId),
    timeoutText: maybeText(timeout),
    hasTimedOut: waitTimeout === true,
  };
}

/** The answer in `out` of a call step's record. */
export function answerInRecord(out: string | undefined): CallAnswer | undefined {
  if (out === undefined) return undefined;
  const { status, header, body } = parsed(out);
  if (typeof status !== 'number') return undefined;
  return { status, header: headerOf(header), text: typeof body === 'string' ? body : (JSON.stringify(body) ?? '') };
}

/** The answer in the callback of a call. */
export function answerInCallback(content: Uint8Array, textOf: (body: Uint8Array) => string): CallAnswer | undefined {
  const { status, header, body } = membersOf(content);
  if (typeof status !== 'number') return undefined;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'base64') : Buffer.alloc(0);
  return { status, header: headerOf(header), text: textOf(bytes) };
}

function membersOf(content: Uint8Array): Members {
  return parsed(bufferOver(content).toString('utf8'));
}

function parsed(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Members) : {};
  } catch {
    // The log shows the other fields; the writer of the record is responsible for its JSON.
    return {};
  }
}

function headerOf(header: unknown): HeaderList {
  if (typeof header !== 'object' || header === null) return [];
  return Object.entries(header).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).map((value): [string, string] => [name, String(value)]),
  );
}

function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Math.round(value * 1000);
  const seconds = typeof value === 'string' ? parseDurationSeconds(value) : undefined;
  return seconds === undefined ? undefined : seconds * 1000;
}

function maybeText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
