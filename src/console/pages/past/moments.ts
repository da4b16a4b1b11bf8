/** Moments of a database's history, as the API takes and gives them. */
import type { Schemas } from '#api';
import { manage } from '../../api/call.js';

export type PastText = string | { readonly base64: string };

export interface PastKey {
  readonly key: PastText;
  readonly type: string;
  readonly digest: string;
  /** What makes it again; where values were asked for. */
  readonly commands?: readonly (readonly PastText[])[];
}

export interface PastState {
  readonly state: {
    readonly time: string;
    readonly keys: number;
    readonly bytes: number;
    readonly shards: readonly { readonly shard: string; readonly position: number; readonly entries: number }[];
  };
  readonly keys: readonly PastKey[];
  readonly more: boolean;
}

export interface Change {
  readonly key: PastText;
  readonly change: 'created' | 'changed' | 'deleted';
  readonly hasExpired: boolean;
  readonly before: PastKey | null;
  readonly after: PastKey | null;
  readonly entryCount: number;
  readonly entries: readonly {
    readonly position: number;
    readonly time: string;
    readonly commands: readonly string[];
  }[];
}

export interface Entry {
  readonly shard: string;
  readonly position: number;
  readonly number: number;
  readonly time: string;
  readonly hash: string;
  readonly effects: readonly unknown[];
}

const PAGE = 50;

export async function stateAt(id: string, at: string, after?: PastText): Promise<PastState> {
  const behind = after === undefined ? {} : typeof after === 'string' ? { after } : { after_base64: after.base64 };
  const query = { at, limit: String(PAGE), values: 'true', ...behind };
  return (await manage('GET /v2/admin/databases/{id}/state', { path: { id }, query })) as unknown as PastState;
}

export async function changesBetween(
  id: string,
  from: string,
  to: string,
): Promise<{ readonly changes: readonly Change[]; readonly more: boolean }> {
  const query = { from, to, values: 'true', limit: '500' };
  return (await manage('GET /v2/admin/databases/{id}/diff', { path: { id }, query })) as never;
}

export type OneDatabase = Schemas['DatabaseAnswer'];

/** As the API takes a moment: whole milliseconds, in UTC, and never one that has not come yet. */
export function moment(ms: number): string {
  return new Date(Math.min(ms, Date.now() - 1_000)).toISOString();
}

/** What `datetime-local` shows and gives: the viewer's zone, without its name. */
export function toLocal(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function shownText(text: PastText): string {
  return typeof text === 'string' ? text : `base64:${text.base64}`;
}

/** When it would have expired; undefined: never. */
export function expiryOf({ commands = [] }: PastKey): number | undefined {
  const told = commands.flatMap((words) => {
    const at = words.findIndex((word) => word === 'PXAT' || word === 'PEXPIREAT');
    return at < 0 ? [] : [Number(words[words[at] === 'PXAT' ? at + 1 : at + 2])];
  });
  return told.at(-1);
}
