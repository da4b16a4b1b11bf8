/**
 * A guard is a record with a name, a type and a number that no workflow has. It stands after the recorded steps that an
 * endpoint gets. An endpoint compares each record with the step of its function, so it refuses the guard in words that
 * contain it: all steps before it fit, and the step in its place is not executed.
 */
import type { Random } from '../../../kernel/index.js';
import type { TrialRequest } from '../../../protocol/index.js';
import type { RecordedStep } from './recorded-run.js';

export interface Guard {
  /** Letters and digits. */
  readonly word: string;
  /** The size of a parallel group that no endpoint announces. */
  readonly number: number;
}

/** The result of playing a list of entries. */
export interface Play {
  /** 0: no answer. */
  readonly status: number;
  /** The body, or the reason why there is none. */
  readonly text: string;
  readonly requests: readonly TrialRequest[];
  readonly isOfOtherAccount: boolean;
}

export type PlayAnswer =
  /** The guard was refused, so a further step begins there. */
  | { readonly kind: 'continues'; readonly isGroup: boolean; readonly text: string }
  | { readonly kind: 'ends' }
  | { readonly kind: 'request'; readonly request: TrialRequest }
  /** The endpoint fails with this list. */
  | { readonly kind: 'refuses'; readonly text: string }
  /** The answer does not show whether the run would continue. */
  | { readonly kind: 'unknown'; readonly text: string };

/** A process's guards differ, so that an answer cannot be one to another list. */
export function randomGuard(random: Random): Guard {
  const bytes = Buffer.from(random.bytes(GUARD_BYTES));
  return { word: `check${bytes.toString('hex')}`, number: 1_000_000_000 + bytes.readUInt32BE(0) };
}

const GUARD_BYTES = 8;
const MAX_TEXT = 1000;
/** Answers of proxies, and of endpoints that do not serve the workflow or want other credentials. */
const NOT_OF_WORKFLOW: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 408, 413, 429, 502, 503, 504]);

/** @param like the step in the place of the guard: the guard has the name of that step, and a type that no step has */
export function guardRecord({ word, number }: Guard, stepId: number, like?: RecordedStep): Uint8Array {
  const record = { stepId, stepName: like?.stepName ?? word, stepType: word, out: 'null', concurrent: number };
  return Buffer.from(JSON.stringify(like === undefined ? record : { ...record, concurrent: 1 }));
}

export function answerOf({ status, text, requests, isOfOtherAccount }: Play, guard: Guard): PlayAnswer {
  const [request] = requests;
  if (request !== undefined) return request.kind === 'end' ? { kind: 'ends' } : { kind: 'request', request };
  if (isOfOtherAccount) {
    return { kind: 'unknown', text: 'the endpoint sends its requests with a token of another account' };
  }
  if (status >= 200 && status < 300) {
    const text = `the endpoint answered ${status}, but made no request to this server: is its server URL this one?`;
    return { kind: 'unknown', text };
  }
  if (text.includes(guard.word)) return { kind: 'continues', isGroup: false, text: messageIn(text) };
  if (text.includes(String(guard.number))) return { kind: 'continues', isGroup: true, text: messageIn(text) };
  if (status === 0) return { kind: 'unknown', text };
  if (status < 400 || NOT_OF_WORKFLOW.has(status)) {
    return { kind: 'unknown', text: `the endpoint answered ${status}: ${messageIn(text)}` };
  }
  return { kind: 'refuses', text: messageIn(text) };
}

/** The message of an endpoint's error, which is JSON. */
function messageIn(text: string): string {
  let message: unknown;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) message = Object.entries(value).find(isMessage)?.[1];
  } catch {
    // A text of a framework or a proxy.
  }
  return (typeof message === 'string' ? message : text).slice(0, MAX_TEXT);
}

function isMessage([name, value]: [string, unknown]): boolean {
  return name === 'message' && typeof value === 'string' && value !== '';
}
