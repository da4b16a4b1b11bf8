/** Sizes of answers for metering: the bytes of strings, and a fixed size for every other item. */
import { OK, type Reply, VerbatimReply } from '../../domain/kv/index.js';

/** Bytes counted for an item that is not a string. */
const PIECE_BYTES = 8;
/** Items counted in one slice: a fraction of a millisecond. */
const STEP_ITEMS = 10_000;

type Compound = Exclude<Reply, string | number | bigint | null>;

/** NaN if there are so many items that they have to be counted in slices. */
export function bytesOfReplies(replies: readonly Reply[]): number {
  let bytes = 0;
  for (const reply of replies) {
    if (typeof reply === 'string') bytes += reply.length;
    else if (reply !== OK && typeof reply === 'object' && reply !== null) bytes += listBytes(reply);
  }
  return bytes;
}

/** The same for any number of items, in slices. */
export function* bytesInSteps(replies: readonly Reply[]): Generator<void, number> {
  let bytes = 0;
  for (const reply of replies) {
    const own = bytesOfReplies([reply]);
    bytes += Number.isNaN(own) ? yield* longBytes(itemsOf(reply as Compound) as readonly Reply[]) : own;
  }
  return bytes;
}

function* longBytes(items: readonly Reply[]): Generator<void, number> {
  let bytes = 0;
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i] as Reply;
    const own = bytesOfItem(item);
    if (Number.isNaN(own)) bytes += PIECE_BYTES + (yield* longBytes(itemsOf(item as Compound) as readonly Reply[]));
    else bytes += own;
    if (i % STEP_ITEMS === STEP_ITEMS - 1) yield;
  }
  return bytes;
}

function listBytes(reply: Compound): number {
  if (reply instanceof VerbatimReply) return reply.text.length;
  const items = itemsOf(reply);
  if (items === undefined) return 0;
  if (items.length > STEP_ITEMS) return Number.NaN;
  let bytes = 0;
  for (const item of items) bytes += bytesOfItem(item);
  return bytes;
}

function bytesOfItem(item: Reply): number {
  if (typeof item === 'string') return item.length;
  return PIECE_BYTES + (typeof item === 'object' && item !== null ? listBytes(item) : 0);
}

function itemsOf(reply: Compound): readonly Reply[] | undefined {
  return Array.isArray(reply) ? (reply as readonly Reply[]) : (reply as { readonly items?: readonly Reply[] }).items;
}
