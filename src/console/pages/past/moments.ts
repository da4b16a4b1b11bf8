/** Moments of a database's history, in the API's form. */
import type { Schemas } from '#api';
import { manage } from '../../api/call.js';
import type { PageQuery } from '../../api/query.js';

export type PastText = string | { readonly base64: string };
export type PastKey = Schemas['PastKey'];
export type PastState = Schemas['PastKeys'];
export type Change = Schemas['KeyChange'];
/** A value without its key. */
export type PastLook = Schemas['KeyLook'];
export type Entry = Schemas['TimelineEntry'];

const PAGE = 50;

export async function stateAt(id: string, at: string, after?: PastText): Promise<PastState> {
  const behind = after === undefined ? {} : typeof after === 'string' ? { after } : { after_base64: after.base64 };
  const query = { at, limit: String(PAGE), values: 'true', ...behind };
  return manage('GET /v2/admin/databases/{id}/state', { path: { id }, query });
}

export async function changesBetween(id: string, from: string, to: string): Promise<Schemas['KeyChanges']> {
  const query = { from, to, values: 'true', limit: '500' };
  return manage('GET /v2/admin/databases/{id}/diff', { path: { id }, query });
}

export type OneDatabase = Schemas['DatabaseAnswer'];

/** A moment in the API's form: whole milliseconds in UTC, never in the future. */
export function moment(ms: number): string {
  return new Date(Math.min(ms, Date.now() - 1_000)).toISOString();
}

/** The value of a `datetime-local` field: the viewer's zone, without its name. */
export function toLocal(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** A key in the address: `key`, or `key64` for one that is not text. */
export function addressOf(key: PastText | null | undefined): PageQuery {
  const isText = typeof key === 'string';
  return { key: isText ? key : undefined, key64: isText ? undefined : key?.base64 };
}

export function isInAddress(key: PastText | null, { key: text, key64 }: PageQuery): boolean {
  return key !== null && (typeof key === 'string' ? key === text : key.base64 === key64);
}

/** An item without a key concerns the database's settings. */
export function shownText(text: PastText | null): string {
  if (text === null) return 'settings';
  return typeof text === 'string' ? text : `base64:${text.base64}`;
}

/** The expiry at that moment; undefined: none. */
export function expiryOf({ commands = [] }: PastKey): number | undefined {
  const told = commands.flatMap((words) => {
    const at = words.findIndex((word) => word === 'PXAT' || word === 'PEXPIREAT');
    return at < 0 ? [] : [Number(words[words[at] === 'PXAT' ? at + 1 : at + 2])];
  });
  return told.at(-1);
}
