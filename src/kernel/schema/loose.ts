/**
 * Values as a general encoder of MessagePack wrote them before there were shapes.
 *
 * Texts: a name of the control state may hold any characters, also half a pair: an encoder that knew of no pairs
 * wrote such a half in three bytes of its own, in long texts as U+FFFD, and what it wrote is read as it read it.
 */
import { decode, encode } from '@msgpack/msgpack';
import type { Shape } from './shape.js';

const LONE_SURROGATE = /\p{Surrogate}/u;

export function looseText<T extends string = string>(): Shape<T> {
  return {
    write: (out, value) => {
      if (LONE_SURROGATE.test(value)) out.raw(encode(value));
      else out.text(value);
    },
    read: (from) => from.text(readAsWritten) as T,
  };
}

/** Any number; an integer in as few bytes as it takes. */
export const looseNumber: Shape<number> = {
  write: (out, value) => {
    if (Number.isSafeInteger(value)) out.integer(value);
    else out.number(value);
  },
  read: (from) => from.number(),
};

/** A yes or no as 1 or 0. */
export const numberedFlag: Shape<boolean> = {
  write: (out, value) => out.whole(value ? 1 : 0),
  read: (from) => from.whole() === 1,
};

/** A value that is described nowhere: what can be written at all comes back as it was, without properties that are undefined. */
export function opaque<T>(): Shape<T> {
  return {
    write: (out, value) => out.raw(encode(value, { ignoreUndefined: true })),
    read: (from) => decode(from.raw()) as T,
  };
}

function readAsWritten(body: Uint8Array): string {
  const head = Buffer.alloc(5, 0xdb);
  head.writeUInt32BE(body.length, 1);
  return String(decode(Buffer.concat([head, body])));
}
