/** CONFIG: the parameters of the database. Values that are set are journaled and survive restarts. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Handler } from '../../command-spec.js';
import { compileGlob } from '../../glob.js';
import { allParameterNames, findParameter } from '../../parameters.js';
import { ERRORS, ErrorReply, MapReply, OK } from '../../reply.js';

/** CONFIG GET pattern … → name, value … of every matching parameter. */
export const configGet: Handler = ({ args, settings }) => {
  const items: ByteString[] = [];
  const globs = args.from(2).map((pattern) => compileGlob(pattern.toLowerCase()));
  for (const [name, parameter] of allParameterNames()) {
    if (globs.some((glob) => glob(name))) items.push(name, settings.get(parameter.name) ?? '');
  }
  return new MapReply(items);
};

/** CONFIG SET name value … → OK; sets all or none. */
export const configSet: Handler = ({ args, settings, effects }) => {
  if (args.length % 2 !== 0) throw ERRORS.syntax;
  const chosen = new Map<string, ByteString>();
  for (let i = 2; i < args.length; i += 2) {
    const name = args.bytes(i);
    const parameter = findParameter(name);
    if (parameter === undefined) {
      throw new ErrorReply(`ERR Unknown option or number of arguments for CONFIG SET - '${name}'`);
    }
    const failed = `ERR CONFIG SET failed (possibly related to argument '${name}') - `;
    if (chosen.has(parameter.name)) throw new ErrorReply(`${failed}duplicate parameter`);
    if (parameter.check === undefined) throw new ErrorReply(`${failed}can't set immutable config`);
    const checked = parameter.check(args.bytes(i + 1));
    if ('problem' in checked) throw new ErrorReply(`${failed}${checked.problem}`);
    chosen.set(parameter.name, checked.value);
  }
  for (const [name, value] of chosen) {
    if (settings.get(name) === value) continue;
    settings.set(name, value);
    effects.push('CONFIG', 'SET', name, value);
  }
  return OK;
};

/** CONFIG RESETSTAT → OK. */
export const configResetStat: Handler = ({ statistics, keyspace }) => {
  statistics.reset();
  keyspace.hits = 0;
  keyspace.misses = 0;
  return OK;
};

const noFile = new ErrorReply('ERR The server is running without a config file');

/** CONFIG REWRITE → an error; values are stored without it. */
export const configRewrite: Handler = () => {
  throw noFile;
};

export const CONFIG_HELP = [
  'GET <pattern>',
  '    Return parameters matching the glob-like <pattern> and their values.',
  'SET <directive> <value>',
  '    Set the configuration <directive> to <value>.',
  'RESETSTAT',
  '    Reset statistics reported by the INFO command.',
  'REWRITE',
  '    Rewrite the configuration file.',
];
