/** The Server family, as far as a database of its own may see of the server. */
import type { ByteString } from '../../../kernel/index.js';
import { type CommandSpec, family, type Handler, NO_KEYS } from '../command-spec.js';
import type { Keyspace } from '../keyspace.js';
import { ERRORS, OK } from '../reply.js';
import { refusedOverRest } from './refused.js';

/** FLUSHDB, FLUSHALL [ASYNC | SYNC] → OK. The same: there is one database. */
function flush(name: 'FLUSHDB' | 'FLUSHALL'): Handler {
  return ({ args, keyspace, effects }) => {
    if (args.length > 2) throw ERRORS.syntax;
    if (args.length === 2 && args.option(1) !== 'ASYNC' && args.option(1) !== 'SYNC') throw ERRORS.syntax;
    if (keyspace.size === 0) return OK;
    keyspace.clear();
    effects.push(name);
    return OK;
  };
}

/** DBSIZE → how many keys there are, with those that have expired and are not yet removed. */
const databaseSize: Handler = ({ keyspace }) => keyspace.size;

/** TIME → [seconds, microseconds of the second], as strings without leading zeros. */
const time: Handler = ({ server }) => {
  const micros = server.nowMicros();
  return [String(Math.floor(micros / 1e6)), String(Math.floor(micros % 1e6))];
};

/** COMMAND → an empty list: clients that look commands up at their start go on without. */
const command: Handler = () => [];

const ALL_SECTIONS = new Set(['all', 'default', 'everything']);

/** INFO [section …] → sections of `field:value` lines; an unknown section gives just its heading. */
const info: Handler = (context) => {
  const { args, keyspace } = context;
  const wanted = args.from(1).map((word) => word.toLowerCase());
  const known = new Map(context.server.info());
  known.set('keyspace', keyspaceFields(keyspace));
  const names = wanted.length === 0 || wanted.some((name) => ALL_SECTIONS.has(name)) ? [...known.keys()] : wanted;
  return [...new Set(names)].map((name) => section(name, known.get(name))).join('\r\n');
};

function section(name: ByteString, fields: ReadonlyMap<string, string> | undefined): ByteString {
  let text = `# ${name.charAt(0).toUpperCase()}${name.slice(1)}\r\n`;
  for (const [field, value] of fields ?? []) text += `${field}:${value}\r\n`;
  return text;
}

function keyspaceFields(keyspace: Keyspace): ReadonlyMap<string, string> {
  if (keyspace.size === 0) return new Map();
  return new Map([['db0', `keys=${keyspace.size},expires=${keyspace.expiring},avg_ttl=0`]]);
}

export const SERVER: readonly CommandSpec[] = family('server', [
  {
    name: 'DBSIZE',
    arity: 1,
    flags: ['readonly', 'fast', 'keyspace'],
    keys: NO_KEYS,
    handler: databaseSize,
    since: '1.0.0',
    summary: 'Counts the keys.',
  },
  {
    name: 'TIME',
    arity: 1,
    flags: ['fast', 'edge', 'random'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: time,
    since: '2.6.0',
    summary: "Returns the server's time.",
  },
  {
    name: 'INFO',
    arity: -1,
    flags: ['dangerous', 'random'],
    keys: NO_KEYS,
    handler: info,
    since: '1.0.0',
    summary: 'Describes the server and the database.',
    deviations: ['Has fewer sections and fields; `default` means all.'],
  },
  {
    name: 'COMMAND',
    arity: 1,
    flags: ['edge'],
    keys: NO_KEYS,
    handler: command,
    since: '2.8.13',
    summary: 'Answers an empty list.',
    deviations: ['Always empty; has no subcommands.'],
  },
  {
    name: 'FLUSHALL',
    arity: -1,
    flags: ['write', 'dangerous', 'keyspace'],
    keys: NO_KEYS,
    handler: flush('FLUSHALL'),
    since: '1.0.0',
    summary: 'Deletes every key.',
  },
  {
    name: 'FLUSHDB',
    arity: -1,
    flags: ['write', 'dangerous', 'keyspace'],
    keys: NO_KEYS,
    handler: flush('FLUSHDB'),
    since: '1.0.0',
    summary: 'Deletes every key.',
  },
  refusedOverRest('MONITOR', 'other-route', '1.0.0', 'Monitoring is the event stream of /monitor.'),
]);
