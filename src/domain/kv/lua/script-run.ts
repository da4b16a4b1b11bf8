/** What a run of a script or function carries along, seen by the functions it calls. */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';
import { JsonOptions } from './json-options.js';
import type { Registration } from './library-loading.js';
import type { LuaRandom } from './lua-random.js';

export interface ScriptRunTerms {
  readonly context: CommandContext;
  /** Goes on from run to run, as in Redis. */
  readonly random: LuaRandom;
  readonly isReadOnly: boolean;
  /** Keys that may be named by commands; undefined: any. */
  readonly lockedKeys: ReadonlySet<ByteString> | undefined;
  /** May let a database grow that has reached its bound. */
  readonly mayGrow: boolean;
  /** A library is being loaded; commands may not be called. */
  readonly registration?: Registration | undefined;
}

export interface ScriptRun extends ScriptRunTerms {
  /** What `redis.setresp` chose: the form in which replies reach the script. */
  protocol: 2 | 3;
  /** Changed by `cjson.encode_…`; forgotten afterwards, so that no script changes another's output. */
  readonly json: JsonOptions;
}

/** Put together by name: to spread the terms and add to them takes up to ten microseconds. */
export function newScriptRun(terms: ScriptRunTerms): ScriptRun {
  const { context, random, isReadOnly, lockedKeys, mayGrow, registration } = terms;
  const json = new JsonOptions();
  return { context, random, isReadOnly, lockedKeys, mayGrow, registration, protocol: 2, json };
}
