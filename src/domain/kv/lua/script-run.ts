/** The context of a run of a script or function, for the host functions it calls. */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';
import { JsonOptions } from './json-options.js';
import type { LuaRandom } from './lua-random.js';
import type { FunctionFlag } from './shebang.js';

export interface RegisteredFunction {
  readonly name: ByteString;
  readonly description: ByteString | null;
  readonly flags: ReadonlySet<FunctionFlag>;
  /** Registry reference of the function. */
  readonly callback: number;
}

/** The functions that a library has registered so far. */
export class Registration {
  readonly functions = new Map<ByteString, RegisteredFunction>();
}

export interface ScriptRunTerms {
  readonly context: CommandContext;
  /** Continues across runs, as in Redis. */
  readonly random: LuaRandom;
  readonly isReadOnly: boolean;
  /** Keys that commands may name; undefined: any. */
  readonly lockedKeys: ReadonlySet<ByteString> | undefined;
  /** Whether it may grow a database that has reached its bound. */
  readonly mayGrow: boolean;
  /** Set while a library is loaded; commands may not be called then. */
  readonly registration?: Registration | undefined;
}

export interface ScriptRun extends ScriptRunTerms {
  /** The protocol chosen by `redis.setresp`, for replies to the script. */
  protocol: 2 | 3;
  /** Changed by `cjson.encode_…`; discarded after the run, so that scripts do not affect each other. */
  readonly json: JsonOptions;
}

/** Built field by field, because spreading the terms takes up to ten microseconds. */
export function newScriptRun(terms: ScriptRunTerms): ScriptRun {
  const { context, random, isReadOnly, lockedKeys, mayGrow, registration } = terms;
  const json = new JsonOptions();
  return { context, random, isReadOnly, lockedKeys, mayGrow, registration, protocol: 2, json };
}
