/**
 * Values that carry their type: numbers, texts, bytes, null, lists of such values, and objects of registered classes.
 * An object is a MessagePack extension: its class's number, then its parts. A number is never reused.
 */
import { assert } from '../errors.js';
import { looseNumber } from './loose.js';
import type { Shape } from './shape.js';
import { refuse } from './unpacker.js';

/** A class with tagged objects. `BigInt` stands for bigints. */
interface ClassShape {
  readonly type: number;
  readonly of: object;
  readonly body: Shape<never>;
  readonly parts: (value: never) => unknown;
  readonly make: (parts: never) => unknown;
}

/** @param parts converts an object to the parts that `body` writes @param make creates the object from its parts */
export function classShape<T, Parts>(
  type: number,
  of: { readonly prototype: T },
  body: Shape<Parts>,
  parts: (value: T) => Parts,
  make: (parts: Parts) => T,
): ClassShape {
  return { type, of, body: body as Shape<never>, parts, make };
}

export function selfDescribing<T>(...classes: readonly ClassShape[]): Shape<T> {
  const byClass = new Map<unknown, ClassShape>(classes.map((each) => [each.of, each]));
  const byType: (ClassShape | undefined)[] = [];
  for (const each of classes) byType[each.type] = each;
  const shape: Shape<unknown> = {
    write: (out, value) => {
      if (typeof value === 'string') out.text(value);
      else if (typeof value === 'number') looseNumber.write(out, value);
      else if (value === null) out.nil();
      else if (value instanceof Uint8Array) out.bytes(value);
      else if (Array.isArray(value)) {
        out.list(value.length);
        for (const item of value as readonly unknown[]) shape.write(out, item);
      } else {
        const found = byClass.get((value as object).constructor);
        assert(found !== undefined, 'a value of a class that is not known', { value });
        out.extension(found.type, () => found.body.write(out, found.parts(value as never) as never));
      }
    },
    read: (from) => {
      switch (from.kind()) {
        case 'text':
          return from.text();
        case 'number':
          return from.number();
        case 'bytes':
          return from.bytes();
        case 'nil':
          return from.takesNil() ? null : undefined;
        case 'list': {
          const items: unknown[] = [];
          for (let left = from.list(); left > 0; left -= 1) items.push(shape.read(from));
          return items;
        }
        case 'extension':
          return from.extension((type) => {
            const found = byType[type] ?? refuse('a class that is known');
            return found.make(found.body.read(from));
          });
        default:
          return refuse('a value of a kind that is known');
      }
    },
  };
  return shape as Shape<T>;
}
