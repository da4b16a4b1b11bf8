/** SCRIPT LOAD, EXISTS, FLUSH: the script cache for EVALSHA. A script may be evicted at any time. */
import type { Handler } from '../../command-spec.js';
import { scriptHost } from '../../lua/index.js';
import { ErrorReply, OK } from '../../reply.js';

const FLUSH_MODES = new ErrorReply('ERR SCRIPT FLUSH only support SYNC|ASYNC option');

/** SCRIPT LOAD script → its digest. */
export const load: Handler = (context) => {
  const host = scriptHost(context.libraries);
  const script = host.scripts.ofSource(context.args.bytes(2));
  host.compile(context, script.body, script.digest);
  host.scripts.keep(script);
  return script.digest;
};

/** SCRIPT EXISTS digest … → 1 or 0 for each. */
export const exists: Handler = ({ args, libraries }) => {
  const { scripts } = scriptHost(libraries);
  return args.from(2).map((digest) => (scripts.has(digest.toLowerCase()) ? 1 : 0));
};

/** SCRIPT FLUSH [ASYNC | SYNC]. */
export const flush: Handler = ({ args, libraries }) => {
  if (args.length > 3 || (args.length === 3 && !/^A?SYNC$/.test(args.option(2)))) throw FLUSH_MODES;
  scriptHost(libraries).flushScripts();
  return OK;
};

/** Reached only if no script was running: SCRIPT KILL is handled outside the queue while one is. */
export const kill: Handler = () => {
  throw new ErrorReply('NOTBUSY No scripts in execution right now.');
};
