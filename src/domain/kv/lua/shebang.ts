/** The first line of a library, optional in a script: `#!lua name=… flags=…`. */
import type { ByteString } from '../../../kernel/index.js';
import { ErrorReply } from '../reply.js';

/** In Redis's order. */
export const FUNCTION_FLAGS = [
  'no-writes',
  'allow-oom',
  'allow-stale',
  'no-cluster',
  'allow-cross-slot-keys',
  'allow-key-locking',
] as const;
export type FunctionFlag = (typeof FUNCTION_FLAGS)[number];

export interface Shebang {
  /** Without `#!`. */
  readonly engine: ByteString;
  readonly options: readonly ByteString[];
  /** The source from the end of the first line on. */
  readonly body: ByteString;
}

/** Undefined when the line has no end. */
export function shebangOf(source: ByteString): Shebang | undefined {
  const end = source.indexOf('\n');
  if (end === -1) return undefined;
  const [first = '', ...options] = source
    .slice(2, end)
    .split(/[ \t\r]+/)
    .filter((part, index) => index === 0 || part !== '')
    .map(withoutQuotes);
  return { engine: first, options, body: source.slice(end) };
}

/** Converts `name="text"` to `name=text`; names and flags contain no blanks. */
function withoutQuotes(part: ByteString): ByteString {
  return part.replace(/^([^"']*)(["'])([^"']*)\2$/, '$1$3');
}

export interface ScriptHeader {
  readonly flags: ReadonlySet<string>;
  /** False for a script without such a line; flags then do not restrict it, as in older Redis versions. */
  readonly hasShebang: boolean;
  readonly body: ByteString;
}

const NO_FLAGS: ReadonlySet<string> = new Set();

/** @throws ErrorReply with Redis's text */
export function scriptHeader(source: ByteString): ScriptHeader {
  if (!source.startsWith('#!')) return { flags: NO_FLAGS, hasShebang: false, body: source };
  const shebang = shebangOf(source);
  if (shebang === undefined) throw new ErrorReply('ERR Invalid script shebang');
  if (shebang.engine !== 'lua') throw new ErrorReply(`ERR Unexpected engine in script shebang: #!${shebang.engine}`);
  const flags = new Set<string>();
  for (const option of shebang.options) {
    if (!option.startsWith('flags=')) throw new ErrorReply(`ERR Unknown lua shebang option: ${option}`);
    for (const flag of option.slice('flags='.length).split(',')) {
      if (flag === '') continue;
      if (!(FUNCTION_FLAGS as readonly string[]).includes(flag)) {
        throw new ErrorReply(`ERR Unexpected flag in script shebang: ${flag}`);
      }
      flags.add(flag);
    }
  }
  return { flags, hasShebang: true, body: shebang.body };
}
