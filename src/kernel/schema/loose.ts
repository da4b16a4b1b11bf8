/**
 * Values as a general MessagePack encoder wrote them before shapes existed.
 *
 * Texts: a name in the control state may contain any characters, also a lone surrogate. The earlier encoder wrote a
 * lone surrogate in a private three-byte form, and in long texts as U+FFFD; `looseText` still reads both forms.
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

/** Any number; an integer in as few bytes as possible. */
export const looseNumber: Shape<number> = {
  write: (out, value) => {
    if (Number.isSafeInteger(value)) out.integer(value);
    else out.number(value);
  },
  read: (from) => from.number(),
};

/** A boolean as 1 or 0. */
export const numberedFlag: Shape<boolean> = {
  write: (out, value) => out.whole(value ? 1 : 0),
  read: (from) => from.whole() === 1,
};

/**
 * A value without a declared shape: any encodable value is restored as it was, without undefined properties.
 * The decoder refuses a property named `__proto__`, so names that clients choose are never property names here.
 */
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
